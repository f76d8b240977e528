-- By what the senders of corrected documents are known, so that a document is read with what was learnt of its own sender,
-- however much was corrected for others since.
CREATE TABLE review_sender (
  tenant_id    uuid NOT NULL,
  schema       text COLLATE "C" NOT NULL,
  mark         text COLLATE "C" NOT NULL, -- what nobody else has: an account, a domain
  ingestion_id uuid NOT NULL,
  seq          bigint NOT NULL, -- of the decision
  at           bigint NOT NULL,
  document_id  uuid NOT NULL,
  PRIMARY KEY (tenant_id, schema, mark, ingestion_id, seq)
);
CREATE INDEX review_sender_document ON review_sender (document_id);

GRANT SELECT ON review_sender TO docmill_reader;
ALTER TABLE review_sender ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON review_sender FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
