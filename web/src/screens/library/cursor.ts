/** Where the keyboard is in a list that changes under it: at a document, and not at the place where one stood. Pure. */

export interface Cursor { id: string | null; /** Where it stood, to go on from there should it leave the list. */ index: number }

export const NO_CURSOR: Cursor = { id: null, index: 0 };

/** At the document with this id; null where the list does not have it. */
export function placeOf(order: string[], id: string | null): Cursor | null {
  const index = id === null ? -1 : order.indexOf(id);
  return index < 0 ? null : { id, index };
}

/** One on or back; it stops at the ends. What left the list made room for the next one. */
export function moved(cursor: Cursor, order: string[], by: 1 | -1): Cursor {
  const at = cursor.id === null ? -1 : order.indexOf(cursor.id);
  const wanted = at >= 0 ? at + by : by > 0 ? cursor.index : cursor.index - 1;
  const index = Math.max(0, Math.min(order.length - 1, wanted));
  return { id: order[index] ?? null, index };
}
