/** Keys, in one place: screens say what theirs do, and the newest screen hears them first. */
import { useEffect, useRef } from "react";

/** A key that has nothing to do just now is `undefined`. */
export type KeyMap = Record<string, ((event: KeyboardEvent) => void) | undefined>;

const stack: { current: KeyMap }[] = [];
let pending: { key: string; until: number } | null = null;
/** Two keys one after the other (`g l`) belong together within this time. */
const TOGETHER_MS = 1200;

/** The name of a key stroke as maps write it: `j`, `ctrl+k`, `?`. Null for what is typed into a field. */
export function strokeName(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">): string | null {
  if (event.altKey) return null;
  const key = event.key.length === 1 ? event.key : event.key.toLowerCase();
  return event.ctrlKey || event.metaKey ? `ctrl+${key.toLowerCase()}` : key;
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** The action for a stroke, also as the second of two. */
export function resolve(maps: KeyMap[], before: string | null, stroke: string): string | null {
  const both = before ? `${before} ${stroke}` : null;
  for (const map of maps) if (both && map[both]) return both;
  for (const map of maps) if (map[stroke]) return stroke;
  return null;
}

function onKey(event: KeyboardEvent): void {
  const stroke = strokeName(event);
  if (!stroke || event.defaultPrevented) return;
  const always = stroke.startsWith("ctrl+");
  if (!always && (typing(event.target) || document.querySelector("dialog[open], [role=menu]"))) return;
  // Enter and space belong to the control that has the focus.
  if ((stroke === "enter" || stroke === " ") && event.target instanceof HTMLElement && event.target.closest("button, a, summary, [role=menuitem]")) return;
  const maps = stack.map((entry) => entry.current).reverse();
  const before = pending && pending.until > Date.now() ? pending.key : null;
  pending = null;
  const found = resolve(maps, before, stroke);
  if (found) {
    event.preventDefault();
    maps.find((map) => map[found])?.[found]?.(event);
  } else if (maps.some((map) => Object.keys(map).some((key) => key.startsWith(`${stroke} `)))) {
    pending = { key: stroke, until: Date.now() + TOGETHER_MS };
  }
}

export function useKeys(map: KeyMap): void {
  const entry = useRef(map);
  entry.current = map;
  useEffect(() => {
    if (stack.length === 0) window.addEventListener("keydown", onKey);
    stack.push(entry);
    return () => {
      stack.splice(stack.indexOf(entry), 1);
      if (stack.length === 0) window.removeEventListener("keydown", onKey);
    };
  }, []);
}

/** What `?` shows. */
export const ALL_KEYS: { group: string; keys: [string, string][] }[] = [
  { group: "Everywhere", keys: [["/", "Search and commands"], ["Ctrl K", "Search and commands"], ["u", "Upload files"], ["?", "All keys"], ["Esc", "Back, or close"]] },
  { group: "Go to", keys: [["g o", "Overview"], ["g l", "Library"], ["g s", "Search"], ["g r", "Review"], ["g p", "Problems"], ["g b", "Batches"], ["g w", "Workers"], ["g d", "Dead letters"], ["g a", "Access"], ["g ,", "Settings"]] },
  { group: "In lists", keys: [["j", "Next"], ["k", "Previous"], ["Enter", "Open"], ["x", "Select"], ["Shift X", "Select up to here"], ["r", "Retry"]] },
  { group: "In a document", keys: [["j", "Next document of the list"], ["k", "Previous document"], ["]", "Next page"], ["[", "Previous page"], ["+", "Zoom in"], ["-", "Zoom out"], ["r", "Reprocess"]] },
  { group: "In a review", keys: [["j", "Next field"], ["k", "Previous field"], ["Enter", "Right as it is; the last accepts"], ["e", "Edit the field"], ["a", "Accept the record"], ["r", "Reject with a reason"], ["n", "Next review"]] },
];
