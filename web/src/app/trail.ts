/** What is gone through document by document: the list that the first of them was opened from. Kept until the page is loaded anew. */
import { useEffect, useMemo, useState } from "react";
import { type LibraryFilter, useLibrary } from "../api/queries";
import { lines } from "../screens/library/pages";

export interface Stop { id: string; href: string }
/** A list of the library goes on where it was loaded up to; hits are those that were found. */
type Trail = { filter: LibraryFilter } | { hits: Stop[] };

let trail: Trail | null = null;
let seen: string | null = null;

export const setTrail = (next: Trail): void => { trail = next; };
/** The document that was looked at last: in its list the cursor goes there. */
export const lastSeen = (): string | null => seen;

const NOWHERE: LibraryFilter = {};
/** So many before its end a list is asked for more. */
const AHEAD = 5;

/** What comes before and after a document where it was opened from a list. */
export function useTrail(id: string): { previous: Stop | null; next: Stop | null } {
  const [on] = useState(trail);
  const filter = on && "filter" in on ? on.filter : null;
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useLibrary(filter ?? NOWHERE, filter !== null);
  const stops = useMemo<Stop[]>(
    () => (on && "hits" in on ? on.hits : filter ? lines(data?.pages ?? []).map((line) => ({ id: line.document_id, href: `/documents/${line.document_id}` })) : []),
    [on, filter, data],
  );
  const at = stops.findIndex((stop) => stop.id === id);
  useEffect(() => { seen = id; }, [id]);
  const wanted = filter !== null && at >= stops.length - AHEAD && hasNextPage && !isFetchingNextPage;
  useEffect(() => { if (wanted) void fetchNextPage(); }, [wanted, fetchNextPage]);
  return { previous: at < 0 ? null : stops[at - 1] ?? null, next: at < 0 ? null : stops[at + 1] ?? null };
}
