/** Reviews and schemas: what is asked of the server, and what a reviewer decides. */
import { type InfiniteData, queryOptions, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { accessKey, asRefusal, authorization, change, get } from "./http";
import type { Decided, Review, ReviewList, ReviewLock, SchemaDetail, SchemaLine } from "./types";

const PAGE = 100;
const id = encodeURIComponent;

export interface ReviewFilter { schema?: string | undefined; state?: "done" | undefined }

/** The queue, least certain first. */
export const useReviews = (filter: ReviewFilter = {}) =>
  useInfiniteQuery({
    queryKey: ["reviews", filter],
    queryFn: ({ pageParam, signal }) => get<ReviewList>("/v1/reviews", { ...filter, cursor: pageParam, limit: PAGE }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    // Who has what open is no event: a queue that is looked at asks by itself.
    refetchInterval: 10_000,
  });

/** How many wait; null until that is known, or where the server has no reviews. */
export const useOpenReviews = (): number | null =>
  useQuery({
    queryKey: ["reviews", "open"],
    queryFn: ({ signal }) => get<ReviewList>("/v1/reviews", { limit: 1 }, signal),
    staleTime: 10_000,
  }).data?.open ?? null;

export const reviewQuery = (review: string) =>
  queryOptions({
    queryKey: ["review", review],
    queryFn: ({ signal }) => get<Review>(`/v1/reviews/${id(review)}`, {}, signal),
  });

/** The fields of every schema, in their order. They change seldom. */
export const schemasQuery = queryOptions({
  queryKey: ["schemas"],
  staleTime: 60_000,
  queryFn: async ({ signal }) => (await get<{ items: SchemaLine[] }>("/v1/schemas", {}, signal)).items,
});

export const useSchemas = (enabled = true): SchemaLine[] | undefined => useQuery({ ...schemasQuery, enabled }).data;

/** A schema with its checks; null where it is gone. */
export const schemaQuery = (name: string) =>
  queryOptions({
    queryKey: ["schema", name],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<SchemaDetail | null> => {
      try {
        return await get<SchemaDetail>(`/v1/schemas/${id(name)}`, {}, signal);
      } catch (error) {
        if (asRefusal(error).status === 404) return null;
        throw error;
      }
    },
  });

export const takeLock = (review: string): Promise<ReviewLock> => change<ReviewLock>("POST", `/v1/reviews/${id(review)}/lock`, {});

/** Gives the lock back, also while the page is being closed. Nobody waits for the answer: a lock ends by itself. */
export function giveBackLock(review: string): void {
  const headers = accessKey() ? authorization() : {};
  void fetch(`/v1/reviews/${id(review)}/lock`, { method: "DELETE", keepalive: true, headers }).catch(() => undefined);
}

const without = (list: ReviewList, review: string): ReviewList => ({ ...list, items: list.items.filter((one) => one.review_id !== review), open: Math.max(0, list.open - 1) });

export type Choice =
  | { action: "accept"; reason?: string }
  | { action: "correct"; fields: Record<string, string | null>; reason?: string }
  | { action: "reject"; reason: string };

export function useDecide(review: string, document: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ action, ...body }: Choice) => change<Decided>("POST", `/v1/reviews/${id(review)}/${action}`, body),
    // What is decided is out of the queue at once: nobody is led back to it while the queue is asked for again.
    onSuccess: () => {
      client.setQueriesData<InfiniteData<ReviewList> | ReviewList>({ queryKey: ["reviews"] }, (all) =>
        all && ("pages" in all ? { ...all, pages: all.pages.map((page) => without(page, review)) } : without(all, review)));
    },
    // Not waited for: the next review is shown meanwhile.
    onSettled: () => {
      for (const key of [["reviews"], ["review", review], ["document", document], ["facets"], ["status"]]) void client.invalidateQueries({ queryKey: key });
    },
  });
}
