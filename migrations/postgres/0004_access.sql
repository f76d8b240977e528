-- A document that was taken out leaves its row, without content and without a name, so that followers of the change
-- log hear of it and its ingestions stay in the account.
ALTER TABLE document ADD COLUMN removed boolean NOT NULL DEFAULT false;

-- Problems are looked for by those that have some; most have none.
CREATE INDEX ingestion_problem ON ingestion (tenant_id, ingestion_id) WHERE problems IS NOT NULL;

-- Keys to the HTTP interface. What is stored is a hash; the key itself was shown once.
CREATE TABLE api_key (
  key_id               uuid             NOT NULL PRIMARY KEY,
  tenant_id            uuid             NOT NULL REFERENCES tenant,
  name                 text             NOT NULL,
  role                 text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin')),
  hash                 bytea            NOT NULL UNIQUE, -- SHA-256 of the key
  shown                text             NOT NULL, -- its first characters
  created_at           bigint           NOT NULL,
  revoked_at           bigint
);

-- Who asked for which change. Append-only; every entry holds the hash of the one before.
CREATE TABLE audit_log (
  tenant_id            uuid             NOT NULL REFERENCES tenant,
  seq                  bigint           NOT NULL,
  at                   bigint           NOT NULL,
  actor                text             NOT NULL,
  key_id               uuid,
  request_id           text,
  action               text             NOT NULL,
  subject              text,
  detail               text             NOT NULL, -- JSON
  previous             bytea            NOT NULL,
  hash                 bytea            NOT NULL,
  PRIMARY KEY (tenant_id, seq)
);

-- Answers to requests that came with a key of their own, to be given again for a day.
CREATE TABLE idempotency (
  tenant_id            uuid             NOT NULL REFERENCES tenant,
  key                  text COLLATE "C" NOT NULL,
  fingerprint          bytea            NOT NULL, -- of the request
  answer               text             NOT NULL, -- JSON
  at                   bigint           NOT NULL,
  PRIMARY KEY (tenant_id, key)
);

GRANT SELECT ON api_key, audit_log TO docmill_reader;
ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON api_key FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON audit_log FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY;
