/** Docs per second since this page was opened, for the chart. It outlives the screen, not the page. */
import { useEffect, useState } from "react";
import type { Status } from "../../api/types";

export const KEPT = 60;
const EVERY_MS = 1000;
let values: number[] = [];
let last = 0;

/** Adds a value, at most one a second, and forgets the oldest. */
export function remember(before: number[], value: number): number[] {
  return [...before.slice(-(KEPT - 1)), value];
}

export function useThroughput(status: Status | undefined): number[] {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!status || Date.now() - last < EVERY_MS) return;
    last = Date.now();
    values = remember(values, status.docs_per_s);
    redraw((n) => n + 1);
  }, [status]);
  return values;
}
