/** The one word that is lit on the page and in the text at once. Not React state: the pointer moves often. */

export interface Lit { word: number; from: "text" | "page" }

export class LitWord {
  private now: Lit | null = null;
  private readonly listeners = new Set<(lit: Lit | null) => void>();

  set(lit: Lit | null): void {
    if (lit?.word === this.now?.word && lit?.from === this.now?.from) return;
    this.now = lit;
    for (const listener of this.listeners) listener(lit);
  }

  /** Tells at once what is lit: the page may be drawn after the pointer has come to rest. */
  subscribe(listener: (lit: Lit | null) => void): () => void {
    this.listeners.add(listener);
    listener(this.now);
    return () => { this.listeners.delete(listener); };
  }
}

/** The word under a pointer. */
export function wordAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest("[data-word]") : null;
  return element ? Number(element.getAttribute("data-word")) : null;
}

/** Lights the word inside `box`, and brings it into view there if the pointer is on the other side. */
export function show(box: HTMLElement | null, lit: Lit | null, here: Lit["from"]): void {
  if (!box) return;
  for (const old of box.querySelectorAll("[data-lit]")) old.removeAttribute("data-lit");
  const word = lit ? box.querySelector(`[data-word="${lit.word}"]`) : null;
  word?.setAttribute("data-lit", "");
  if (word && lit?.from !== here) reveal(word);
}

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
