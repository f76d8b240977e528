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
export type DocumentDetail = Schemas["ShowAnswer"];
export type Evidence = Pick<Schemas["Evidence"], "confidence" | "method">;
export type IngestionLine = Schemas["IngestionLine"];
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
export type Why = Schemas["WhyAnswer"];
export type Reprocessed = Schemas["AgainAnswer"];

export type Batch = Schemas["BatchTotals"];
export type Ledger = Schemas["LedgerAnswer"];
/** How many documents there are of what. */
export interface Facets { counted: number; complete: boolean; states: Record<string, number>; types: Record<string, number>; languages: Record<string, number> }
/** Tasks that have kind, stage and state in common. */
export interface WorkLine { kind: string; stage: Stage; state: string; count: number }
export type Worker = Schemas["WorkerLine"];
export type Status = Schemas["StatusAnswer"];
export type SearchHit = Schemas["SearchHit"];
export type SearchAnswer = Schemas["SearchAnswer"];
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
