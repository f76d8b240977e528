-- Schemas of users, every version of each. Those that are built in lie in the binary.
CREATE TABLE schema (
  tenant_id  uuid NOT NULL,
  name       text COLLATE "C" NOT NULL,
  version    bigint NOT NULL, -- from 1; another text is another version
  body       text NOT NULL, -- as it was given
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant_id, name, version)
);

-- What was extracted in an ingestion: its fields with the places they stand in.
CREATE TABLE record (
  ingestion_id uuid NOT NULL PRIMARY KEY,
  tenant_id    uuid NOT NULL,
  document_id  uuid NOT NULL,
  schema       text COLLATE "C" NOT NULL,
  version      bigint NOT NULL,
  body         text NOT NULL, -- JSON: data, fields with evidence, violations; as a person has corrected it, if one has
  valid        boolean NOT NULL,
  confidence   double precision NOT NULL,
  model        text,
  tokens_in    bigint NOT NULL,
  tokens_out   bigint NOT NULL,
  missing      bigint NOT NULL, -- fields that matter and were not found
  reasons      text, -- JSON: why a person should look; null if nobody needs to
  at           bigint NOT NULL
);
-- Exports go through the records of a schema.
CREATE INDEX record_schema ON record (tenant_id, schema, document_id);
CREATE INDEX record_document ON record (document_id);

-- A record that a person should look at; at most one for each ingestion, which lends it its id.
CREATE TABLE review (
  ingestion_id uuid NOT NULL PRIMARY KEY,
  tenant_id    uuid NOT NULL,
  document_id  uuid NOT NULL,
  schema       text COLLATE "C" NOT NULL,
  state        text COLLATE "C" NOT NULL, -- open, accepted, corrected, rejected or superseded
  reasons      text NOT NULL, -- JSON
  confidence   double precision NOT NULL,
  missing      bigint NOT NULL,
  locked_by    text,
  locked_until bigint,
  created_at   bigint NOT NULL,
  decided_at   bigint
);
-- The queue: what is least sure comes first.
CREATE INDEX review_queue ON review (tenant_id, state, confidence, ingestion_id);
CREATE INDEX review_document ON review (document_id);

-- What people have decided: never changed, and gone only with what the document said.
CREATE TABLE review_action (
  ingestion_id uuid NOT NULL,
  seq          bigint NOT NULL,
  tenant_id    uuid NOT NULL,
  document_id  uuid NOT NULL,
  schema       text COLLATE "C" NOT NULL,
  at           bigint NOT NULL,
  actor        text NOT NULL,
  action       text NOT NULL,
  reason       text,
  changes      text NOT NULL, -- JSON: path to before, after, page and box
  pages        text, -- JSON: the words of the pages that were corrected, to learn from
  PRIMARY KEY (ingestion_id, seq)
);
CREATE INDEX review_action_schema ON review_action (tenant_id, schema, at);
CREATE INDEX review_action_document ON review_action (document_id);

-- The ingestion whose record holds.
ALTER TABLE document ADD COLUMN record_in uuid;

GRANT SELECT ON schema TO docmill_reader;
ALTER TABLE schema ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON schema FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));

GRANT SELECT ON record TO docmill_reader;
ALTER TABLE record ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON record FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));

GRANT SELECT ON review TO docmill_reader;
ALTER TABLE review ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON review FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));

GRANT SELECT ON review_action TO docmill_reader;
ALTER TABLE review_action ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON review_action FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
