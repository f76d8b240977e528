import { expect, it } from "vitest";
import type { SearchFacets } from "../../src/api/types";
import { FACETS, facetValues, isNarrowed, searchFilter } from "../../src/screens/search/narrow";
import { found } from "../../src/screens/search/SearchScreen";

const facets: SearchFacets = { type: { letter: 1, invoice: 3 }, media_type: { "application/pdf": 4 }, language: { eng: 3, deu: 1 }, year: { 2024: 9, 2026: 1 }, tag: {} };
const values = (param: string, chosen: string | null = null) => {
  const facet = FACETS.find((one) => one.param === param);
  return facet ? facetValues(facet, facets, chosen).map((one) => [one.value, one.name, one.count]) : [];
};

it("counts what was found, the most frequent first and the newest year first", () => {
  expect(values("kind")).toEqual([["invoice", "Invoice", 3], ["letter", "Letter", 1]]);
  expect(values("type")).toEqual([["application/pdf", "PDF", 4]]);
  expect(values("year")).toEqual([["2026", "2026", 1], ["2024", "2024", 9]]);
  expect(values("tag")).toEqual([]);
});

it("shows what is chosen even where nothing has it", () => {
  expect(values("tag", "oak")).toEqual([["oak", "oak", undefined]]);
  expect(values("kind", "letter")).toHaveLength(2);
});

it("asks the server by its own names, a year as all its days", () => {
  const params = new URLSearchParams("q=roof&kind=invoice&type=application/pdf&year=2026&tag=oak");
  expect(searchFilter(params)).toEqual({ type: "invoice", media_type: "application/pdf", language: undefined, tag: "oak", date_from: "2026", date_to: "2026" });
  expect([isNarrowed(params), isNarrowed(new URLSearchParams("q=roof&mode=hybrid"))]).toEqual([true, false]);
});

it("says how many of how many", () => {
  expect([found(3, 3), found(50, 1234), found(1, undefined), found(50, undefined)]).toEqual(["3 hits", "the best 50 of 1,234 hits", "1 hit", "the best 50"]);
});
