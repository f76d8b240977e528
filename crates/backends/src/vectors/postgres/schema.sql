-- The vector index. It is derived, so it has no migrations: tables of another version are dropped and built again.

-- One row: which model, how far the index is, and who is bringing it further.
CREATE TABLE vector_index_state (
  only_one    boolean          NOT NULL PRIMARY KEY DEFAULT true CHECK (only_one),
  version     integer          NOT NULL,
  model       text             NOT NULL DEFAULT '',
  watermark   bigint           NOT NULL DEFAULT 0,
  holder      uuid,
  held_until  timestamptz
);

CREATE TABLE vector_index_document (
  tenant_id   uuid             NOT NULL,
  document_id uuid             NOT NULL,
  source      text             NOT NULL,
  name        text COLLATE "C" NOT NULL,
  media_type  text COLLATE "C",
  kind        text COLLATE "C",
  language    text COLLATE "C",
  day         integer, -- 20240309
  tags        text[] COLLATE "C" NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_id, document_id)
);

CREATE TABLE vector_index_passage (
  tenant_id   uuid             NOT NULL,
  document_id uuid             NOT NULL,
  number      integer          NOT NULL,
  page        bigint           NOT NULL,
  begins      bigint           NOT NULL,
  ends        bigint           NOT NULL,
  vector      halfvec(384)     NOT NULL,
  PRIMARY KEY (tenant_id, document_id, number)
);
CREATE INDEX vector_index_near ON vector_index_passage USING hnsw (vector halfvec_ip_ops) WITH (m = 16, ef_construction = 128);
