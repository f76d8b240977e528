import { useEffect, useState } from "react";
import type { Timestamp } from "../api/types";
import { exact, moment, relative } from "./format";

let ticking: ReturnType<typeof setInterval> | null = null;
const waiting = new Set<() => void>();

/** The time, anew every ten seconds: one clock for all relative times of a page. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const tick = () => setNow(Date.now());
    waiting.add(tick);
    ticking ??= setInterval(() => { for (const wake of waiting) wake(); }, 10_000);
    return () => {
      waiting.delete(tick);
      if (waiting.size === 0 && ticking) {
        clearInterval(ticking);
        ticking = null;
      }
    };
  }, []);
  return now;
}

/** Relative, with the exact time on hover; `brief` leaves out "ago" where there is little room. */
export function Time({ at, className, brief }: { at: Timestamp | null | undefined; className?: string; brief?: boolean }) {
  const now = useNow();
  if (at === null || at === undefined) return <span className={className}>–</span>;
  return (
    <time dateTime={moment(at).toISOString()} title={exact(at)} className={className}>
      {brief ? relative(at, now).replace(/ ago$/, "").replace("just now", "now") : relative(at, now)}
    </time>
  );
}
