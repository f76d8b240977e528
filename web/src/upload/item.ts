/** One file on its way in, and what the tray says about it. Pure. */
import { bytes, percent } from "../ui/format";
import { resultWords } from "../ui/states";

export type UploadState = "waiting" | "sending" | "reading" | "done" | "failed" | "interrupted";

export interface Upload {
  /** Also the idempotency key: a file that is sent twice comes in once. */
  id: string;
  name: string;
  bytes: number;
  sent: number;
  state: UploadState;
  duplicate: boolean;
  documentId: string | null;
  ingestionId: string | null;
  /** What went wrong, or why it waits. */
  note: string | null;
}

export const fresh = (id: string, name: string, size: number): Upload => ({
  id, name, bytes: size, sent: 0, state: "waiting", duplicate: false, documentId: null, ingestionId: null, note: null,
});

/** A file that went through, with what it lacks all the same: a locked one is kept, but nobody has read it. */
export function settled(result: unknown): Partial<Upload> {
  const lacks = typeof result === "string" ? resultWords(result) : null;
  return { state: "done", note: lacks && `stored; ${lacks.toLowerCase()}` };
}

/** After a reload the browser has forgotten the bytes of what was not sent yet. */
export function afterReload(items: Upload[]): Upload[] {
  return items.map((item) =>
    item.state === "waiting" || item.state === "sending"
      ? { ...item, state: "interrupted", note: "the page was reloaded before this file had been sent; add it again" }
      : item,
  );
}

export interface Totals { all: number; bytes: number; sent: number; open: number; failed: number; duplicates: number; reading: number }

export function totals(items: Upload[]): Totals {
  const sum: Totals = { all: items.length, bytes: 0, sent: 0, open: 0, failed: 0, duplicates: 0, reading: 0 };
  for (const item of items) {
    sum.bytes += item.bytes;
    sum.sent += item.state === "waiting" || item.state === "sending" ? item.sent : item.bytes;
    if (item.state === "waiting" || item.state === "sending") sum.open += 1;
    if (item.state === "reading") sum.reading += 1;
    if (item.state === "failed" || item.state === "interrupted") sum.failed += 1;
    if (item.duplicate) sum.duplicates += 1;
  }
  return sum;
}

/** What the line under a name says. */
export function words(item: Upload): string {
  switch (item.state) {
    case "waiting": return item.note ?? "waiting";
    case "sending": return `${percent(item.sent, item.bytes)} of ${bytes(item.bytes)}`;
    case "reading": return item.duplicate ? "already here; being looked at" : "stored; being read";
    case "done": return [item.duplicate ? "duplicate of a document that was here" : null, item.note].filter(Boolean).join("; ") || "ready";
    case "failed": return item.note ?? "failed";
    case "interrupted": return item.note ?? "interrupted";
  }
}
