/** The library as it is now: what is in view is asked for again when events say so; what is new waits above. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useEvents } from "../../api/LiveProvider";
import { type LibraryFilter, libraryPage, useLibrary } from "../../api/queries";
import { lines, type Pages, pagesOf, renewed } from "./pages";

export function useLiveLibrary(filter: LibraryFilter) {
  const client = useQueryClient();
  const query = useLibrary(filter);
  const [arrived, setArrived] = useState(0);
  const view = useRef({ first: 0, last: 0 });
  const busy = useRef(false);
  const key = useMemo(() => ["documents", filter] as const, [filter]);
  const all = useMemo(() => lines(query.data?.pages ?? []), [query.data]);

  useEffect(() => setArrived(0), [key]);

  const renew = useCallback(async () => {
    const before = client.getQueryData<Pages>(key);
    if (!before || busy.current) return;
    busy.current = true;
    try {
      const atTop = view.current.first === 0;
      for (const index of pagesOf(before.pages, view.current.first, view.current.last)) {
        if (index === 0 && !atTop) continue;
        const page = await libraryPage(filter, before.pageParams[index] ?? null);
        client.setQueryData<Pages>(key, (now) => (now ? renewed(now, index, page) : now));
      }
      if (atTop) setArrived(0);
    } catch {
      // What is shown stays as it was. The pulse says that the connection is lost, and its return brings events again.
    } finally {
      busy.current = false;
    }
  }, [client, filter, key]);

  useEvents((events) => {
    const added = events.filter((event) => event.type === "DOCUMENT_ADDED").length;
    if (added > 0 && view.current.first > 0) setArrived((n) => n + added);
    if (events.length === 0 || events.some((event) => event.document_id !== null)) void renew();
  });

  const onView = useCallback((first: number, last: number) => { view.current = { first, last }; }, []);
  return { query, all, arrived, renew, onView };
}
