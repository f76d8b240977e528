/** What the server answers, by the names of `/openapi.json`. */

export type DocumentState =
  | "processing" | "stale" | "ready" | "unclassified" | "needs_review" | "failed" | "unsupported";
export type Stage =
  | "queued" | "intake" | "unpacking" | "transcribing" | "indexing"
  | "completed" | "failed" | "skipped" | "cancelled";
export type IngestionStatus = "in_progress" | "completed" | "failed" | "skipped" | "cancelled";

/** RFC 3339. */
export type Timestamp = string;

export interface ErrorNote { kind: string; message: string; hint?: string | null }
export interface ProblemLine { code: string; kind: string; message: string; page?: number | null }

export interface DocumentLine {
  document_id: string;
  name: string;
  title: string | null;
  media_type: string | null;
  bytes: number;
  state: DocumentState;
  created_at: Timestamp;
  page_count: number | null;
  language: string | null;
  result: string | null;
  error: ErrorNote | null;
}
export interface DocumentList { documents: DocumentLine[]; next_cursor: string | null }

export interface IngestionLine {
  ingestion_id: string;
  batch_id: string | null;
  source_id: string | null;
  uploader: string | null;
  origin: string;
  name: string;
  status: IngestionStatus;
  stage: Stage;
  result: string | null;
  duplicate: boolean;
  attempt: number;
  created_at: Timestamp;
  started_at: Timestamp | null;
  completed_at: Timestamp | null;
  skip_reason: string | null;
  error: ErrorNote | null;
}
export interface ArtifactLine { name: string; key: string; bytes: number; media_type: string; ingestion_id: string }
export interface FamilyLine {
  ingestion_id: string;
  document_id: string | null;
  name: string;
  position: number | null;
  status: IngestionStatus;
  result: string | null;
}
export interface TimelineLine {
  at: Timestamp;
  ingestion_id: string;
  what: string;
  outcome: string;
  attempt: number;
  duration_ms: number | null;
  detail: string | null;
}
export interface DocumentDetail {
  document_id: string;
  content_hash: string;
  name: string;
  media_type: string | null;
  bytes: number;
  state: DocumentState;
  status: Stage;
  stale: boolean;
  page_count: number | null;
  word_count: number | null;
  language: string | null;
  quality: number | null;
  title: string | null;
  summary: string | null;
  date: string | null;
  type: string | null;
  tags: string[];
  labels: unknown;
  record: unknown;
  problems: ProblemLine[];
  needs_review: boolean;
  ingestions: IngestionLine[];
  artifacts: ArtifactLine[];
  parent: FamilyLine | null;
  children: FamilyLine[];
  timeline: TimelineLine[];
}
export interface PageText { number: number; source: "native" | "ocr" | "none"; reason: string | null; quality: number | null; text: string }
/** What was read: the text page by page, and what the file says of itself. */
export interface Reading { metadata: Record<string, string>; pages: PageText[] }

export interface Why {
  id: string;
  state: string;
  stage: Stage;
  waiting_for: string;
  attempt: number;
  max_attempts: number;
  last_error: ErrorNote | null;
  next_try_at: Timestamp | null;
  lease: { owner: string; until: Timestamp } | null;
}

export type BatchState = "open" | "sealed" | "finished" | "cancelled";
export interface Batch {
  batch_id: string;
  name: string | null;
  kind: string;
  state: BatchState;
  paused: boolean;
  priority: number;
  expected: number | null;
  received: number;
  children: number;
  open: number;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  duplicates: number;
  dead: number;
  created_at: Timestamp;
  finished_at: Timestamp | null;
  stages?: Partial<Record<Stage, number>>;
}

export interface Worker {
  worker_id: string;
  host: string;
  pid: number;
  slots: number;
  running: number;
  state: string;
  kinds: string[];
  started_at: Timestamp;
  seen_at: Timestamp;
}
export interface Status {
  documents: number;
  ingestions: Record<"in_progress" | "completed" | "failed" | "skipped" | "cancelled", number>;
  tasks: Record<"queued" | "held" | "running" | "dead", number>;
  workers: Worker[];
  docs_per_s: number;
  batches: Batch[];
  index: { watermark: number; last: number };
  paused_kinds: string[];
  free_disk_bytes: number | null;
  last_event: number;
}

export interface Ledger {
  balanced: boolean;
  expected: number;
  completed: number;
  failed: number;
  skipped: Record<string, number>;
  duplicates: number;
  cancelled: number;
  open: number;
  unsealed: string[];
  containers: { id: string; name: string; expected: number; emitted: number; failed: number; ended?: boolean }[];
}

export interface SearchHit {
  document_id: string;
  name: string;
  title: string | null;
  score: number;
  page: number | null;
  snippet: string;
}
export interface SearchAnswer { query: string; mode: string; took_ms: number; hits: SearchHit[] }

export interface ProblemSample { ingestion_id: string; document_id: string | null; name: string; message: string; at: Timestamp | null }
export interface ProblemGroup {
  cause: string;
  code: string;
  /** Documents that have it. */
  count: number;
  /** Of those, the ones that failed; the others are readable without what is missing. */
  failed: number;
  samples: ProblemSample[];
}

export interface DeadLetter {
  task_id: number | string;
  kind: string;
  ingestion_id: string;
  document_id: string | null;
  name: string;
  attempt: number;
  error: ErrorNote | null;
  died_at: Timestamp | null;
}

export interface Count {
  count: number;
  skipped: number;
  reasons?: Record<string, number>;
  batch_id?: string;
  dry_run?: boolean;
}

export interface DoctorCheck { name: string; ok: boolean; detail: string; hint: string | null }
export interface Doctor { ok: boolean; checks: DoctorCheck[] }

export interface ServerEvent {
  id: number;
  type: string;
  time: Timestamp;
  batch_id: string | null;
  document_id: string | null;
  ingestion_id: string | null;
  task_kind: string | null;
  status: "SUCCESS" | "ERROR";
  detail: Record<string, unknown>;
}

/** RFC 9457, with docmill's own members. */
export interface ProblemJson {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  retryable: boolean;
  request_id: string;
  hint?: string;
}

export type Role = "admin" | "write" | "read";
export interface Me { tenant: string; tenant_id: string; name: string; role: Role; key_needed: boolean; version: string }
export interface Key { key_id: string; name: string; role: Role; shown: string; created_at: Timestamp; revoked_at: Timestamp | null }
export interface NewKey extends Key { key: string }
export interface AuditEntry { seq: number; at: Timestamp; actor: string; action: string; subject: string | null; detail: unknown }
export interface AuditLog { entries: AuditEntry[]; next: number; intact: boolean }
