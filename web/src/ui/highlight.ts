/** Words found in text, as parts that are drawn as text: nothing from a document is ever markup. Pure. */

export interface Piece { text: string; hit: boolean }

/** A snippet with `**` around what was found. */
export function snippetPieces(snippet: string): Piece[] {
  return snippet
    .split("**")
    .map((text, i) => ({ text, hit: i % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}

/** The words of a query that can be looked for: quotes, operators and field names are the server's business. */
export function queryWords(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !["and", "or", "not"].includes(word)))];
}

/** `text` with the words marked where a word of it begins with one of them. */
export function markWords(text: string, words: string[]): Piece[] {
  if (words.length === 0 || text === "") return [{ text, hit: false }];
  const any = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})`, "giu");
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), hit: false });
    pieces.push({ text: match[0], hit: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), hit: false });
  return pieces;
}

/** Long text in blocks at ends of lines, so that only those in view are laid out. */
export function blocks(text: string, size = 4000): string[] {
  const found: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(from + size, text.length);
    if (to < text.length) {
      const line = text.indexOf("\n", to);
      // A line without an end is cut, but never inside a character.
      to = line >= 0 && line - to < size ? line + 1 : to + (/[\udc00-\udfff]/.test(text[to] ?? "") ? 1 : 0);
    }
    found.push(text.slice(from, to));
    from = to;
  }
  return found;
}
