import { describe, expect, it } from "vitest";
import { blocks, markWords, queryWords, snippetPieces } from "../../src/ui/highlight";

const text = (pieces: { text: string; hit: boolean }[]) => pieces.map((piece) => (piece.hit ? `[${piece.text}]` : piece.text)).join("");

describe("highlight", () => {
  it("marks what the server marked, and leaves markup as text", () => {
    expect(text(snippetPieces("the **quick** <b>fox</b> **jumps**"))).toBe("the [quick] <b>fox</b> [jumps]");
    expect(snippetPieces("")).toEqual([]);
  });

  it("finds the words of a query without its operators", () => {
    expect(queryWords('"Größe A4" AND invoice -x name:(foo)')).toEqual(["größe", "a4", "invoice", "name", "foo"]);
  });

  it("marks words where they begin, in any case and script", () => {
    expect(text(markWords("Invoice reinvoice INVOICES", ["invoice"]))).toBe("[Invoice] reinvoice [INVOICE]S");
    expect(text(markWords("Ärger über Größe", ["größe"]))).toBe("Ärger über [Größe]");
    expect(text(markWords("a+b (c)", ["b"]))).toBe("a+[b] (c)");
  });

  it("cuts long text into blocks that are the text again", () => {
    const long = `${"line of text\n".repeat(1000)}${"x".repeat(9000)}${"😀".repeat(3000)}`;
    const cut = blocks(long);
    expect(cut.join("")).toBe(long);
    expect(cut.length).toBeGreaterThan(5);
    for (const block of cut) expect(block).not.toMatch(/^[\udc00-\udfff]/);
  });
});
