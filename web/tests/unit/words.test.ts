import { expect, it } from "vitest";
import { align, bare, isHit, textParts } from "../../src/screens/document/words";
import { imageWidth } from "../../src/screens/document/PageViewer";

const words = (...texts: string[]) => texts.map((text) => ({ text }));
const found = (text: string, ...texts: string[]) =>
  align(text, words(...texts)).map((span) => (span ? text.slice(span.from, span.to) : null));

it("finds each word of a page in its text, in order", () => {
  expect(found("Dear Ms Ortiz,\nthe lamp and the shade", "Dear", "Ms", "Ortiz,", "the", "lamp", "and", "the", "shade"))
    .toEqual(["Dear", "Ms", "Ortiz,", "the", "lamp", "and", "the", "shade"]);
  expect(align("a b a", words("a", "b", "a")).map((span) => span?.from)).toEqual([0, 2, 4]);
});

it("goes on behind words that one side lacks, and behind another order", () => {
  expect(found("one three", "one", "two", "three")).toEqual(["one", null, "three"]);
  expect(align("right left", words("left", "right")).map((span) => span?.from)).toEqual([6, 0]);
  expect(found("total: 12.50", "Total", "12,50")).toEqual(["total:", "12.50"]);
  expect(found("", "one")).toEqual([null]);
  // A word that stands once is given away once.
  expect(found("once", "once", "once")).toEqual(["once", null]);
});

it("cuts a text at its words and loses nothing of it", () => {
  const text = "  Dear  <b>Ms</b>\nOrtiz ";
  const parts = textParts(text, 0, align(text, words("Dear", "Ortiz")));
  expect(parts.map((part) => part.text).join("")).toBe(text);
  expect(parts.filter((part) => part.word !== null)).toEqual([{ text: "Dear", word: 0 }, { text: "Ortiz", word: 1 }]);
  const block = text.slice(8);
  expect(textParts(block, 8, align(text, words("Dear", "Ortiz"))).map((part) => part.text).join("")).toBe(block);
});

it("compares words without case and marks, but never loses a word of marks alone", () => {
  expect(bare("„Größe“,")).toBe("größe");
  expect(bare("—")).toBe("—");
});

it("marks a word on the page as in the text: by its beginning", () => {
  expect(isHit("Invoice:", ["inv"])).toBe(true);
  expect(isHit("pre-paid", ["paid"])).toBe(true);
  expect(isHit("unpaid", ["paid"])).toBe(false);
  expect(isHit("anything", [])).toBe(false);
});

it("asks for an image that is sharp enough, and never for more than the largest", () => {
  expect([imageWidth(50, 1), imageWidth(100, 1), imageWidth(100, 2), imageWidth(300, 3)]).toEqual([800, 1200, 2400, 2400]);
});
