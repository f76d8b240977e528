-- What was paid for: one row for each answer of a language model. It outlives the document that it was about.
CREATE TABLE usage (
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  call         TEXT NOT NULL, -- names the answer: the same one is paid once
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  step         TEXT NOT NULL,
  provider     TEXT NOT NULL,
  model        TEXT NOT NULL,
  tokens_in    INTEGER NOT NULL,
  tokens_out   INTEGER NOT NULL,
  cost         REAL, -- in the currency of the prices in the settings
  at           INTEGER NOT NULL,
  PRIMARY KEY (ingestion_id, call)
) STRICT;
