-- A document that was taken out leaves its row, without content and without a name, so that followers of the change
-- log hear of it and its ingestions stay in the account.
ALTER TABLE document ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

-- Problems are looked for by those that have some; most have none.
CREATE INDEX ingestion_problem ON ingestion (tenant_id, ingestion_id) WHERE problems IS NOT NULL;

-- Keys to the HTTP interface. What is stored is a hash; the key itself was shown once.
CREATE TABLE api_key (
  key_id     BLOB    NOT NULL PRIMARY KEY,
  tenant_id  BLOB    NOT NULL REFERENCES tenant,
  name       TEXT    NOT NULL,
  role       TEXT    NOT NULL CHECK (role = 'read' OR role = 'write' OR role = 'admin'),
  hash       BLOB    NOT NULL UNIQUE, -- SHA-256 of the key
  shown      TEXT    NOT NULL, -- its first characters
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Who asked for which change. Append-only; every entry holds the hash of the one before.
CREATE TABLE audit_log (
  tenant_id  BLOB    NOT NULL REFERENCES tenant,
  seq        INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  actor      TEXT    NOT NULL,
  key_id     BLOB,
  request_id TEXT,
  action     TEXT    NOT NULL,
  subject    TEXT,
  detail     TEXT    NOT NULL, -- JSON
  previous   BLOB    NOT NULL,
  hash       BLOB    NOT NULL,
  PRIMARY KEY (tenant_id, seq)
) STRICT, WITHOUT ROWID;

-- Answers to requests that came with a key of their own, to be given again for a day.
CREATE TABLE idempotency (
  tenant_id   BLOB    NOT NULL REFERENCES tenant,
  key         TEXT    NOT NULL,
  fingerprint BLOB    NOT NULL, -- of the request
  answer      TEXT    NOT NULL, -- JSON
  at          INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key)
) STRICT, WITHOUT ROWID;
