/** From a document to its open review. A line of the library does not name it, so it is asked for. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLocation } from "wouter";
import { documentQuery } from "../../api/queries";
import { useSay } from "../../ui/Toasts";

export function useReview(): (id: string) => void {
  const client = useQueryClient();
  const [, go] = useLocation();
  const say = useSay();
  return useCallback(
    (id: string) => {
      client.fetchQuery(documentQuery(id)).then(
        // Without one its own page says what it lacks and what can be done.
        ({ review_id }) => go(review_id ? `/reviews/${review_id}` : `/documents/${id}`),
        (error: unknown) => say.failed("Not opened", error),
      );
    },
    [client, go, say],
  );
}
