-- What all migrations together make, as the server's catalogue tells it. Compared by a test, not run.

TABLE api_key
  key_id uuid NOT NULL
  tenant_id uuid NOT NULL
  name text NOT NULL
  role text COLLATE "C" NOT NULL
  hash bytea NOT NULL
  shown text NOT NULL
  created_at bigint NOT NULL
  revoked_at bigint
  UNIQUE (hash)
  PRIMARY KEY (key_id)
  CHECK ((role = ANY (ARRAY['read'::text, 'write'::text, 'admin'::text])))
  FOREIGN KEY (tenant_id) REFERENCES tenant(tenant_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE artifact
  ingestion_id uuid NOT NULL
  name text COLLATE "C" NOT NULL
  blob_key text COLLATE "C" NOT NULL
  hash bytea NOT NULL
  bytes bigint NOT NULL
  media_type text NOT NULL
  PRIMARY KEY (ingestion_id, name)
  CREATE INDEX artifact_key ON artifact USING btree (blob_key)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (EXISTS ( SELECT 1 FROM ingestion i WHERE (i.ingestion_id = artifact.ingestion_id)))

TABLE audit_log
  tenant_id uuid NOT NULL
  seq bigint NOT NULL
  at bigint NOT NULL
  actor text NOT NULL
  key_id uuid
  request_id text
  action text NOT NULL
  subject text
  detail text NOT NULL
  previous bytea NOT NULL
  hash bytea NOT NULL
  PRIMARY KEY (tenant_id, seq)
  FOREIGN KEY (tenant_id) REFERENCES tenant(tenant_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE batch
  batch_id uuid NOT NULL
  tenant_id uuid NOT NULL
  name text COLLATE "C"
  kind text COLLATE "C" NOT NULL
  state text COLLATE "C" NOT NULL
  paused boolean NOT NULL DEFAULT false
  priority bigint NOT NULL
  expected bigint
  received bigint NOT NULL DEFAULT 0
  children bigint NOT NULL DEFAULT 0
  open bigint NOT NULL DEFAULT 0
  completed bigint NOT NULL DEFAULT 0
  failed bigint NOT NULL DEFAULT 0
  skipped bigint NOT NULL DEFAULT 0
  cancelled bigint NOT NULL DEFAULT 0
  duplicates bigint NOT NULL DEFAULT 0
  dead bigint NOT NULL DEFAULT 0
  change_seq bigint NOT NULL DEFAULT 0
  created_at bigint NOT NULL
  started_at bigint
  sealed_at bigint
  finished_at bigint
  PRIMARY KEY (batch_id)
  CHECK ((state = ANY (ARRAY['open'::text, 'sealed'::text, 'finished'::text, 'cancelled'::text])))
  FOREIGN KEY (tenant_id) REFERENCES tenant(tenant_id)
  UNIQUE (tenant_id, name)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE counter
  name text COLLATE "C" NOT NULL
  value bigint NOT NULL
  PRIMARY KEY (name)

TABLE document
  document_id uuid NOT NULL
  tenant_id uuid NOT NULL
  content_hash bytea NOT NULL
  bytes bigint NOT NULL
  name text COLLATE "C" NOT NULL
  blob_key text COLLATE "C" NOT NULL
  media_type text
  title text
  transcription_key text
  needs_review boolean NOT NULL DEFAULT false
  last_generation bigint NOT NULL DEFAULT 0
  current_generation bigint NOT NULL DEFAULT 0
  current_ingestion_id uuid
  change_seq bigint
  created_at bigint NOT NULL
  removed boolean NOT NULL DEFAULT false
  understood_in uuid
  record_in uuid
  kind text
  judged_kind text
  PRIMARY KEY (document_id)
  UNIQUE (tenant_id, content_hash)
  CREATE UNIQUE INDEX document_change ON document USING btree (change_seq) WHERE (change_seq IS NOT NULL)
  CREATE INDEX document_kinds ON document USING btree (tenant_id, ( CASE WHEN (kind IS NOT NULL) THEN kind WHEN (judged_kind IS NOT NULL) THEN judged_kind WHEN (understood_in IS NOT NULL) THEN 'other'::text ELSE NULL::text END), document_id) WHERE ( CASE WHEN (kind IS NOT NULL) THEN kind WHEN (judged_kind IS NOT NULL) THEN judged_kind WHEN (understood_in IS NOT NULL) THEN 'other'::text ELSE NULL::text END IS NOT NULL)
  CREATE INDEX document_list ON document USING btree (tenant_id, removed, document_id)
  CREATE INDEX document_review ON document USING btree (tenant_id, document_id) WHERE needs_review
  CREATE INDEX document_types ON document USING btree (tenant_id, removed, media_type, document_id) WHERE (media_type IS NOT NULL)
  CREATE INDEX document_unclassified ON document USING btree (tenant_id, document_id) WHERE ((title IS NULL) AND (understood_in IS NOT NULL))
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE document_tag
  tenant_id uuid NOT NULL
  key text COLLATE "C" NOT NULL
  document_id uuid NOT NULL
  PRIMARY KEY (tenant_id, key, document_id)
  CREATE INDEX document_tag_document ON document_tag USING btree (document_id, key)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE event
  tenant_id uuid NOT NULL
  last_seq bigint NOT NULL
  first_seq bigint NOT NULL
  at bigint NOT NULL
  body text NOT NULL
  PRIMARY KEY (tenant_id, last_seq)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE idempotency
  tenant_id uuid NOT NULL
  key text COLLATE "C" NOT NULL
  fingerprint bytea NOT NULL
  answer text NOT NULL
  at bigint NOT NULL
  PRIMARY KEY (tenant_id, key)
  FOREIGN KEY (tenant_id) REFERENCES tenant(tenant_id)

TABLE ingestion
  ingestion_id uuid NOT NULL
  tenant_id uuid NOT NULL
  document_id uuid
  batch_id uuid
  source_id uuid
  uploader text
  source_metadata text NOT NULL
  origin text NOT NULL
  receipt_key bytea NOT NULL
  name text COLLATE "C" NOT NULL
  parent_id uuid
  position bigint
  run_fingerprint bytea
  depth bigint NOT NULL
  superseded boolean NOT NULL DEFAULT false
  generation bigint NOT NULL
  priority bigint NOT NULL
  duplicate boolean NOT NULL
  status text COLLATE "C" NOT NULL
  result text
  skip_reason text
  error text
  problems text
  needs_review boolean NOT NULL DEFAULT false
  attempt bigint NOT NULL DEFAULT 0
  media_type text
  page_count bigint
  word_count bigint
  language text
  quality double precision
  title text
  transcription_key text
  created_at bigint NOT NULL
  started_at bigint
  progress_at bigint NOT NULL
  completed_at bigint
  understood_by text
  CHECK (((source_id IS NULL) <> (uploader IS NULL)))
  FOREIGN KEY (document_id) REFERENCES document(document_id)
  FOREIGN KEY (parent_id) REFERENCES ingestion(ingestion_id)
  PRIMARY KEY (ingestion_id)
  FOREIGN KEY (source_id) REFERENCES source(source_id)
  CHECK ((status = ANY (ARRAY['in_progress'::text, 'completed'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
  CREATE INDEX ingestion_document ON ingestion USING btree (document_id)
  CREATE INDEX ingestion_failed ON ingestion USING btree (tenant_id, document_id) WHERE ((status = 'failed'::text) OR (status = 'cancelled'::text))
  CREATE INDEX ingestion_loose ON ingestion USING btree (tenant_id, status) WHERE (batch_id IS NULL)
  CREATE INDEX ingestion_open ON ingestion USING btree (tenant_id, document_id) WHERE (status = 'in_progress'::text)
  CREATE INDEX ingestion_parent ON ingestion USING btree (parent_id, "position") WHERE (parent_id IS NOT NULL)
  CREATE INDEX ingestion_problem ON ingestion USING btree (tenant_id, ingestion_id) WHERE (problems IS NOT NULL)
  CREATE UNIQUE INDEX ingestion_receipt ON ingestion USING btree (batch_id, receipt_key) WHERE (batch_id IS NOT NULL)
  CREATE INDEX ingestion_unsupported ON ingestion USING btree (tenant_id, document_id) WHERE (result = 'UNSUPPORTED'::text)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE judgement
  document_id uuid NOT NULL
  tenant_id uuid NOT NULL
  body text NOT NULL
  PRIMARY KEY (document_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE manifest
  ingestion_id uuid NOT NULL
  fingerprint bytea NOT NULL
  tenant_id uuid NOT NULL
  batch_id uuid
  declared bigint
  emitted bigint NOT NULL DEFAULT 0
  refused bigint NOT NULL DEFAULT 0
  ended boolean NOT NULL DEFAULT false
  superseded boolean NOT NULL DEFAULT false
  tree_members bigint NOT NULL DEFAULT 0
  tree_bytes bigint NOT NULL DEFAULT 0
  PRIMARY KEY (ingestion_id, fingerprint)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE outbox
  outbox_id bigint NOT NULL
  tenant_id uuid NOT NULL
  at bigint NOT NULL
  event_count bigint NOT NULL
  events text NOT NULL
  changes text
  PRIMARY KEY (outbox_id)

SEQUENCE outbox_outbox_id_seq INCREMENT BY 1

TABLE paused_kind
  kind text COLLATE "C" NOT NULL
  PRIMARY KEY (kind)

TABLE record
  ingestion_id uuid NOT NULL
  tenant_id uuid NOT NULL
  document_id uuid NOT NULL
  schema text COLLATE "C" NOT NULL
  version bigint NOT NULL
  body text NOT NULL
  valid boolean NOT NULL
  confidence double precision NOT NULL
  model text
  tokens_in bigint NOT NULL
  tokens_out bigint NOT NULL
  missing bigint NOT NULL
  reasons text
  at bigint NOT NULL
  PRIMARY KEY (ingestion_id)
  CREATE INDEX record_document ON record USING btree (document_id)
  CREATE INDEX record_schema ON record USING btree (tenant_id, schema, document_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE review
  ingestion_id uuid NOT NULL
  tenant_id uuid NOT NULL
  document_id uuid NOT NULL
  schema text COLLATE "C" NOT NULL
  state text COLLATE "C" NOT NULL
  reasons text NOT NULL
  confidence double precision NOT NULL
  missing bigint NOT NULL
  locked_by text
  locked_until bigint
  created_at bigint NOT NULL
  decided_at bigint
  PRIMARY KEY (ingestion_id)
  CREATE INDEX review_document ON review USING btree (document_id)
  CREATE INDEX review_queue ON review USING btree (tenant_id, state, confidence, ingestion_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE review_action
  ingestion_id uuid NOT NULL
  seq bigint NOT NULL
  tenant_id uuid NOT NULL
  document_id uuid NOT NULL
  schema text COLLATE "C" NOT NULL
  at bigint NOT NULL
  actor text NOT NULL
  action text NOT NULL
  reason text
  changes text NOT NULL
  pages text
  PRIMARY KEY (ingestion_id, seq)
  CREATE INDEX review_action_document ON review_action USING btree (document_id)
  CREATE INDEX review_action_schema ON review_action USING btree (tenant_id, schema, at)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE review_sender
  tenant_id uuid NOT NULL
  schema text COLLATE "C" NOT NULL
  mark text COLLATE "C" NOT NULL
  ingestion_id uuid NOT NULL
  seq bigint NOT NULL
  at bigint NOT NULL
  document_id uuid NOT NULL
  PRIMARY KEY (tenant_id, schema, mark, ingestion_id, seq)
  CREATE INDEX review_sender_document ON review_sender USING btree (document_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE schema
  tenant_id uuid NOT NULL
  name text COLLATE "C" NOT NULL
  version bigint NOT NULL
  body text NOT NULL
  created_at bigint NOT NULL
  PRIMARY KEY (tenant_id, name, version)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE schema_version
  version bigint NOT NULL

TABLE sketch
  tenant_id uuid NOT NULL
  document_id uuid NOT NULL
  body bytea NOT NULL
  PRIMARY KEY (tenant_id, document_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE source
  source_id uuid NOT NULL
  tenant_id uuid NOT NULL
  kind text COLLATE "C" NOT NULL
  name text COLLATE "C" NOT NULL
  created_at bigint NOT NULL
  PRIMARY KEY (source_id)
  FOREIGN KEY (tenant_id) REFERENCES tenant(tenant_id)
  UNIQUE (tenant_id, kind, name)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE step_result
  ingestion_id uuid NOT NULL
  step text COLLATE "C" NOT NULL
  fingerprint bytea NOT NULL
  tenant_id uuid NOT NULL
  degraded boolean NOT NULL
  reused boolean NOT NULL
  body text NOT NULL
  attempt bigint NOT NULL
  duration_ms bigint NOT NULL
  at bigint NOT NULL
  PRIMARY KEY (ingestion_id, step, fingerprint)
  CREATE INDEX step_result_reuse ON step_result USING btree (tenant_id, step, fingerprint) WHERE ((NOT degraded) AND (NOT reused))
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE tag
  tenant_id uuid NOT NULL
  key text COLLATE "C" NOT NULL
  name text NOT NULL
  documents bigint NOT NULL
  into_key text COLLATE "C"
  PRIMARY KEY (tenant_id, key)
  CREATE INDEX tag_list ON tag USING btree (tenant_id, documents DESC, key) WHERE ((into_key IS NULL) AND (documents > 0))
  CREATE INDEX tag_merged ON tag USING btree (tenant_id, into_key) WHERE (into_key IS NOT NULL)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE tag_meaning
  tenant_id uuid NOT NULL
  key text COLLATE "C" NOT NULL
  model text NOT NULL
  vector bytea NOT NULL
  PRIMARY KEY (tenant_id, key)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE task
  task_id bigint NOT NULL
  tenant_id uuid NOT NULL
  ingestion_id uuid NOT NULL
  document_id uuid
  batch_id uuid
  kind text COLLATE "C" NOT NULL
  stage text NOT NULL
  state text COLLATE "C" NOT NULL
  size text NOT NULL
  units bigint NOT NULL
  priority bigint NOT NULL
  run_at bigint NOT NULL
  order_key bigint NOT NULL
  epoch bigint NOT NULL DEFAULT 0
  owner uuid
  lease_until bigint
  attempt bigint NOT NULL DEFAULT 0
  size_attempt bigint NOT NULL DEFAULT 0
  lost bigint NOT NULL DEFAULT 0
  payload text
  error text
  join_id bigint
  open_parts bigint
  reported_epoch bigint
  next_task_id bigint
  duration_ms bigint
  queued_at bigint NOT NULL
  finished_at bigint
  PRIMARY KEY (task_id)
  CHECK ((size = ANY (ARRAY['small'::text, 'large'::text])))
  CHECK ((state = ANY (ARRAY['waiting'::text, 'queued'::text, 'held'::text, 'running'::text, 'done'::text, 'dead'::text, 'cancelled'::text, 'dropped'::text])))
  CREATE INDEX task_dead ON task USING btree (tenant_id, finished_at) WHERE (state = 'dead'::text)
  CREATE INDEX task_ingestion ON task USING btree (ingestion_id)
  CREATE INDEX task_lease ON task USING btree (owner, lease_until) WHERE (state = 'running'::text)
  CREATE INDEX task_queue ON task USING btree (tenant_id, kind, order_key, task_id) WHERE (state = 'queued'::text)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE task_failure
  task_id bigint NOT NULL
  epoch bigint NOT NULL
  attempt bigint NOT NULL
  size text NOT NULL
  outcome text NOT NULL
  error text NOT NULL
  duration_ms bigint
  at bigint NOT NULL
  PRIMARY KEY (task_id, epoch)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (EXISTS ( SELECT 1 FROM task t WHERE (t.task_id = task_failure.task_id)))

SEQUENCE task_number INCREMENT BY 64

TABLE tenant
  tenant_id uuid NOT NULL
  name text COLLATE "C" NOT NULL
  event_floor bigint NOT NULL DEFAULT 0
  created_at bigint NOT NULL
  UNIQUE (name)
  PRIMARY KEY (tenant_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE understanding
  ingestion_id uuid NOT NULL
  step text COLLATE "C" NOT NULL
  tenant_id uuid NOT NULL
  body text NOT NULL
  PRIMARY KEY (ingestion_id, step)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE usage
  tenant_id uuid NOT NULL
  call text COLLATE "C" NOT NULL
  ingestion_id uuid NOT NULL
  step text NOT NULL
  provider text NOT NULL
  model text NOT NULL
  tokens_in bigint NOT NULL
  tokens_out bigint NOT NULL
  cost double precision
  at bigint NOT NULL
  PRIMARY KEY (tenant_id, call)
  CREATE INDEX usage_ingestion ON usage USING btree (ingestion_id)
  POLICY one_tenant FOR SELECT TO {docmill_reader} USING (tenant_id = ( SELECT (current_setting('app.tenant'::text))::uuid AS current_setting))

TABLE worker
  worker_id uuid NOT NULL
  host text NOT NULL
  pid bigint NOT NULL
  slots bigint NOT NULL
  kinds text NOT NULL
  started_at bigint NOT NULL
  seen_at bigint NOT NULL
  PRIMARY KEY (worker_id)
