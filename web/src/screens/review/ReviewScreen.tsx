/** One review: the page beside the fields, each lighting the other; every step has a key. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { documentQuery, useMe } from "../../api/queries";
import { reviewQuery, schemaQuery, useReviews, useSchemas } from "../../api/reviews";
import type { ReviewLine } from "../../api/types";
import { useKeys } from "../../app/keys";
import { useParams } from "../../app/url";
import { Failure } from "../../ui/Notice";
import { Page, Skeletons } from "../../ui/Page";
import { imageWidth } from "../document/PageViewer";
import { checksOf, linesOf } from "./lines";
import { nextReview } from "./queue";
import { usePrefetch } from "./usePrefetch";
import { Workplace } from "./Workplace";

/** Which queue is gone through: of all schemas, or of one. */
function useQueue(schema: string | null): ReviewLine[] {
  const reviews = useReviews({ schema: schema ?? undefined });
  return useMemo(() => reviews.data?.pages.flatMap((page) => page.items) ?? [], [reviews.data]);
}

export function ReviewScreen({ id }: { id: string }) {
  const [params] = useParams();
  const [, go] = useLocation();
  const of = params.get("schema");
  const zoom = Number(params.get("zoom")) || 100;
  const queue = useQueue(of);
  const me = useMe().data?.reviewer;
  const next = nextReview(queue, id, me, Date.now())?.review_id ?? null;
  usePrefetch(next, imageWidth(zoom, window.devicePixelRatio));
  const review = useQuery(reviewQuery(id));
  const document = useQuery({ ...documentQuery(review.data?.document_id ?? ""), enabled: review.data !== undefined });
  const schemas = useSchemas();
  const schema = useQuery({ ...schemaQuery(review.data?.schema ?? ""), enabled: review.data !== undefined });
  const back = useCallback(() => go(of ? `/reviews?schema=${encodeURIComponent(of)}` : "/reviews"), [go, of]);
  // What was chosen for the whole queue goes along; page and field are those of one review.
  const onward = useCallback(
    (to: string | null) => {
      if (to === null) return back();
      const kept = new URLSearchParams();
      if (of) kept.set("schema", of);
      if (zoom !== 100) kept.set("zoom", String(zoom));
      go(`/reviews/${to}${kept.size > 0 ? `?${kept}` : ""}`);
    },
    [go, back, of, zoom],
  );
  useKeys({ escape: back, n: () => onward(next) });
  const lines = useMemo(() => (review.data ? linesOf(review.data, schemas, schema.data) : []), [review.data, schemas, schema.data]);
  const error = review.error ?? document.error;
  // Without its schema the fields would stand in another order for a moment, and the cursor in another place.
  const ready = review.data && document.data && (schemas || schema.isFetched);
  if (review.data && document.data && ready) {
    return <Workplace key={id} review={review.data} document={document.data} lines={lines} checks={checksOf(schema.data)} next={next} left={queue.length} onNext={onward} onBack={back} />;
  }
  return (
    <Page title="Review">
      {error ? (
        <>
          <Failure error={error} what={review.error ? "The review could not be had" : "Its document could not be had"} onRetry={() => void (review.error ? review.refetch() : document.refetch())} />
          <p className="px-4"><Link href="/reviews" className="font-medium text-accent-ink underline">Back to the queue</Link></p>
        </>
      ) : <Skeletons lines={12} />}
    </Page>
  );
}
