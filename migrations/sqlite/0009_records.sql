-- Schemas of users, every version of each. Those that are built in lie in the binary.
CREATE TABLE schema (
  tenant_id  BLOB NOT NULL REFERENCES tenant,
  name       TEXT NOT NULL,
  version    INTEGER NOT NULL, -- from 1; another text is another version
  body       TEXT NOT NULL, -- as it was given
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, name, version)
) STRICT;

-- What was extracted in an ingestion: its fields with the places they stand in.
CREATE TABLE record (
  ingestion_id BLOB NOT NULL PRIMARY KEY REFERENCES ingestion,
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  document_id  BLOB NOT NULL REFERENCES document,
  schema       TEXT NOT NULL,
  version      INTEGER NOT NULL,
  body         TEXT NOT NULL, -- JSON: data, fields with evidence, violations; as a person has corrected it, if one has
  valid        INTEGER NOT NULL,
  confidence   REAL NOT NULL,
  model        TEXT,
  tokens_in    INTEGER NOT NULL,
  tokens_out   INTEGER NOT NULL,
  missing      INTEGER NOT NULL, -- fields that matter and were not found
  reasons      TEXT, -- JSON: why a person should look; null if nobody needs to
  at           INTEGER NOT NULL
) STRICT;
-- Exports go through the records of a schema.
CREATE INDEX record_schema ON record (tenant_id, schema, document_id);
CREATE INDEX record_document ON record (document_id);

-- A record that a person should look at; at most one for each ingestion, which lends it its id.
CREATE TABLE review (
  ingestion_id BLOB NOT NULL PRIMARY KEY REFERENCES ingestion,
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  document_id  BLOB NOT NULL REFERENCES document,
  schema       TEXT NOT NULL,
  state        TEXT NOT NULL, -- open, accepted, corrected, rejected or superseded
  reasons      TEXT NOT NULL, -- JSON
  confidence   REAL NOT NULL,
  missing      INTEGER NOT NULL,
  locked_by    TEXT,
  locked_until INTEGER,
  created_at   INTEGER NOT NULL,
  decided_at   INTEGER
) STRICT;
-- The queue: what is least sure comes first.
CREATE INDEX review_queue ON review (tenant_id, state, confidence, ingestion_id);
CREATE INDEX review_document ON review (document_id);

-- What people have decided: never changed, and gone only with what the document said.
CREATE TABLE review_action (
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  seq          INTEGER NOT NULL,
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  document_id  BLOB NOT NULL REFERENCES document,
  schema       TEXT NOT NULL,
  at           INTEGER NOT NULL,
  actor        TEXT NOT NULL,
  action       TEXT NOT NULL,
  reason       TEXT,
  changes      TEXT NOT NULL, -- JSON: path to before, after, page and box
  pages        TEXT, -- JSON: the words of the pages that were corrected, to learn from
  PRIMARY KEY (ingestion_id, seq)
) STRICT;
CREATE INDEX review_action_schema ON review_action (tenant_id, schema, at);
CREATE INDEX review_action_document ON review_action (document_id);

-- The ingestion whose record holds.
ALTER TABLE document ADD COLUMN record_in BLOB;
