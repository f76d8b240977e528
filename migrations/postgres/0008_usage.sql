-- What was paid for: one row for each answer of a language model. It outlives the document that it was about.
CREATE TABLE usage (
  tenant_id    uuid NOT NULL,
  call         text COLLATE "C" NOT NULL, -- where the answer is kept: the same one is paid once
  ingestion_id uuid NOT NULL,
  step         text NOT NULL,
  provider     text NOT NULL,
  model        text NOT NULL,
  tokens_in    bigint NOT NULL,
  tokens_out   bigint NOT NULL,
  cost         double precision, -- in the currency of the prices in the settings
  at           bigint NOT NULL,
  PRIMARY KEY (tenant_id, call)
);
-- What was paid for a document is found by its ingestions.
CREATE INDEX usage_ingestion ON usage (ingestion_id);

GRANT SELECT ON usage TO docmill_reader;
ALTER TABLE usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON usage FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
