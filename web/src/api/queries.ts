/** What screens ask for. Keys are lists whose first word names the thing, so that events can say what is out of date. */
import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { asRefusal, get } from "./http";
import type {
  AuditLog, Batch, BatchList, DeadLetter, Doctor, DocumentDetail, DocumentList, Facets, Key, Ledger, Me, NearLine, PageWords, ProblemGroup, Reading,
  SearchAnswer, Status, Why, WorkLine, Worker,
} from "./types";

/** Documents of one page of the library. */
export const PAGE = 100;

/** What the library shows, by the names of the interface. */
export interface LibraryFilter {
  state?: string | undefined;
  type?: string | undefined;
  language?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  batch_id?: string | undefined;
  tag?: string | undefined;
  q?: string | undefined;
}

export function libraryPage(filter: LibraryFilter, cursor: string | null, signal?: AbortSignal, limit = PAGE): Promise<DocumentList> {
  return get<DocumentList>("/v1/documents", { ...filter, cursor, limit }, signal);
}

export function useLibrary(filter: LibraryFilter, enabled = true) {
  return useInfiniteQuery({
    enabled,
    queryKey: ["documents", filter],
    queryFn: ({ pageParam, signal }) => libraryPage(filter, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    // Live events bring single pages up to date; asking for all of them again would be too much.
    staleTime: Infinity,
    refetchOnReconnect: false,
  });
}

export const useStatus = () =>
  useQuery({ queryKey: ["status"], queryFn: ({ signal }) => get<Status>("/v1/status", {}, signal), refetchInterval: 5000 });

export const documentQuery = (id: string) =>
  queryOptions({
    queryKey: ["document", id],
    queryFn: ({ signal }) => get<DocumentDetail>(`/v1/documents/${encodeURIComponent(id)}`, {}, signal),
  });

export const useDocument = (id: string, enabled = true) => useQuery({ ...documentQuery(id), enabled });

/** Documents that say nearly the same. */
export const useNear = (id: string) =>
  useQuery({
    queryKey: ["near", id],
    queryFn: async ({ signal }) => (await get<{ items: NearLine[] }>(`/v1/documents/${encodeURIComponent(id)}/near`, {}, signal)).items,
  });

/** Documents that mean something alike, the nearest first. Without a model of meanings the server refuses, and says why. */
export const useSimilar = (id: string) =>
  useQuery({
    queryKey: ["similar", id],
    queryFn: ({ signal }) => get<SearchAnswer>(`/v1/documents/${encodeURIComponent(id)}/similar`, { limit: 5 }, signal),
  });

export const useReading = (id: string) =>
  useQuery({
    queryKey: ["text", id],
    queryFn: ({ signal }) => get<Reading>(`/v1/documents/${encodeURIComponent(id)}/pages`, {}, signal),
  });

/** The words of a page with their boxes; null where the document has none. */
export const pageWordsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ["words", id, page],
    queryFn: async ({ signal }): Promise<PageWords | null> => {
      try {
        return await get<PageWords>(`/v1/documents/${encodeURIComponent(id)}/pages/${page}/words`, {}, signal);
      } catch (error) {
        // No words are an answer: the page is shown without them.
        if ([404, 415, 422].includes(asRefusal(error).status)) return null;
        throw error;
      }
    },
  });

export const usePageWords = (id: string, page: number, enabled: boolean) => useQuery({ ...pageWordsQuery(id, page), enabled });

/** How many documents there are of what; null until that is known. */
export const useFacets = (): Facets | null =>
  useQuery({
    queryKey: ["facets"],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get<Facets>("/v1/facets", {}, signal),
  }).data ?? null;

/** How many documents are an invoice, a letter and so on: a search for what nothing is counts everything. Null until that is known. */
export const useKinds = (): Record<string, number> | null =>
  useQuery({
    queryKey: ["facets", "kinds"],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await get<SearchAnswer>("/v1/search", { q: "-type:nothing", limit: 1 }, signal)).facets?.type ?? {},
  }).data ?? null;

/** Tasks by kind, stage and state, of a batch or of everything that waits and runs; null until they are counted. */
export const useWork = (batch?: string): WorkLine[] | null =>
  useQuery({
    queryKey: ["work", batch ?? null],
    queryFn: ({ signal }) => get<{ work: WorkLine[] }>("/v1/work", { batch_id: batch }, signal),
  }).data?.work ?? null;

