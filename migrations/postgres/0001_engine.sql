-- The engine's tables, under the names that SQLite has them by; `outbox` and `schema_version` are the only others.
-- Ids are UUIDv7, so primary keys grow at their end; times are milliseconds since 1970. JSON is kept as text: jsonb
-- refuses what JSON allows (`\u0000`), and text moves between the databases unchanged. Text that is compared or
-- sorted has the collation C, which is the order of SQLite and of Rust.
--
-- Rows of busy tables do not refer to others: every insert would lock and mark the rows they refer to, and the same
-- statements pass those checks on SQLite wherever tests run.

CREATE TABLE tenant (
  tenant_id            uuid             NOT NULL PRIMARY KEY,
  name                 text COLLATE "C" NOT NULL UNIQUE,
  event_seq            bigint           NOT NULL DEFAULT 0, -- number of the last event
  event_floor          bigint           NOT NULL DEFAULT 0, -- events up to this number have been pruned
  created_at           bigint           NOT NULL
);

CREATE TABLE source (
  source_id            uuid             NOT NULL PRIMARY KEY,
  tenant_id            uuid             NOT NULL REFERENCES tenant,
  kind                 text COLLATE "C" NOT NULL,
  name                 text COLLATE "C" NOT NULL,
  created_at           bigint           NOT NULL,
  UNIQUE (tenant_id, kind, name)
);

-- received + children = open + completed + failed + skipped + cancelled, in every fold of the outbox.
CREATE TABLE batch (
  batch_id             uuid             NOT NULL PRIMARY KEY,
  tenant_id            uuid             NOT NULL REFERENCES tenant,
  name                 text COLLATE "C",
  kind                 text COLLATE "C" NOT NULL,
  state                text COLLATE "C" NOT NULL CHECK (state IN ('open', 'sealed', 'finished', 'cancelled')),
  paused               boolean          NOT NULL DEFAULT false,
  priority             bigint           NOT NULL,
  expected             bigint, -- the walker's own count, stored when it seals
  received             bigint           NOT NULL DEFAULT 0,
  children             bigint           NOT NULL DEFAULT 0,
  open                 bigint           NOT NULL DEFAULT 0,
  completed            bigint           NOT NULL DEFAULT 0,
  failed               bigint           NOT NULL DEFAULT 0,
  skipped              bigint           NOT NULL DEFAULT 0,
  cancelled            bigint           NOT NULL DEFAULT 0,
  duplicates           bigint           NOT NULL DEFAULT 0,
  dead                 bigint           NOT NULL DEFAULT 0,
  change_seq           bigint           NOT NULL DEFAULT 0, -- the last document change made for it
  created_at           bigint           NOT NULL,
  started_at           bigint,
  sealed_at            bigint,
  finished_at          bigint, -- set once: JOB_FINISHED is published with it
  UNIQUE (tenant_id, name)
);

CREATE TABLE document (
  document_id          uuid             NOT NULL PRIMARY KEY,
  tenant_id            uuid             NOT NULL,
  content_hash         bytea            NOT NULL,
  bytes                bigint           NOT NULL,
  name                 text COLLATE "C" NOT NULL,
  blob_key             text COLLATE "C" NOT NULL,
  media_type           text,
  title                text,
  transcription_key    text,
  needs_review         boolean          NOT NULL DEFAULT false,
  last_generation      bigint           NOT NULL DEFAULT 0, -- of its newest ingestion
  current_generation   bigint           NOT NULL DEFAULT 0, -- of the newest one that has ended
  current_ingestion_id uuid,
  change_seq           bigint, -- place in the change log that followers read; null until something changed
  created_at           bigint           NOT NULL,
  UNIQUE (tenant_id, content_hash)
);
CREATE UNIQUE INDEX document_change ON document (change_seq) WHERE change_seq IS NOT NULL;

