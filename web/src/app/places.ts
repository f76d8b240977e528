/**
 * Where somebody was on a screen that he left. It belongs to the step in the browser's history and not to the address: who
 * goes back wants to go on where he was, who follows a link wants to begin. Kept until the page is loaded anew.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import { useSearch } from "wouter";
import { randomId } from "../ui/plain";

const places = new Map<string, unknown>();

/** The name of the step that is shown; a new one has none yet. */
const knownStep = (): string | undefined => (history.state as { step?: string } | null)?.step;

function namedStep(): string {
  const known = knownStep();
  if (known) return known;
  const step = randomId();
  history.replaceState({ step }, "");
  return step;
}

/** What was kept under `name` when this step was left, and how to keep what is so now. */
export function usePlace<T>(name: string): [left: T | undefined, keep: (now: T) => void] {
  const step = useRef("");
  const search = useSearch();
  const [left] = useState(() => places.get(`${knownStep()} ${name}`) as T | undefined);
  // Filters that change are another step, or the same one under another name.
  useEffect(() => { step.current = namedStep(); }, [search]);
  const keep = useCallback((now: T) => { places.set(`${step.current} ${name}`, now); }, [name]);
  return [left, keep];
}
