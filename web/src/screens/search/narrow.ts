/** What the address insists on beside the words of a search. Pure. */
import type { SearchFilter } from "../../api/queries";
import type { SearchFacets } from "../../api/types";
import { capital, typeName } from "../../ui/format";
import { languageName } from "../library/filter";

export interface SearchFacet { /** In the address. */ param: string; name: string; of: keyof SearchFacets; say: (value: string) => string }

export const FACETS: SearchFacet[] = [
  { param: "kind", name: "Type", of: "type", say: capital },
  { param: "type", name: "Format", of: "media_type", say: typeName },
  { param: "lang", name: "Language", of: "language", say: languageName },
  { param: "year", name: "Year", of: "year", say: (year) => year },
  { param: "tag", name: "Tag", of: "tag", say: (tag) => tag },
];

export const NO_FACET = Object.fromEntries(FACETS.map(({ param }) => [param, null]));

export const isNarrowed = (params: URLSearchParams): boolean => FACETS.some(({ param }) => params.get(param));

export function searchFilter(params: URLSearchParams): SearchFilter {
  const value = (name: string) => params.get(name) ?? undefined;
  // A year is all its days.
  return { type: value("kind"), media_type: value("type"), language: value("lang"), tag: value("tag"), date_from: value("year"), date_to: value("year") };
}

/** The values of a facet, the most frequent first, years the newest first; what is chosen is always there. */
export function facetValues(facet: SearchFacet, facets: SearchFacets | undefined, chosen: string | null): { value: string; name: string; count: number | undefined }[] {
  const counts = Object.entries(facets?.[facet.of] ?? {});
  counts.sort(([a, n], [b, m]) => (facet.of === "year" ? b.localeCompare(a) : m - n || a.localeCompare(b)));
  const values = counts.map(([value, count]) => ({ value, name: facet.say(value), count: count as number | undefined }));
  if (chosen && !values.some((one) => one.value === chosen)) values.unshift({ value: chosen, name: facet.say(chosen), count: undefined });
  return values;
}
