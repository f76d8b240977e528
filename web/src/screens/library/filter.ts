/** What the address asks the library for. Pure. */
import type { LibraryFilter } from "../../api/queries";

/** Spans of time that people ask for, counted in whole days that end today. */
export const SPANS: [string, string, number][] = [["today", "Today", 1], ["week", "Last 7 days", 7], ["month", "Last 30 days", 30], ["year", "Last 365 days", 365]];

/** The parts of the address that filter; the layout does not. */
export const FILTERS = ["state", "kind", "type", "lang", "came", "since", "until", "batch", "tag", "q"] as const;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Midnight where the user is, `days` after `day`. */
function midnight(day: Date, days: number): string {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).toISOString();
}

/** A day of the address as a moment; nothing if it is no day. */
function moment(day: string | null, days: number): string | undefined {
  if (!day || !DAY.test(day)) return undefined;
  const at = new Date(`${day}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : midnight(at, days);
}

/** So many documents are found by words at most. */
export const MOST_FOUND = 1000;

/**
 * What is typed, together with what the documents are to be where their format is asked for beside it: the interface has one
 * place for both. That comes first: a quotation mark without its partner reaches to the end.
 */
export function wordsOf(kind: string | null, typed: string | null): string | undefined {
  if (!kind) return typed ?? undefined;
  return [`type:"${kind.replaceAll('"', "")}"`, (typed ?? "").trim().replace(/^(OR\s+)+/, "")].filter(Boolean).join(" ");
}

export function filterOf(params: URLSearchParams, now: Date): LibraryFilter {
  const [kind, format] = [params.get("kind"), params.get("type")];
  const span = SPANS.find(([id]) => id === params.get("came"));
  return {
    state: params.get("state") ?? undefined,
    type: format ?? kind ?? undefined,
    language: params.get("lang") ?? undefined,
    since: span ? midnight(now, 1 - span[2]) : moment(params.get("since"), 0),
    // The last day counts whole.
    until: span ? undefined : moment(params.get("until"), 1),
    batch_id: params.get("batch") ?? undefined,
    tag: params.get("tag") ?? undefined,
    q: wordsOf(format ? kind : null, params.get("q")),
  };
}

export const isFiltered = (params: URLSearchParams): boolean => FILTERS.some((name) => params.get(name));

/** What makes an address show everything. */
export const NO_FILTER = Object.fromEntries(FILTERS.map((name) => [name, null]));

/** The time that was asked for, in words; null where none was. */
export function timeWords(params: URLSearchParams): string | null {
  const span = SPANS.find(([id]) => id === params.get("came"));
  if (span) return span[1];
  const [since, until] = [params.get("since"), params.get("until")];
  if (since && until) return since === until ? since : `${since} – ${until}`;
  return since ? `since ${since}` : until ? `until ${until}` : null;
}

const languages = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** A language as people say it. */
export function languageName(code: string): string {
  try {
    return languages.of(code) ?? code;
  } catch {
    // Not a language tag: what a file says of itself may be anything.
    return code;
  }
}
