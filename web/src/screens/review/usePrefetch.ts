/** The next review before it is asked for: its data, its page as an image, and the words on it. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { documentQuery, pageWordsQuery } from "../../api/queries";
import { reviewQuery, schemaQuery, schemasQuery } from "../../api/reviews";
import { pageImageQuery } from "../../ui/PageImage";
import { linesOf } from "./lines";
import { opened } from "./desk";
import { pageOf } from "../../fields/lines";

export function usePrefetch(review: string | null, width: number): void {
  const client = useQueryClient();
  useEffect(() => {
    if (review === null) return;
    const fetch = async () => {
      const one = await client.fetchQuery(reviewQuery(review));
      const [document, schemas, schema] = await Promise.all([
        client.fetchQuery(documentQuery(one.document_id)), client.fetchQuery(schemasQuery), client.fetchQuery(schemaQuery(one.schema)),
      ]);
      const lines = linesOf(one, schemas, schema);
      const { active } = opened(lines);
      const page = pageOf(lines.find((line) => line.path === active)) ?? 1;
      await Promise.all([
        client.prefetchQuery(pageImageQuery(document, page, width)),
        // The document screen tells by it whether there are images at all.
        client.prefetchQuery(pageWordsQuery(document.document_id, page)),
      ]);
    };
    // What cannot be had early is asked for, and complained about, when it is opened.
    fetch().catch(() => undefined);
  }, [review, width, client]);
}
