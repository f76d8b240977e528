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

/** A step back, but never out of docmill: who came by a link from elsewhere is led to `otherwise`. */
export function useBack(otherwise: string): () => void {
  const [, go] = useLocation();
  return useCallback(() => {
    // Browsers that do not know say how long the history is, which is right for a new tab at least.
    const { navigation } = window as { navigation?: { canGoBack: boolean } };
    if (navigation?.canGoBack ?? history.length > 1) history.back();
    else go(otherwise);
  }, [go, otherwise]);
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
