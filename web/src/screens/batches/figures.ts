/** What a batch's totals mean. Pure. */
import type { Batch, WorkLine } from "../../api/types";
import { count } from "../../ui/format";
import { WORKING } from "../../ui/states";

export interface Progress { all: number; ended: number; share: number }

/** How much has ended of what is known. Until a batch is sealed, its whole is what has come in. */
export function progress(batch: Batch): Progress {
  const all = Math.max(batch.received + batch.children, (batch.expected ?? 0) + batch.children);
  const ended = batch.completed + batch.failed + batch.skipped + batch.cancelled;
  return { all, ended, share: all === 0 ? (isOver(batch) ? 1 : 0) : ended / all };
}

export const isOver = (batch: Batch): boolean => batch.state === "finished" || batch.state === "cancelled";

/** Milliseconds until the end at the pace so far; null where that would be a guess. */
export function eta(batch: Batch, now: number): number | null {
  if (isOver(batch) || batch.paused) return null;
  const { all, ended } = progress(batch);
  const elapsed = now - new Date(batch.created_at).getTime();
  if (ended < 5 || elapsed < 2000 || all <= ended) return null;
  return (elapsed / ended) * (all - ended);
}

/** Documents a second, over the life of the batch. */
export function pace(batch: Batch, now: number): number {
  const until = batch.finished_at === null ? now : new Date(batch.finished_at).getTime();
  const seconds = (until - new Date(batch.created_at).getTime()) / 1000;
  return seconds <= 0 ? 0 : progress(batch).ended / seconds;
}

export function stateName(batch: Batch): string {
  if (batch.paused && !isOver(batch)) return "Paused";
  return { open: "Receiving", sealed: "Processing", finished: "Finished", cancelled: "Cancelled" }[batch.state] ?? batch.state;
}

/** "8 expected = 7 done + 1 failed", with what is still open. */
export function ledgerLine(ledger: { expected: number; completed: number; failed: number; skipped: number; cancelled: number; open: number }): { expected: number; terms: [number, string][] } {
  const terms: [number, string][] = [[ledger.completed, "done"]];
  for (const [value, name] of [[ledger.failed, "failed"], [ledger.skipped, "skipped"], [ledger.cancelled, "cancelled"], [ledger.open, "open"]] as [number, string][]) {
    if (value > 0) terms.push([value, name]);
  }
  return { expected: ledger.expected, terms };
}

export interface StageRow { stage: string; all: number; done: number; failed: number; running: number; waiting: number }

/** Tasks by the stage they belong to, in flow order. */
export function stages(work: WorkLine[]): StageRow[] {
  const rows = new Map<string, StageRow>();
  for (const { stage, state, count: n } of work) {
    const row = rows.get(stage) ?? { stage, all: 0, done: 0, failed: 0, running: 0, waiting: 0 };
    row.all += n;
    if (state === "done") row.done += n;
    else if (state === "running") row.running += n;
    else if (state === "dead" || state === "dropped") row.failed += n;
    else if (state !== "cancelled") row.waiting += n;
    rows.set(stage, row);
  }
  const place = (row: StageRow) => (WORKING as string[]).indexOf(row.stage);
  return [...rows.values()].sort((a, b) => place(a) - place(b));
}

/** "12 waiting, 3 running", or that nothing is left to do. */
export function stageWords(rows: StageRow[]): string {
  const sum = (of: (row: StageRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const parts: [number, string][] = [[sum((row) => row.waiting), "waiting"], [sum((row) => row.running), "running"], [sum((row) => row.failed), "given up"]];
  const words = parts.filter(([n]) => n > 0).map(([n, name]) => `${count(n)} ${name}`);
  return words.length > 0 ? words.join(", ") : "nothing is left to do";
}
