/** The one word that is lit on the page and in the text at once. Not React state: the pointer moves often. */
import { reveal } from "../../ui/scroll";

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