CREATE TABLE ingestion (
  ingestion_id         uuid             NOT NULL PRIMARY KEY,
  tenant_id            uuid             NOT NULL,
  document_id          uuid             REFERENCES document, -- null: the bytes could not be had
  batch_id             uuid,
  source_id            uuid             REFERENCES source,
  uploader             text,
  source_metadata      text             NOT NULL,
  origin               text             NOT NULL, -- where it lay, to be shown
  receipt_key          bytea            NOT NULL, -- hash of (where it lay, content): the same item once a batch
  name                 text COLLATE "C" NOT NULL,
  parent_id            uuid             REFERENCES ingestion,
  position             bigint,
  run_fingerprint      bytea, -- of the unpack run that found it
  depth                bigint           NOT NULL,
  superseded           boolean          NOT NULL DEFAULT false, -- a newer unpack run has replaced it
  generation           bigint           NOT NULL,
  priority             bigint           NOT NULL,
  duplicate            boolean          NOT NULL,
  status               text COLLATE "C" NOT NULL
                       CHECK (status IN ('in_progress', 'completed', 'failed', 'skipped', 'cancelled')),
  result               text,
  skip_reason          text,
  error                text, -- JSON
  problems             text, -- JSON
  needs_review         boolean          NOT NULL DEFAULT false,
  attempt              bigint           NOT NULL DEFAULT 0,
  media_type           text,
  page_count           bigint,
  word_count           bigint,
  language             text,
  quality              double precision,
  title                text,
  transcription_key    text,
  created_at           bigint           NOT NULL,
  started_at           bigint,
  progress_at          bigint           NOT NULL,
  completed_at         bigint,
  CHECK ((source_id IS NULL) <> (uploader IS NULL))
);
CREATE UNIQUE INDEX ingestion_receipt ON ingestion (batch_id, receipt_key) WHERE batch_id IS NOT NULL;
CREATE INDEX ingestion_document ON ingestion (document_id);
CREATE INDEX ingestion_parent ON ingestion (parent_id, position) WHERE parent_id IS NOT NULL;
CREATE INDEX ingestion_loose ON ingestion (tenant_id, status) WHERE batch_id IS NULL;

