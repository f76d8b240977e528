-- What was paid for: one row for each answer of a language model. It outlives the document that it was about.
CREATE TABLE usage (
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  call         TEXT NOT NULL, -- where the answer is kept: the same one is paid once
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  step         TEXT NOT NULL,
  provider     TEXT NOT NULL,
  model        TEXT NOT NULL,
  tokens_in    INTEGER NOT NULL,
  tokens_out   INTEGER NOT NULL,
  cost         REAL, -- in the currency of the prices in the settings
  at           INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, call)
) STRICT;
-- What was paid for a document is found by its ingestions.
CREATE INDEX usage_ingestion ON usage (ingestion_id);
