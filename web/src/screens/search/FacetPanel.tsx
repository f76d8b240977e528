/** What was found, counted by what it is; each value narrows the search. Beside the hits, or as menus where there is no room. */
import { X } from "lucide-react";
import { useState } from "react";
import type { SearchFacets } from "../../api/types";
import type { Changes } from "../../app/url";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { count, shown } from "../../ui/format";
import { Facet } from "../library/Facet";
import { FACETS, facetValues, isNarrowed, NO_FACET, type SearchFacet } from "./narrow";

interface Props { facets: SearchFacets | undefined; params: URLSearchParams; set: (changes: Changes) => void }

/** So many are shown before somebody asks for all. */
const FIRST = 6;

export function FacetPanel({ facets, params, set }: Props) {
  return (
    <aside aria-label="Narrow the search" className="w-52 shrink-0 max-lg:hidden">
      {FACETS.map((facet) => <Group key={facet.param} facet={facet} facets={facets} chosen={params.get(facet.param)} onChoose={(value) => set({ [facet.param]: value })} />)}
      {isNarrowed(params) && <Button kind="quiet" icon={<X size={14} aria-hidden />} onClick={() => set(NO_FACET)}>Clear the filters</Button>}
    </aside>
  );
}

function Group({ facet, facets, chosen, onChoose }: { facet: SearchFacet; facets: SearchFacets | undefined; chosen: string | null; onChoose: (value: string | null) => void }) {
  const [all, setAll] = useState(false);
  const values = facetValues(facet, facets, chosen);
  if (values.length === 0) return null;
  return (
    <section aria-label={facet.name} className="mb-4">
      <h2 className="mb-1 px-2 text-xs font-semibold text-ink-3">{facet.name}</h2>
      <ul>
        {values.slice(0, all ? values.length : FIRST).map((one) => (
          <li key={one.value}>
            <button
              type="button"
              aria-pressed={one.value === chosen}
              onClick={() => onChoose(one.value === chosen ? null : one.value)}
              className={cx("flex h-7 w-full items-center gap-2 rounded-md px-2 text-left text-sm", one.value === chosen ? "bg-accent-soft font-medium text-accent-ink" : "text-ink-2 hover:bg-hover hover:text-ink")}
            >
              <span className="min-w-0 flex-1 truncate">{shown(one.name)}</span>
              {one.value === chosen ? <X size={13} aria-hidden /> : one.count !== undefined && <span className="text-xs text-ink-3">{count(one.count)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {values.length > FIRST && <button type="button" onClick={() => setAll(!all)} className="px-2 text-xs text-ink-3 hover:text-ink hover:underline">{all ? "Fewer" : `${values.length - FIRST} more`}</button>}
    </section>
  );
}

export function FacetMenus({ facets, params, set }: Props) {
  const there = FACETS.map((facet) => ({ facet, values: facetValues(facet, facets, params.get(facet.param)) })).filter(({ values }) => values.length > 0);
  if (there.length === 0) return null;
  return (
    <div role="group" aria-label="Filters" className="mb-3 flex flex-wrap gap-2 lg:hidden">
      {there.map(({ facet, values }) => <Facet key={facet.param} name={facet.name} value={params.get(facet.param)} choices={values} onChoose={(value) => set({ [facet.param]: value })} />)}
    </div>
  );
}
