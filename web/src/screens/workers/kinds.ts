/** Kinds of tasks as people say them; `docs/reference/kinds.md` has all of them. */
import type { Worker } from "../../api/types";

export const KINDS: [string, string][] = [
  ["intake-document", "Find out what it is"],
  ["unpack-document", "Take out members"],
  ["extract-text", "Read text"],
  ["extract-text-part", "Read text, a range of pages"],
  ["join-text", "Put parts together"],
  ["classify-document", "Ask a model what it is"],
  ["extract-record", "Take fields"],
];

/** A worker renews its leases every 15 seconds; one that was not heard of for three times that is silent. */
const SILENT_MS = 45_000;

export const silent = (worker: Worker, now: number): boolean => now - new Date(worker.seen_at).getTime() > SILENT_MS;
