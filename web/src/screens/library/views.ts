/** Saved views: a name for a filter, kept in this browser. */
import { useSyncExternalStore } from "react";

export interface View { name: string; search: string }
const KEY = "docmill.views";
const listeners = new Set<() => void>();
let views = load();

function load(): View[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? (stored as View[]) : [];
  } catch {
    // Not written by this page: an unreadable list is an empty one.
    return [];
  }
}

function keep(next: View[]): void {
  views = next;
  localStorage.setItem(KEY, JSON.stringify(next));
  for (const listener of listeners) listener();
}

export const saveView = (name: string, search: string): void =>
  keep([...views.filter((view) => view.name !== name), { name, search }]);
export const removeView = (name: string): void => keep(views.filter((view) => view.name !== name));

export function useViews(): View[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => { listeners.delete(listener); };
  }, () => views);
}
