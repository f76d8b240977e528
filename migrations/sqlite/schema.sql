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

CREATE TABLE artifact (
  ingestion_id BLOB    NOT NULL REFERENCES ingestion,
  name         TEXT    NOT NULL,
  blob_key     TEXT    NOT NULL,
  hash         BLOB    NOT NULL,
  bytes        INTEGER NOT NULL,
  media_type   TEXT    NOT NULL,
  PRIMARY KEY (ingestion_id, name)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE batch (
  batch_id    BLOB    NOT NULL PRIMARY KEY,
  tenant_id   BLOB    NOT NULL REFERENCES tenant,
  name        TEXT,
  kind        TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state = 'open' OR state = 'sealed' OR state = 'finished' OR state = 'cancelled'),
  paused      INTEGER NOT NULL DEFAULT 0,
  priority    INTEGER NOT NULL,
  expected    INTEGER, -- the walker's own count, stored when it seals
  received    INTEGER NOT NULL DEFAULT 0,
  children    INTEGER NOT NULL DEFAULT 0,
  open        INTEGER NOT NULL DEFAULT 0,
  completed   INTEGER NOT NULL DEFAULT 0,
  failed      INTEGER NOT NULL DEFAULT 0,
  skipped     INTEGER NOT NULL DEFAULT 0,
  cancelled   INTEGER NOT NULL DEFAULT 0,
  duplicates  INTEGER NOT NULL DEFAULT 0,
  dead        INTEGER NOT NULL DEFAULT 0,
  change_seq  INTEGER NOT NULL DEFAULT 0, -- the last document change made for it
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  sealed_at   INTEGER,
  finished_at INTEGER, -- set once: JOB_FINISHED is published with it
  UNIQUE (tenant_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
  name  TEXT    NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE document (
  document_id          BLOB    NOT NULL PRIMARY KEY,
  tenant_id            BLOB    NOT NULL REFERENCES tenant,
  content_hash         BLOB    NOT NULL,
  bytes                INTEGER NOT NULL,
  name                 TEXT    NOT NULL,
  blob_key             TEXT    NOT NULL,
  media_type           TEXT,
  title                TEXT,
  transcription_key    TEXT,
  needs_review         INTEGER NOT NULL DEFAULT 0,
  last_generation      INTEGER NOT NULL DEFAULT 0, -- of its newest ingestion
  current_generation   INTEGER NOT NULL DEFAULT 0, -- of the newest one that has ended
  current_ingestion_id BLOB,
  change_seq           INTEGER, -- place in the change log that followers read; null until something changed
  created_at           INTEGER NOT NULL, removed INTEGER NOT NULL DEFAULT 0, understood_in BLOB, record_in BLOB, kind TEXT, judged_kind TEXT,
  UNIQUE (tenant_id, content_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_tag (
  tenant_id   BLOB NOT NULL REFERENCES tenant,
  key         TEXT NOT NULL,
  document_id BLOB NOT NULL REFERENCES document,
  PRIMARY KEY (tenant_id, key, document_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  tenant_id BLOB    NOT NULL REFERENCES tenant,
  last_seq  INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  body      TEXT    NOT NULL, -- JSON array
  PRIMARY KEY (tenant_id, last_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  tenant_id   BLOB    NOT NULL REFERENCES tenant,
  key         TEXT    NOT NULL,
  fingerprint BLOB    NOT NULL, -- of the request
  answer      TEXT    NOT NULL, -- JSON
  at          INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE ingestion (
  ingestion_id      BLOB    NOT NULL PRIMARY KEY,
  tenant_id         BLOB    NOT NULL REFERENCES tenant,
  document_id       BLOB    REFERENCES document, -- null: the bytes could not be had
  batch_id          BLOB    REFERENCES batch,
  source_id         BLOB    REFERENCES source,
  uploader          TEXT,
  source_metadata   TEXT    NOT NULL,
  origin            TEXT    NOT NULL, -- where it lay, to be shown
  receipt_key       BLOB    NOT NULL, -- hash of (where it lay, content): the same item once a batch
  name              TEXT    NOT NULL,
  parent_id         BLOB    REFERENCES ingestion,
  position          INTEGER,
  run_fingerprint   BLOB, -- of the unpack run that found it
  depth             INTEGER NOT NULL,
  superseded        INTEGER NOT NULL DEFAULT 0, -- a newer unpack run has replaced it
  generation        INTEGER NOT NULL,
  priority          INTEGER NOT NULL,
  duplicate         INTEGER NOT NULL,
  status            TEXT    NOT NULL
                    CHECK (status = 'completed' OR status = 'in_progress' OR status = 'failed' OR status = 'skipped' OR status = 'cancelled'),
  result            TEXT,
  skip_reason       TEXT,
  error             TEXT, -- JSON
  problems          TEXT, -- JSON
  needs_review      INTEGER NOT NULL DEFAULT 0,
  attempt           INTEGER NOT NULL DEFAULT 0,
  media_type        TEXT,
  page_count        INTEGER,
  word_count        INTEGER,
  language          TEXT,
  quality           REAL,
  title             TEXT,
  transcription_key TEXT,
  created_at        INTEGER NOT NULL,
  started_at        INTEGER,
  progress_at       INTEGER NOT NULL,
  completed_at      INTEGER, understood_by TEXT,
  CHECK ((source_id IS NULL) <> (uploader IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE judgement (
  document_id BLOB NOT NULL PRIMARY KEY REFERENCES document,
  tenant_id   BLOB NOT NULL REFERENCES tenant,
  body        TEXT NOT NULL -- JSON
) STRICT;

CREATE TABLE manifest (
  ingestion_id BLOB    NOT NULL REFERENCES ingestion,
  fingerprint  BLOB    NOT NULL,
  tenant_id    BLOB    NOT NULL REFERENCES tenant,
  batch_id     BLOB    REFERENCES batch,
  declared     INTEGER,
  emitted      INTEGER NOT NULL DEFAULT 0,
  refused      INTEGER NOT NULL DEFAULT 0,
  ended        INTEGER NOT NULL DEFAULT 0,
  superseded   INTEGER NOT NULL DEFAULT 0, tree_members INTEGER NOT NULL DEFAULT 0, tree_bytes   INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (ingestion_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE paused_kind (
  kind TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

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

CREATE TABLE review_sender (
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  schema       TEXT NOT NULL,
  mark         TEXT NOT NULL, -- what nobody else has: an account, a domain
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  seq          INTEGER NOT NULL, -- of the decision
  at           INTEGER NOT NULL,
  document_id  BLOB NOT NULL REFERENCES document,
  PRIMARY KEY (tenant_id, schema, mark, ingestion_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE schema (
  tenant_id  BLOB NOT NULL REFERENCES tenant,
  name       TEXT NOT NULL,
  version    INTEGER NOT NULL, -- from 1; another text is another version
  body       TEXT NOT NULL, -- as it was given
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, name, version)
) STRICT;

CREATE TABLE sketch (
  tenant_id   BLOB NOT NULL REFERENCES tenant,
  document_id BLOB NOT NULL REFERENCES document,
  body        BLOB NOT NULL,
  PRIMARY KEY (tenant_id, document_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE source (
  source_id  BLOB    NOT NULL PRIMARY KEY,
  tenant_id  BLOB    NOT NULL REFERENCES tenant,
  kind       TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant_id, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE step_result (
  ingestion_id BLOB    NOT NULL REFERENCES ingestion,
  step         TEXT    NOT NULL,
  fingerprint  BLOB    NOT NULL,
  tenant_id    BLOB    NOT NULL REFERENCES tenant,
  degraded     INTEGER NOT NULL,
  reused       INTEGER NOT NULL,
  body         TEXT    NOT NULL, -- JSON: what was made, to be taken over
  attempt      INTEGER NOT NULL,
  duration_ms  INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (ingestion_id, step, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
  tenant_id BLOB    NOT NULL REFERENCES tenant,
  key       TEXT    NOT NULL, -- the name without what spelling leaves open
  name      TEXT    NOT NULL, -- as it was first written
  documents INTEGER NOT NULL, -- how many have it
  into_key  TEXT, -- it was merged into this one, and so is whatever comes under it later
  PRIMARY KEY (tenant_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag_meaning (
  tenant_id BLOB NOT NULL REFERENCES tenant,
  key       TEXT NOT NULL,
  model     TEXT NOT NULL,
  vector    BLOB NOT NULL, -- 32-bit numbers, lowest byte first; empty: the model could not tell
  PRIMARY KEY (tenant_id, key)
) STRICT;

CREATE TABLE task (
  task_id        INTEGER NOT NULL PRIMARY KEY,
  tenant_id      BLOB    NOT NULL REFERENCES tenant,
  ingestion_id   BLOB    NOT NULL REFERENCES ingestion,
  document_id    BLOB    REFERENCES document, -- of the ingestion, so that a report need not look it up
  batch_id       BLOB    REFERENCES batch,
  kind           TEXT    NOT NULL,
  stage          TEXT    NOT NULL,
  state          TEXT    NOT NULL
                 CHECK (state = 'done' OR state = 'running' OR state = 'queued' OR state = 'waiting' OR state = 'held' OR state = 'dead' OR state = 'cancelled' OR state = 'dropped'),
  size           TEXT    NOT NULL CHECK (size IN ('small', 'large')),
  units          INTEGER NOT NULL,
  priority       INTEGER NOT NULL,
  run_at         INTEGER NOT NULL,
  order_key      INTEGER NOT NULL, -- run_at + priority x 60 s: priority with ageing
  epoch          INTEGER NOT NULL DEFAULT 0,
  owner          BLOB,
  lease_until    INTEGER,
  attempt        INTEGER NOT NULL DEFAULT 0,
  size_attempt   INTEGER NOT NULL DEFAULT 0,
  lost           INTEGER NOT NULL DEFAULT 0,
  payload        TEXT,
  error          TEXT, -- JSON, the last one
  join_id        INTEGER, -- the task that waits for this part
  open_parts     INTEGER, -- of a waiting join
  reported_epoch INTEGER, -- the last epoch whose report was accepted: a repeated report is recognised by it
  next_task_id   INTEGER, -- what that report handed on
  duration_ms    INTEGER,
  queued_at      INTEGER NOT NULL,
  finished_at    INTEGER
) STRICT;

CREATE TABLE task_failure (
  task_id     INTEGER NOT NULL REFERENCES task,
  epoch       INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  size        TEXT    NOT NULL,
  outcome     TEXT    NOT NULL,
  error       TEXT    NOT NULL, -- JSON
  duration_ms INTEGER,
  at          INTEGER NOT NULL,
  PRIMARY KEY (task_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant (
  tenant_id   BLOB    NOT NULL PRIMARY KEY,
  name        TEXT    NOT NULL UNIQUE,
  event_floor INTEGER NOT NULL DEFAULT 0, -- events up to this number have been pruned
  created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE understanding (
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  step         TEXT NOT NULL,
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  body         TEXT NOT NULL, -- JSON: summary, date, type, tags, labels, and how sure each is
  PRIMARY KEY (ingestion_id, step)
) STRICT;

CREATE TABLE usage (
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  call         TEXT NOT NULL, -- where the answer is kept: the same one is paid once
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  step         TEXT NOT NULL,
  provider     TEXT NOT NULL,
  model        TEXT NOT NULL,
  tokens_in    INTEGER NOT NULL,
  tokens_out   INTEGER NOT NULL,
  cost         REAL, -- in the currency of the prices in the settings
  at           INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, call)
) STRICT;

CREATE TABLE worker (
  worker_id  BLOB    NOT NULL PRIMARY KEY,
  host       TEXT    NOT NULL,
  pid        INTEGER NOT NULL,
  slots      INTEGER NOT NULL,
  kinds      TEXT    NOT NULL, -- JSON array
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX artifact_key ON artifact (blob_key);

CREATE UNIQUE INDEX document_change ON document (change_seq) WHERE change_seq IS NOT NULL;

CREATE INDEX document_kinds
  ON document (tenant_id, coalesce(kind, judged_kind, iif(understood_in IS NULL, NULL, 'other')), document_id)
  WHERE coalesce(kind, judged_kind, iif(understood_in IS NULL, NULL, 'other')) IS NOT NULL;

CREATE INDEX document_list ON document (tenant_id, removed, document_id);

CREATE INDEX document_review ON document (tenant_id, document_id) WHERE needs_review = 1;

CREATE INDEX document_tag_document ON document_tag (document_id, key);

CREATE INDEX document_types ON document (tenant_id, removed, media_type, document_id) WHERE media_type IS NOT NULL;

CREATE INDEX document_unclassified ON document (tenant_id, document_id) WHERE title IS NULL AND understood_in IS NOT NULL;

CREATE INDEX ingestion_document ON ingestion (document_id);

CREATE INDEX ingestion_failed ON ingestion (tenant_id, document_id) WHERE status = 'failed' OR status = 'cancelled';

CREATE INDEX ingestion_loose ON ingestion (tenant_id, status) WHERE batch_id IS NULL;

CREATE INDEX ingestion_open ON ingestion (tenant_id, document_id) WHERE status = 'in_progress';

CREATE INDEX ingestion_parent ON ingestion (parent_id, position) WHERE parent_id IS NOT NULL;

CREATE INDEX ingestion_problem ON ingestion (tenant_id, ingestion_id) WHERE problems IS NOT NULL;

CREATE UNIQUE INDEX ingestion_receipt ON ingestion (batch_id, receipt_key) WHERE batch_id IS NOT NULL;

CREATE INDEX ingestion_unsupported ON ingestion (tenant_id, document_id) WHERE result = 'UNSUPPORTED';

CREATE INDEX record_document ON record (document_id);

CREATE INDEX record_schema ON record (tenant_id, schema, document_id);

CREATE INDEX review_action_document ON review_action (document_id);

CREATE INDEX review_action_schema ON review_action (tenant_id, schema, at);

CREATE INDEX review_document ON review (document_id);

CREATE INDEX review_queue ON review (tenant_id, state, confidence, ingestion_id);

CREATE INDEX review_sender_document ON review_sender (document_id);

CREATE INDEX step_result_reuse ON step_result (tenant_id, step, fingerprint) WHERE degraded = 0 AND reused = 0;

CREATE INDEX tag_list ON tag (tenant_id, documents DESC, key) WHERE into_key IS NULL AND documents > 0;

CREATE INDEX tag_merged ON tag (tenant_id, into_key) WHERE into_key IS NOT NULL;

CREATE INDEX task_dead ON task (tenant_id, finished_at) WHERE state = 'dead';

CREATE INDEX task_ingestion ON task (ingestion_id);

CREATE INDEX task_lease ON task (owner, lease_until) WHERE state = 'running';

CREATE INDEX task_queue ON task (tenant_id, kind, order_key) WHERE state = 'queued';

CREATE INDEX usage_ingestion ON usage (ingestion_id);

