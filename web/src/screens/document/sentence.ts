/** The state of a document in plain words: what happened, what is missing, what can be done. Pure. */
import type { DocumentDetail, DocumentRecord, Why } from "../../api/types";
import { SURE } from "../../fields/lines";
import { pathName, spoken } from "../../fields/names";
import { cause } from "../../ui/causes";
import { begun, counted, duration, shown } from "../../ui/format";
import { stageName, type Tone } from "../../ui/states";

export interface Sentence { tone: Tone; what: string; detail: string | null; action: string | null }

export function sentence(document: DocumentDetail, why: Why | undefined, now: number): Sentence | null {
  const error = why?.last_error ?? document.ingestions[0]?.error ?? null;
  switch (document.state) {
    case "processing":
      return { tone: "neutral", what: `${stageName(document.status)}${tries(why)}`, detail: why ? begun(why.waiting_for) : null, action: null };
    case "stale":
      return { tone: "amber", what: `No progress for ${sinceProgress(document, now)}`, detail: why ? begun(why.waiting_for) : null, action: "Retry" };
    case "failed": {
      const words = error ? cause(error.kind) : null;
      return {
        tone: "red",
        what: words ? `Failed: ${words.title.toLowerCase()}` : "Failed",
        detail: error ? [shown(error.message), error.hint ?? words?.remedy].filter(Boolean).join(". ") : null,
        action: "Retry processing",
      };
    }
    case "unclassified":
      return { tone: "amber", what: "Read, but without a title", detail: "The file can be opened, searched and downloaded.", action: "Retry classification" };
    case "needs_review":
      return {
        tone: "blue",
        what: error ? `Needs a look: ${cause(error.kind).title.toLowerCase()}` : document.record ? "Its fields need a look" : "Needs a look",
        detail: shown(error?.message ?? document.problems[0]?.message ?? (document.record ? doubts(document.record) : "The result did not pass the checks.")),
        action: "Retry",
      };
    case "unsupported":
      return { tone: "neutral", what: "Stored, but nothing here reads this type", detail: "The file can be downloaded and opened with another program.", action: null };
    case "ready": {
      const [first] = document.problems;
      if (!first) return null;
      // Nothing is missing of what has nothing in it.
      if (first.code === "EMPTY") return { tone: "neutral", what: "Stored, but there is nothing in it", detail: shown(first.message), action: null };
      // Without a word, and with nothing in it, it was not read at all.
      const what = !document.word_count && document.children.length === 0
        ? `Stored, but not read: ${cause(first.kind).title.toLowerCase()}`
        : `Read, with ${counted(document.problems.length, "problem")}`;
      return { tone: "amber", what, detail: shown(first.message), action: null };
    }
  }
}

/** Why a person is asked about a record: what does not hold, else what is only uncertain. */
function doubts({ violations, fields }: DocumentRecord): string {
  const [first] = violations;
  if (first) return begun(spoken(first.message)) + (violations.length > 1 ? `, and ${counted(violations.length - 1, "more doubt")}` : "");
  const unsure = Object.entries(fields).filter(([, field]) => field.confidence < SURE).map(([path]) => pathName(path));
  return unsure.length > 0 ? `Not certain: ${unsure.slice(0, 3).join(", ")}${unsure.length > 3 ? ` and ${unsure.length - 3} more` : ""}.` : "What was found is not certain.";
}

const tries = (why: Why | undefined): string => (why && why.attempt > 0 ? `, try ${why.attempt + 1} of ${why.max_attempts}` : "");

function sinceProgress(document: DocumentDetail, now: number): string {
  const last = document.timeline.reduce((latest, line) => Math.max(latest, new Date(line.at).getTime()), 0);
  return duration(Math.max(0, now - last));
}