CREATE TABLE task (
  task_id              bigint           NOT NULL PRIMARY KEY,
  tenant_id            uuid             NOT NULL,
  ingestion_id         uuid             NOT NULL,
  document_id          uuid, -- of the ingestion, so that a report need not look it up
  batch_id             uuid,
  kind                 text COLLATE "C" NOT NULL,
  stage                text             NOT NULL,
  state                text COLLATE "C" NOT NULL
                       CHECK (state IN ('waiting', 'queued', 'held', 'running', 'done', 'dead', 'cancelled', 'dropped')),
  size                 text             NOT NULL CHECK (size IN ('small', 'large')),
  units                bigint           NOT NULL,
  priority             bigint           NOT NULL,
  run_at               bigint           NOT NULL,
  order_key            bigint           NOT NULL, -- run_at + priority x 60 s: priority with ageing
  epoch                bigint           NOT NULL DEFAULT 0,
  owner                uuid,
  lease_until          bigint,
  attempt              bigint           NOT NULL DEFAULT 0,
  size_attempt         bigint           NOT NULL DEFAULT 0,
  lost                 bigint           NOT NULL DEFAULT 0,
  payload              text,
  error                text, -- JSON, the last one
  join_id              bigint, -- the task that waits for this part
  open_parts           bigint, -- of a waiting join
  reported_epoch       bigint, -- the last epoch whose report was accepted: a repeated report is recognised by it
  next_task_id         bigint, -- what that report handed on
  duration_ms          bigint,
  queued_at            bigint           NOT NULL,
  finished_at          bigint
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
-- Numbers are taken in blocks, so that a task is known by its number before its row is written. The size of a block
-- is known to `store/postgres/numbers.rs`.
CREATE SEQUENCE task_number AS bigint INCREMENT BY 64;

-- The queue itself: a backlog of other kinds or tenants costs a claim nothing, and what is equal in order
-- leaves in the order in which it came.
CREATE INDEX task_queue ON task (tenant_id, kind, order_key, task_id) WHERE state = 'queued';
CREATE INDEX task_lease ON task (owner, lease_until) WHERE state = 'running';
CREATE INDEX task_dead ON task (tenant_id, finished_at) WHERE state = 'dead';
CREATE INDEX task_ingestion ON task (ingestion_id);

-- Failures, for timelines; successes are in step_result.
CREATE TABLE task_failure (
  task_id              bigint           NOT NULL,
  epoch                bigint           NOT NULL,
  attempt              bigint           NOT NULL,
  size                 text             NOT NULL,
  outcome              text             NOT NULL,
  error                text             NOT NULL, -- JSON
  duration_ms          bigint,
  at                   bigint           NOT NULL,
  PRIMARY KEY (task_id, epoch)
);

CREATE TABLE step_result (
  ingestion_id         uuid             NOT NULL,
  step                 text COLLATE "C" NOT NULL,
  fingerprint          bytea            NOT NULL,
  tenant_id            uuid             NOT NULL,
  degraded             boolean          NOT NULL,
  reused               boolean          NOT NULL,
  body                 text             NOT NULL, -- JSON: what was made, to be taken over
  attempt              bigint           NOT NULL,
  duration_ms          bigint           NOT NULL,
  at                   bigint           NOT NULL,
  PRIMARY KEY (ingestion_id, step, fingerprint)
);
-- Reused results need no entry of their own: the first one answers look-ups.
CREATE INDEX step_result_reuse ON step_result (tenant_id, step, fingerprint) WHERE NOT degraded AND NOT reused;

CREATE TABLE artifact (
  ingestion_id         uuid             NOT NULL,
  name                 text COLLATE "C" NOT NULL,
  blob_key             text COLLATE "C" NOT NULL,
  hash                 bytea            NOT NULL,
  bytes                bigint           NOT NULL,
  media_type           text             NOT NULL,
  PRIMARY KEY (ingestion_id, name)
);
CREATE INDEX artifact_key ON artifact (blob_key);

-- One row an unpack run: what the container declared against what came out of it.
CREATE TABLE manifest (
  ingestion_id         uuid             NOT NULL,
  fingerprint          bytea            NOT NULL,
  tenant_id            uuid             NOT NULL,
  batch_id             uuid,
  declared             bigint,
  emitted              bigint           NOT NULL DEFAULT 0,
  refused              bigint           NOT NULL DEFAULT 0,
  ended                boolean          NOT NULL DEFAULT false,
  superseded           boolean          NOT NULL DEFAULT false,
  PRIMARY KEY (ingestion_id, fingerprint)
);

-- Append-only. One row a commit holds that commit's events of one tenant; the first carries the number
-- first_seq, and they are expanded on read.
CREATE TABLE event (
  tenant_id            uuid             NOT NULL,
  last_seq             bigint           NOT NULL,
  first_seq            bigint           NOT NULL,
  at                   bigint           NOT NULL,
  body                 text             NOT NULL, -- JSON array
  PRIMARY KEY (tenant_id, last_seq)
);

CREATE TABLE worker (
  worker_id            uuid             NOT NULL PRIMARY KEY,
  host                 text             NOT NULL,
  pid                  bigint           NOT NULL,
  slots                bigint           NOT NULL,
  kinds                text             NOT NULL, -- JSON array
  started_at           bigint           NOT NULL,
  seen_at              bigint           NOT NULL
);

CREATE TABLE paused_kind (
  kind                 text COLLATE "C" NOT NULL PRIMARY KEY
);

CREATE TABLE counter (
  name                 text COLLATE "C" NOT NULL PRIMARY KEY,
  value                bigint           NOT NULL
);
INSERT INTO counter (name, value) VALUES ('change_seq', 0);

-- What commits leave for the sequencer, one row a commit and tenant: events that have no number yet, changes to the
-- totals of batches, and documents that changed. Folding it is the work of one transaction at a time, so numbers
-- have no gaps and no commit waits for a row that every commit would have to change.
CREATE TABLE outbox (
  outbox_id            bigint           NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id            uuid             NOT NULL,
  at                   bigint           NOT NULL,
  event_count          bigint           NOT NULL,
  events               text             NOT NULL, -- JSON array
  changes              text -- JSON: totals and documents
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Reads for people and programs run as `docmill_reader` and see the rows of one tenant, whatever they ask for: a
-- query that forgets its WHERE shows nobody else's rows, and one that forgets to say whose it is fails.
DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO docmill_reader', current_schema()); END $$;
GRANT SELECT ON tenant, source, batch, document, ingestion, task, task_failure, step_result, artifact, manifest, event,
  worker, paused_kind, counter TO docmill_reader;

ALTER TABLE tenant ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON tenant FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE source ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON source FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE batch ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON batch FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON document FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE ingestion ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON ingestion FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE task ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON task FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE step_result ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON step_result FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE manifest ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON manifest FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON event FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
-- These have no tenant of their own; what they belong to is filtered by its own policy.
ALTER TABLE artifact ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON artifact FOR SELECT TO docmill_reader
  USING (EXISTS (SELECT 1 FROM ingestion i WHERE i.ingestion_id = artifact.ingestion_id));
ALTER TABLE task_failure ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON task_failure FOR SELECT TO docmill_reader
  USING (EXISTS (SELECT 1 FROM task t WHERE t.task_id = task_failure.task_id));
