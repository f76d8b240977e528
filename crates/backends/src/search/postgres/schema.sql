-- The text index. It is derived, so it has no migrations: an index of another version is dropped and built again from
-- the store (`schema.rs`). SQLite has no such tables; there Tantivy keeps its files beside the database.

-- One row: how far the index is, and who is bringing it further.
CREATE TABLE text_index_state (
  only_one          boolean          NOT NULL PRIMARY KEY DEFAULT true CHECK (only_one),
  version           integer          NOT NULL,
  watermark         bigint           NOT NULL DEFAULT 0,
  holder            uuid,
  held_until        timestamptz
);

-- How many documents a tenant has in the index, so that no query counts them.
CREATE TABLE text_index_tenant (
  tenant_id         uuid             NOT NULL PRIMARY KEY,
  documents         bigint           NOT NULL,
  long_documents    bigint           NOT NULL,
  spilled_documents bigint           NOT NULL
);

-- Words that documents have, or had, for those that are spelled nearly so. Never taken out: whether a document has one is
-- asked of the index.
CREATE TABLE text_index_word (
  tenant_id         uuid             NOT NULL,
  word              text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, word)
);

-- Part 0 is the document with all its words; a document too long for one value has its text in parts 1, 2, … as well.
CREATE TABLE text_index_row (
  document_id       uuid             NOT NULL,
  tenant_id         uuid             NOT NULL,
  part              integer          NOT NULL,
  shape             smallint         NOT NULL, -- 0 whole, 1 long, 2 long and spilled, 3 a part of a long one
  text_words        integer          NOT NULL, -- of the document; in its parts, up to the end of the part
  name              text COLLATE "C" NOT NULL,
  media_type        text COLLATE "C",
  kind              text COLLATE "C",          -- what it is; this and the rest for filters and facets
  language          text COLLATE "C",
  day               integer,                   -- 20240309
  tags              text[] COLLATE "C" NOT NULL,
  words             tsvector         NOT NULL,
  -- Tenants may have documents of the same id, by malice if not by chance.
  PRIMARY KEY (document_id, tenant_id, part)
) WITH (toast_tuple_target = 128);
-- Only phrases look into `words`; everything else is answered by its index and the other columns. Kept apart, and as
-- they are, they leave sixty rows on a page instead of two.
ALTER TABLE text_index_row ALTER COLUMN words SET STORAGE EXTERNAL;
ALTER TABLE text_index_row ALTER COLUMN name SET STORAGE MAIN;
ALTER TABLE text_index_row ALTER COLUMN media_type SET STORAGE MAIN;

-- A list of pending entries would be read by every look-up, and a query makes dozens.
CREATE INDEX text_index_words ON text_index_row USING gin (words) WITH (fastupdate = off);
