/** The library as it is now: what is in view is asked for again when events say so; what is new waits above. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useEvents } from "../../api/LiveProvider";
import { type LibraryFilter, libraryPage, useLibrary } from "../../api/queries";
import type { DocumentList } from "../../api/types";
import { lines, type Pages, pagesOf, renewed } from "./pages";

export function useLiveLibrary(filter: LibraryFilter) {
  const client = useQueryClient();
  const query = useLibrary(filter);
  const [arrived, setArrived] = useState(0);
  const view = useRef({ first: 0, last: 0 });
  const busy = useRef(false);
  /** Pages that may no longer be so; those out of view wait until they are scrolled to. */
  const old = useRef(new WeakSet<DocumentList>());
  const heard = useRef(0);
  const key = useMemo(() => ["documents", filter] as const, [filter]);
  const all = useMemo(() => lines(query.data?.pages ?? []), [query.data]);

  const renew = useCallback(async () => {
    if (busy.current) return;
    busy.current = true;
    try {
      for (;;) {
        const now = client.getQueryData<Pages>(key);
        const { first, last } = view.current;
        // Above, what is new would push away what is being read.
        const index = now ? pagesOf(now.pages, first, last).find((one) => old.current.has(now.pages[one] as DocumentList) && (one > 0 || first === 0)) : undefined;
        if (!now || index === undefined) return;
        const before = heard.current;
        const page = await libraryPage(filter, now.pageParams[index] ?? null);
        const after = client.setQueryData<Pages>(key, (then) => (then ? renewed(then, index, page) : then));
        const shown = after?.pages[index];
        // What happened while the answer was on its way may not be in it.
        if (shown && heard.current === before) old.current.delete(shown);
        if (index === 0) setArrived(0);
      }
    } catch {
      // What is shown stays as it was. The pulse says that the connection is lost, and its return brings events again.
    } finally {
      busy.current = false;
    }
  }, [client, filter, key]);

  const grewOld = useCallback(() => {
    heard.current += 1;
    for (const page of client.getQueryData<Pages>(key)?.pages ?? []) old.current.add(page);
    void renew();
  }, [client, key, renew]);

  // A list that was loaded before has heard of nothing since it was left.
  useEffect(() => {
    setArrived(0);
    grewOld();
  }, [grewOld]);

  useEvents((events) => {
    const added = events.filter((event) => event.type === "DOCUMENT_ADDED").length;
    if (added > 0 && view.current.first > 0) setArrived((n) => n + added);
    if (events.length === 0 || events.some((event) => event.document_id !== null)) grewOld();
  });

  const onView = useCallback((first: number, last: number) => {
    view.current = { first, last };
    void renew();
  }, [renew]);
  return { query, all, arrived, onView };
}
