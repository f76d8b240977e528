/** Brings something into view inside of what scrolls around it, and leaves the screen itself alone. */

/** Scrolls what scrolls around `element` until it stands on top, or in the middle. */
export function bringTo(element: Element, middle: boolean): void {
  const view = element.closest("[data-scrolls]");
  if (!view) return;
  const [inner, outer] = [element.getBoundingClientRect(), view.getBoundingClientRect()];
  view.scrollTop += inner.top - outer.top - (middle ? outer.height / 2 : 12);
}

/** Scrolls what scrolls around `element` as little as needed. Unlike `scrollIntoView` it leaves the screen itself alone. */
export function reveal(element: Element, room = 24): void {
  const view = element.closest("[data-scrolls]");
  if (!view) return;
  const [inner, outer] = [element.getBoundingClientRect(), view.getBoundingClientRect()];
  if (inner.top < outer.top) view.scrollTop -= outer.top - inner.top + room;
  else if (inner.bottom > outer.bottom) view.scrollTop += inner.bottom - outer.bottom + room;
  if (inner.left < outer.left) view.scrollLeft -= outer.left - inner.left + room;
  else if (inner.right > outer.right) view.scrollLeft += inner.right - outer.right + room;
}

/** Scrolls what scrolls around `element` until it stands in the middle, unless it can be seen with some room around it. */
export function center(element: Element, room = 40): void {
  const view = element.closest("[data-scrolls]");
  if (!view) return;
  const [inner, outer] = [element.getBoundingClientRect(), view.getBoundingClientRect()];
  if (inner.top < outer.top + room || inner.bottom > outer.bottom - room) view.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
  if (inner.left < outer.left + room || inner.right > outer.right - room) view.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}
