/** Changes that nobody has decided yet, kept for this tab: a review that is left for a moment, or a reload, loses none. */
import type { Drafts } from "./desk";

const key = (review: string): string => `docmill.review.${review}`;

export function storedDrafts(review: string): Drafts {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key(review)) ?? "{}");
    return stored && typeof stored === "object" ? (stored as Drafts) : {};
  } catch {
    // Not written by this page.
    return {};
  }
}

export function storeDrafts(review: string, drafts: Drafts): void {
  if (Object.keys(drafts).length > 0) sessionStorage.setItem(key(review), JSON.stringify(drafts));
  else sessionStorage.removeItem(key(review));
}
