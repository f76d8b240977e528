/** Tags: which there are, which may be the same, and making one of two. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { asRefusal, change, get } from "./http";
import type { TagLine, TagPair } from "./types";

const MOST = 200;

export interface TagList { items: TagLine[]; next: string | null }

/** The most frequent tags in which `containing` occurs; none of a server that keeps no tags. */
export const useTags = (containing = "", limit = MOST) =>
  useQuery({
    queryKey: ["tags", containing, limit],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<TagList> => {
      try {
        return await get<TagList>("/v1/tags", { q: containing, limit }, signal);
      } catch (error) {
        if (asRefusal(error).status === 404) return { items: [], next: null };
        throw error;
      }
    },
  });

export const useSimilarTags = () =>
  useQuery({
    queryKey: ["tags", "similar"],
    queryFn: ({ signal }) => get<{ items: TagPair[]; note: string | null }>("/v1/tags/similar", { limit: 50 }, signal),
  });

export function useMergeTags() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (merge: { from: string; into: string }) => change<{ tag: TagLine; moved: number }>("POST", "/v1/tags/merge", merge),
    onSettled: () => {
      for (const name of ["tags", "documents", "document", "search", "facets"]) void client.invalidateQueries({ queryKey: [name] });
    },
  });
}
