-- What a tenant's documents are about: each tag once, however many documents have it. Filled by a follower of the change
-- log, so that no document waits for it.
CREATE TABLE tag (
  tenant_id uuid NOT NULL,
  key       text COLLATE "C" NOT NULL, -- the name without what spelling leaves open
  name      text NOT NULL, -- as it was first written
  documents bigint NOT NULL, -- how many have it
  into_key  text COLLATE "C", -- it was merged into this one, and so is whatever comes under it later
  PRIMARY KEY (tenant_id, key)
);
-- The list, the most frequent first.
CREATE INDEX tag_list ON tag (tenant_id, documents DESC, key) WHERE into_key IS NULL AND documents > 0;
-- What was merged into a tag.
CREATE INDEX tag_merged ON tag (tenant_id, into_key) WHERE into_key IS NOT NULL;
CREATE TABLE document_tag (
  tenant_id   uuid NOT NULL,
  key         text COLLATE "C" NOT NULL,
  document_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, key, document_id)
);
CREATE INDEX document_tag_document ON document_tag (document_id, key);
-- What a tag means. Apart from it: counts change often, and a row that is written copies all of it.
CREATE TABLE tag_meaning (
  tenant_id uuid NOT NULL,
  key       text COLLATE "C" NOT NULL,
  model     text NOT NULL,
  vector    bytea NOT NULL, -- 32-bit numbers, lowest byte first; empty: the model could not tell
  PRIMARY KEY (tenant_id, key)
);
-- What is left of a text for telling which others are nearly the same.
CREATE TABLE sketch (
  tenant_id   uuid NOT NULL,
  document_id uuid NOT NULL,
  body        bytea NOT NULL,
  PRIMARY KEY (tenant_id, document_id)
);
-- What the meaning of a text says of its document, by the vectors of a model: type and labels.
CREATE TABLE judgement (
  document_id uuid NOT NULL PRIMARY KEY,
  tenant_id   uuid NOT NULL,
  body        text NOT NULL -- JSON
);
-- Up to which change the catalogue holds everything.
INSERT INTO counter (name, value) VALUES ('catalogue', 0);

GRANT SELECT ON tag, document_tag, tag_meaning, sketch, judgement TO docmill_reader;
ALTER TABLE tag ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tag FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE document_tag ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON document_tag FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE tag_meaning ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tag_meaning FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE sketch ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON sketch FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE judgement ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON judgement FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
