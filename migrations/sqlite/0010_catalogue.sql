-- What a tenant's documents are about: each tag once, however many documents have it. Filled by a follower of the change
-- log, so that no document waits for it.
CREATE TABLE tag (
  tenant_id BLOB    NOT NULL REFERENCES tenant,
  key       TEXT    NOT NULL, -- the name without what spelling leaves open
  name      TEXT    NOT NULL, -- as it was first written
  documents INTEGER NOT NULL, -- how many have it
  into_key  TEXT, -- it was merged into this one, and so is whatever comes under it later
  PRIMARY KEY (tenant_id, key)
) STRICT, WITHOUT ROWID;
-- The list, the most frequent first.
CREATE INDEX tag_list ON tag (tenant_id, documents DESC, key) WHERE into_key IS NULL AND documents > 0;
-- What was merged into a tag.
CREATE INDEX tag_merged ON tag (tenant_id, into_key) WHERE into_key IS NOT NULL;
CREATE TABLE document_tag (
  tenant_id   BLOB NOT NULL REFERENCES tenant,
  key         TEXT NOT NULL,
  document_id BLOB NOT NULL REFERENCES document,
  PRIMARY KEY (tenant_id, key, document_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_tag_document ON document_tag (document_id, key);
-- What a tag means. Apart from it: counts change often, and a row that is written copies all of it.
CREATE TABLE tag_meaning (
  tenant_id BLOB NOT NULL REFERENCES tenant,
  key       TEXT NOT NULL,
  model     TEXT NOT NULL,
  vector    BLOB NOT NULL, -- 32-bit numbers, lowest byte first; empty: the model could not tell
  PRIMARY KEY (tenant_id, key)
) STRICT;
-- What is left of a text for telling which others are nearly the same.
CREATE TABLE sketch (
  tenant_id   BLOB NOT NULL REFERENCES tenant,
  document_id BLOB NOT NULL REFERENCES document,
  body        BLOB NOT NULL,
  PRIMARY KEY (tenant_id, document_id)
) STRICT, WITHOUT ROWID;
-- What the meaning of a text says of its document, by the vectors of a model: type and labels.
CREATE TABLE judgement (
  document_id BLOB NOT NULL PRIMARY KEY REFERENCES document,
  tenant_id   BLOB NOT NULL REFERENCES tenant,
  body        TEXT NOT NULL -- JSON
) STRICT;
-- Up to which change the catalogue holds everything.
INSERT INTO counter (name, value) VALUES ('catalogue', 0);
