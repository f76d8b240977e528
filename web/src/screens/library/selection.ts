/** Selection by key, click or range. Pure. */

export interface Selection { ids: ReadonlySet<string>; anchor: string | null }

export const NONE: Selection = { ids: new Set(), anchor: null };

export function toggle(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ids, anchor: id };
}

/** Everything from the anchor to `id`, in the order of the list. */
export function extend(selection: Selection, order: string[], id: string): Selection {
  const from = selection.anchor === null ? -1 : order.indexOf(selection.anchor);
  const to = order.indexOf(id);
  if (from < 0 || to < 0) return toggle(selection, id);
  return { ids: new Set([...selection.ids, ...order.slice(Math.min(from, to), Math.max(from, to) + 1)]), anchor: selection.anchor };
}
