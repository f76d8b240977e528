/** What the server answers, by the names that screens use. The forms come from `docs/reference/openapi.json`. */
import type { components } from "./schema";

type Schemas = components["schemas"];

/** RFC 3339. */
export type Timestamp = string;

export type DocumentState = Schemas["DocumentState"];
export type Stage = Schemas["Stage"];
export type IngestionStatus = Schemas["IngestionStatus"];
export type ErrorNote = Schemas["ErrorNote"];
export type ProblemLine = Schemas["ShowAnswer"]["problems"][number];

export type DocumentLine = Schemas["DocumentLine"];
export type DocumentList = Schemas["ListAnswer"];
export type DocumentDetail = Omit<Schemas["ShowAnswer"], "record"> & { record: DocumentRecord | null; /** Its open review. */ review_id?: string | null };
export type Evidence = Pick<Schemas["Evidence"], "confidence" | "method">;
export type IngestionLine = Schemas["IngestionLine"];
/** A document that says nearly the same. */
export type NearLine = Schemas["NearLine"];
export type ArtifactLine = Schemas["ArtifactLine"];
export type FamilyLine = Schemas["FamilyLine"];
export type TimelineLine = Schemas["TimelineLine"];
/** What was read: the text page by page, and what the file says of itself. */
export type Reading = Schemas["PagesAnswer"];
export type PageText = Schemas["Page"];
/** The words of one page, with boxes as shares of the drawn page. */
export interface PageWords {
  number: number;
  width: number;
  height: number;
  source: "native" | "ocr" | "none";
  words: { text: string; x: number; y: number; width: number; height: number; confidence: number | null; line: number }[];
}

/** Where a value stands: its words and the box around them (left, top, width, height) as shares of the drawn page. */
export interface FieldEvidence {
  source: "page" | "embedded" | "metadata";
  page: number | null;
  span: string | null;
  box: [number, number, number, number] | null;
  path: string | null;
}
/** A value of a record by its path (`total_amount`, `items[0].quantity`), and how it was found. */
export interface RecordField { value: unknown; confidence: number; method: string; evidence: FieldEvidence[] }
export interface Violation { field: string; message: string; kind: string }
/** What a document says, by a schema. */
export interface DocumentRecord {
  schema: string;
  version: number;
  data: Record<string, unknown>;
  fields: Record<string, RecordField>;
  /** By the names of the gate: its `rule` is the `kind` of a review. */
  violations: { field: string; message: string; rule: string }[];
  valid: boolean;
  confidence: number;
  model: string | null;
  tokens_in: number;
  tokens_out: number;
}
export interface SchemaField { name: string; type: "text" | "list" | "rows"; critical: boolean; normalise: string | null }
export interface SchemaLine { name: string; version: number; title: string | null; built_in: boolean; fields: SchemaField[] }
/** A schema with its text; of that, screens read the checks. */
export interface SchemaDetail { name: string; version: number; built_in: boolean; schema: { "x-docmill"?: { checks?: SchemaCheck[] } } }
export interface SchemaCheck { name: string; terms?: string[]; total?: string; before?: string; after?: string }

export type ReviewState = "open" | "accepted" | "corrected" | "rejected" | "superseded";
export interface ReviewLine {
  review_id: string;
  document_id: string;
  ingestion_id: string;
  name: string;
  title: string | null;
  schema: string;
  confidence: number;
  reasons: string[];
  fields_missing: number;
  created_at: Timestamp;
  locked_by: string | null;
  locked_until: Timestamp | null;
  state: ReviewState;
}
export interface ReviewList { items: ReviewLine[]; next: string | null; /** How many are open. */ open: number }
export interface Decision { at: Timestamp; by: string; action: string; reason: string | null; changes: Record<string, { before: unknown; after: unknown }> }
export interface Review extends ReviewLine {
  data: Record<string, unknown>;
  fields: Record<string, RecordField>;
  violations: Violation[];
  schema_version: number;
  page_count: number | null;
  history: Decision[];
}
export interface ReviewLock { review_id: string; locked_by: string; locked_until: Timestamp }
export interface Decided { review_id: string; state: ReviewState; next: string | null }

export type Why = Schemas["WhyAnswer"];
export type Reprocessed = Schemas["AgainAnswer"];

export type Batch = Schemas["BatchTotals"];
export type BatchList = Schemas["BatchesAnswer"];
export type Ledger = Schemas["LedgerAnswer"];
/** How many documents there are of what. */
export interface Facets { counted: number; complete: boolean; states: Record<string, number>; /** By media type. */ types: Record<string, number>; /** By what they are: `invoice`. */ kinds?: Record<string, number>; languages: Record<string, number> }
/** Tasks that have kind, stage and state in common. */
export interface WorkLine { kind: string; stage: Stage; state: string; count: number }
export type Worker = Schemas["WorkerLine"];
export type Status = Schemas["StatusAnswer"];
export type SearchHit = Schemas["SearchHit"];
/** How many of the documents that were found are what. */
export interface SearchFacets { type: Record<string, number>; media_type: Record<string, number>; language: Record<string, number>; year: Record<string, number>; tag: Record<string, number> }
export type SearchAnswer = Schemas["SearchAnswer"] & { /** How many were found; the hits are the best of them. */ total?: number; facets?: SearchFacets };
export interface TagLine { tag: string; documents: number }
/** Two tags that may be one. */
export interface TagPair { from: TagLine; into: TagLine; similarity: number; method: string }
export type ProblemGroup = Schemas["ProblemGroup"];
export type DeadLetter = Schemas["DeadLine"];
export type Count = Schemas["CountAnswer"];
export type Doctor = Schemas["DoctorAnswer"];
export type DoctorCheck = Schemas["DoctorCheck"];
export type ServerEvent = Schemas["Event"];

export type Role = Schemas["Role"];
export type Me = Schemas["MeAnswer"];
export type Key = Schemas["KeyLine"];
export type NewKey = Schemas["KeyAnswer"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditLog = Schemas["AuditLogAnswer"];

/** RFC 9457, with docmill's own members. */
export type ProblemJson = Schemas["Problem"];
