/** The words of a page with their boxes, joined with the same words in the text. Pure. */

export interface Span { from: number; to: number }

/** A part of a text: a word that has a box on the page, or what lies between. */
export interface TextPart { text: string; word: number | null }

/** Words alike but for case and the marks around them. */
export function bare(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase();
  return folded.replace(/[^\p{L}\p{N}]+/gu, "") || folded;
}

/** So many words of the text may be missing on the page before the order of both counts as different. */
const AHEAD = 300;

/**
 * Where in `text` each word of the page stands, null where it does not. Both are in reading order, but neither has to hold
 * all of the other: a word is looked for behind the one before it, then anywhere that is free.
 */
export function align(text: string, words: readonly { text: string }[]): (Span | null)[] {
  const spans: Span[] = [];
  const places = new Map<string, number[]>();
  for (const match of text.matchAll(/\S+/gu)) {
    const key = bare(match[0]);
    const known = places.get(key);
    if (known) known.push(spans.length);
    else places.set(key, [spans.length]);
    spans.push({ from: match.index, to: match.index + match[0].length });
  }
  let next = 0;
  return words.map((word) => {
    const free = places.get(bare(word.text));
    if (!free || free.length === 0) return null;
    const near = free.findIndex((place) => place >= next && place < next + AHEAD);
    const [place] = free.splice(Math.max(near, 0), 1);
    if (place === undefined) return null;
    next = place + 1;
    return spans[place] ?? null;
  });
}

/** `text` from `from` on, cut at the words that have a box. */
export function textParts(text: string, from: number, places: readonly (Span | null)[]): TextPart[] {
  const inside = places
    .map((span, word) => ({ span, word }))
    .filter((one): one is { span: Span; word: number } => one.span !== null && one.span.from >= from && one.span.to <= from + text.length)
    .sort((a, b) => a.span.from - b.span.from);
  const parts: TextPart[] = [];
  let at = 0;
  for (const { span, word } of inside) {
    if (span.from - from > at) parts.push({ text: text.slice(at, span.from - from), word: null });
    parts.push({ text: text.slice(span.from - from, span.to - from), word });
    at = span.to - from;
  }
  if (at < text.length) parts.push({ text: text.slice(at), word: null });
  return parts;
}

/** A page whose longest line is shorter than this is no running text: a receipt, an address. */
const RUNNING = 45;

/**
 * Text as paragraphs: a line that only ended where the paper did goes on in the next one. Every character keeps its place,
 * so that words are still found by their positions. What ends early, or with a figure or a full stop, ends there.
 */
export function flowed(text: string): string {
  const lines = text.split("\n");
  const widest = Math.max(0, ...lines.map((line) => line.trimEnd().length));
  if (widest < RUNNING) return text;
  return lines.map((line, i) => {
    const next = lines[i + 1];
    if (next === undefined) return line;
    const [end, length] = [line.trimEnd(), line.trimEnd().length];
    const goesOn = /^\p{Ll}/u.test(next) ? length >= widest * 0.6 && /[^.:;!?]$/u.test(end) : length >= widest * 0.8 && /[\p{Ll},]$/u.test(end) && /^[\p{L}\p{Sc}(“„"]/u.test(next);
    return line + (goesOn ? " " : "\n");
  }).join("");
}

/** Whether a word of a page is one that was searched for: it begins with one of `wanted`, as in the marks of the text. */
export function isHit(text: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return false;
  const parts = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return parts.some((part) => wanted.some((word) => part.startsWith(word)));
}
