/** Every state of a document in words, with an icon and a tone: never colour alone (M-2). */
import { CircleCheck, CircleHelp, CircleX, Clock, Eye, FileQuestion, Loader, type LucideIcon } from "lucide-react";
import type { DocumentState, Stage } from "../api/types";

export type Tone = "quiet" | "neutral" | "amber" | "red" | "blue" | "accent";

export interface StateWords {
  label: string;
  tone: Tone;
  icon: LucideIcon;
  /** What one click can do about it. */
  action: string | null;
}

export const STATES: Record<DocumentState, StateWords> = {
  processing: { label: "Processing", tone: "neutral", icon: Loader, action: null },
  stale: { label: "No progress", tone: "amber", icon: Clock, action: "Retry" },
  ready: { label: "Ready", tone: "quiet", icon: CircleCheck, action: null },
  unclassified: { label: "Unclassified", tone: "amber", icon: CircleHelp, action: "Retry classification" },
  needs_review: { label: "Needs review", tone: "blue", icon: Eye, action: "Review" },
  failed: { label: "Failed", tone: "red", icon: CircleX, action: "Retry processing" },
  unsupported: { label: "Unsupported", tone: "neutral", icon: FileQuestion, action: null },
};

/** The order in which people ask for them. */
export const STATE_ORDER: DocumentState[] = [
  "processing", "stale", "failed", "needs_review", "unclassified", "unsupported", "ready",
];

/** The step that the action of a state tries again; all of them if it names none. */
export const retryFrom = (state: string): Stage | undefined => (state === "unclassified" ? "classifying" : undefined);

/** A state that this page does not know yet is shown by its name. */
export const stateWords = (state: string): StateWords =>
  STATES[state as DocumentState] ?? { label: state, tone: "neutral", icon: CircleHelp, action: null };

const STAGES: Record<Stage, string> = {
  queued: "Waiting", intake: "Looking at it", unpacking: "Unpacking", transcribing: "Reading", rendering: "Drawing pages", classifying: "Classifying", extracting: "Taking fields", embedding: "Learning its meaning", indexing: "Indexing",
  completed: "Done", failed: "Failed", skipped: "Skipped", cancelled: "Cancelled",
};
export const stageName = (stage: string): string => (STAGES as Record<string, string>)[stage] ?? stage;

/** Stages that take time, in flow order. */
export const WORKING: Stage[] = ["queued", "intake", "unpacking", "transcribing", "classifying", "extracting", "indexing"];

/** How far along the way a document is, from its stage alone. */
export function stageShare(stage: string): number {
  const at = WORKING.indexOf(stage as Stage);
  return at < 0 ? 1 : (at + 0.5) / WORKING.length;
}

const RESULTS: Record<string, string> = {
  PASSWORD_PROTECTED: "Password protected", INVALID_FILE: "Damaged", TEXT_UNAVAILABLE: "No text", LIMIT_EXCEEDED: "Limit reached",
  FILE_MISSING_OR_INCOMPLETE: "Incomplete", EMPTY: "Empty", UNSUPPORTED: "Type not supported", KNOWN_SYSTEM_FILE: "System file",
};

/** What a document lacks that went through all the same, in a word or two; null where nothing is to be said. */
export const resultWords = (result: string): string | null => RESULTS[result] ?? null;
