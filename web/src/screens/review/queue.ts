/** The order in which reviews are gone through. Pure. */
import type { ReviewLine } from "../../api/types";

/** Whether somebody else has it open now. */
export const isTaken = (line: Pick<ReviewLine, "locked_by" | "locked_until">, me: string | undefined, now: number): boolean =>
  line.locked_by !== null && line.locked_by !== me && line.locked_until !== null && new Date(line.locked_until).getTime() > now;

/** The one after `id` that nobody else has, then from the top; null where there is no other. */
export function nextReview(queue: ReviewLine[], id: string | null, me: string | undefined, now: number): ReviewLine | null {
  const at = queue.findIndex((line) => line.review_id === id);
  const order = [...queue.slice(at + 1), ...queue.slice(0, Math.max(at, 0))];
  return order.find((line) => line.review_id !== id && line.state === "open" && !isTaken(line, me, now)) ?? null;
}
