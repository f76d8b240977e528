/** Decisions and states of reviews in words. Pure. */
import type { Review, ReviewState } from "../../api/types";
import { pathParts, shown } from "../../ui/format";
import type { Tone } from "../../ui/states";

export const STATES: Record<ReviewState, { label: string; tone: Tone }> = {
  open: { label: "Open", tone: "blue" },
  accepted: { label: "Accepted", tone: "accent" },
  corrected: { label: "Corrected", tone: "accent" },
  rejected: { label: "Rejected", tone: "red" },
  superseded: { label: "Superseded", tone: "neutral" },
};

/** A decision that this page does not know yet is shown by its name. */
export const decisionWords = (action: string): string => STATES[action as ReviewState]?.label ?? action;

/** What is said of a review that is closed: "Accepted by ana". */
export function closedWords(review: Pick<Review, "state" | "history">): string {
  if (review.state === "superseded") return "The document was processed again before anybody decided";
  const last = review.history.findLast((one) => one.action === review.state);
  return last ? `${STATES[review.state].label} by ${last.by}` : STATES[review.state].label;
}

/** What a review is called. */
export const reviewTitle = (review: Pick<Review, "title" | "name">): string => (review.title ? shown(review.title) : pathParts(shown(review.name)).file);
