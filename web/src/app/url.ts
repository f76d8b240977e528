/** The part of the address after `?`, as values that screens read and change. */
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";

export type Changes = Record<string, string | number | null>;

/** The parameters with some changed; null takes one away. */
export function changed(search: string, changes: Changes): string {
  const parameters = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") parameters.delete(name);
    else parameters.set(name, String(value));
  }
  return parameters.toString();
}

/** Reads and changes the parameters. `replace` leaves no step to go back to, for what changes with every key stroke. */
export function useParams(): [URLSearchParams, (changes: Changes, replace?: boolean) => void] {
  const search = useSearch();
  const [path, go] = useLocation();
  const values = useMemo(() => new URLSearchParams(search), [search]);
  const set = useCallback(
    (changes: Changes, replace = false) => {
      // The address itself is asked, not the last drawing: two changes may come one right after the other.
      const next = changed(window.location.search, changes);
      go(next ? `${path}?${next}` : path, { replace });
    },
    [path, go],
  );
  return [values, set];
}
