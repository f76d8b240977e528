-- By what the senders of corrected documents are known, so that a document is read with what was learnt of its own sender,
-- however much was corrected for others since.
CREATE TABLE review_sender (
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  schema       TEXT NOT NULL,
  mark         TEXT NOT NULL, -- what nobody else has: an account, a domain
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  seq          INTEGER NOT NULL, -- of the decision
  at           INTEGER NOT NULL,
  document_id  BLOB NOT NULL REFERENCES document,
  PRIMARY KEY (tenant_id, schema, mark, ingestion_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX review_sender_document ON review_sender (document_id);
