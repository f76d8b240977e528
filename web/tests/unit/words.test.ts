import { expect, it } from "vitest";
import { align, bare, flowed, isHit, textParts } from "../../src/screens/document/words";
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

it("lets lines go on that only ended where the paper did, and leaves every character in its place", () => {
  const prose = "The rent is 1,450 a month, payable in advance on the first working day. It is\nreviewed once, on 1 March 2029, and cannot rise by more than the index of retail\nprices has risen since the beginning of the term.\n\nCompany no. 0417 2291\nPage 1 of 3";
  const flowing = flowed(prose);
  expect(flowing.split("\n")).toEqual([expect.stringMatching(/^The rent .* It is reviewed once.* retail prices .*term\.$/), "", "Company no. 0417 2291", "Page 1 of 3"]);
  expect(flowing.length).toBe(prose.length);
  expect(flowed("At the end of the term the tenant removes its machines. The deposit of\n£2,900 is returned.")).not.toContain("\n");
  // Rows, receipts and headings stay lines.
  for (const text of [
    "Building landlord 640,000\nMachines tenant 85,000", "Wood glue\nSandpaper\nlinseed oil",
    "Reading lamp, oak foot, linen shade      6   84.00   504.00\nWall bracket, brass, with screws         2   36.50    73.00",
  ]) expect(flowed(text)).toBe(text);
});