export const useWhy = (id: string, enabled: boolean) =>
  useQuery({
    queryKey: ["why", id],
    enabled,
    queryFn: ({ signal }) => get<Why>(`/v1/why/${encodeURIComponent(id)}`, {}, signal),
  });

export type SearchMode = "text" | "semantic" | "hybrid";

/** What a search insists on, by the names of the interface. */
export interface SearchFilter {
  type?: string | undefined;
  media_type?: string | undefined;
  language?: string | undefined;
  tag?: string | undefined;
  date_from?: string | undefined;
  date_to?: string | undefined;
}

export const useSearch = (q: string, limit = 50, mode: SearchMode = "text", filter: SearchFilter = {}) =>
  useQuery({
    queryKey: ["search", q, limit, mode, filter],
    enabled: q.trim() !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get<SearchAnswer>("/v1/search", { q, limit, mode, ...filter }, signal),
  });

export const useProblems = () =>
  useQuery({
    queryKey: ["problems"],
    queryFn: ({ signal }) => get<{ problems: ProblemGroup[] }>("/v1/problems", {}, signal),
  });

export const useBatches = () =>
  useInfiniteQuery({
    queryKey: ["batches"],
    queryFn: ({ pageParam, signal }) => get<BatchList>("/v1/batches", { cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });

export const useBatch = (id: string) =>
  useQuery({
    queryKey: ["batch", id],
    queryFn: ({ signal }) => get<Batch>(`/v1/batches/${encodeURIComponent(id)}`, {}, signal),
  });

export const useLedger = (batch?: string) =>
  useQuery({
    queryKey: ["ledger", batch ?? null],
    queryFn: ({ signal }) =>
      get<Ledger>(batch ? `/v1/batches/${encodeURIComponent(batch)}/audit` : "/v1/ledger", {}, signal),
  });

export const useWorkers = () =>
  useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) => get<{ workers: Worker[] }>("/v1/workers", {}, signal),
    refetchInterval: 5000,
  });

/** So many dead letters are shown; the status says how many there are. */
const DEAD = 500;

export const useDead = () =>
  useQuery({ queryKey: ["dead"], queryFn: ({ signal }) => get<{ dead: DeadLetter[] }>("/v1/dead", { limit: DEAD }, signal) });

export const useDoctor = () =>
  useQuery({
    queryKey: ["doctor"],
    queryFn: ({ signal }) => get<Doctor>("/v1/doctor", {}, signal),
    // It reads and writes on the disk: on demand only.
    staleTime: Infinity,
  });

/** The newest documents; events make it old, unlike the pages of the library. */
export const useLatest = (limit: number) =>
  useQuery({
    queryKey: ["latest", limit],
    queryFn: ({ signal }) => get<DocumentList>("/v1/documents", { limit }, signal),
  });

export const useMe = () =>
  useQuery({ queryKey: ["me"], queryFn: ({ signal }) => get<Me>("/v1/me", {}, signal), staleTime: 60_000 });

export const useKeyList = (enabled: boolean) =>
  useQuery({ queryKey: ["keys"], enabled, queryFn: ({ signal }) => get<{ keys: Key[] }>("/v1/keys", {}, signal) });

/** The log is read from its beginning, because each entry vouches for the one before it. */
const LOG_PAGE = 1000;
const LOG_PAGES_AT_ONCE = 10;

/** The last entries within some thousand behind `after`, whether all those read are intact, and whether there are more. */
async function readLog(after: number, keep: number, signal: AbortSignal): Promise<AuditLog & { more: boolean }> {
  const read: AuditLog & { more: boolean } = { entries: [], next: after, intact: true, more: true };
  for (let page = 0; page < LOG_PAGES_AT_ONCE && read.more; page++) {
    const answer = await get<AuditLog>("/v1/audit-log", { after: read.next, limit: LOG_PAGE }, signal);
    read.entries = [...read.entries, ...answer.entries].slice(-keep);
    read.intact &&= answer.intact;
    read.next = answer.next;
    read.more = answer.entries.length === LOG_PAGE;
  }
  return read;
}

export const useAuditLog = (after: number, enabled: boolean) =>
  useQuery({ queryKey: ["audit-log", after], enabled, queryFn: ({ signal }) => readLog(after, 200, signal) });
