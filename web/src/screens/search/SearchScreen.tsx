/** Search by words, by meaning or by both: passages with what was found, and the way to the page. */
import { FileSearch, Search, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { asRefusal } from "../../api/http";
import { type SearchMode, useSearch } from "../../api/queries";
import type { SearchHit } from "../../api/types";
import { useKeys } from "../../app/keys";
import { usePlace } from "../../app/places";
import { setTrail } from "../../app/trail";
import { useParams } from "../../app/url";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { FileIcon } from "../../ui/FileIcon";
import { begun, counted, pathParts, shown } from "../../ui/format";
import { snippetPieces } from "../../ui/highlight";
import { Marked } from "../../ui/Marked";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Skeletons } from "../../ui/Page";
import { Said } from "../../ui/Said";
import { useBlobUrl, usePageImage } from "../../ui/PageImage";
import { typeByName } from "../../ui/typeByName";
import { FacetMenus, FacetPanel } from "./FacetPanel";
import { isNarrowed, NO_FACET, searchFilter } from "./narrow";

/** So many are shown at first, and so many at most: of more, words and filters say which. */
const FIRST = 50;
const MOST = 500;

const MODES: { mode: SearchMode; name: string; hint: string }[] = [
  { mode: "text", name: "Words", hint: "Documents that have these words" },
  { mode: "semantic", name: "Meaning", hint: "Passages that mean something like it, in other words too" },
  { mode: "hybrid", name: "Both", hint: "By words and by meaning together" },
];

/** How many there are, or were shown of more. */
export const found = (shownHits: number, total: number | undefined): string =>
  total !== undefined && total > shownHits ? `the best ${shownHits} of ${counted(total, "hit")}` : total === undefined && shownHits >= FIRST ? `the best ${shownHits}` : counted(shownHits, "hit");

/** Where a hit leads: to the page of its passage, with the words marked. */
export const hitAddress = (hit: SearchHit, query: string): string =>
  `/documents/${hit.document_id}?q=${encodeURIComponent(query)}${hit.page ? `&page=${hit.page}` : ""}`;

export function SearchScreen() {
  const [params, set] = useParams();
  const query = params.get("q") ?? "";
  const [typed, setTyped] = useState(query);
  const [left, keep] = usePlace<number>("hit");
  const [active, setActive] = useState(left ?? -1);
  const [, go] = useLocation();
  const list = useRef<HTMLOListElement>(null);
  const mode = MODES.find((known) => known.mode === params.get("mode"))?.mode ?? "text";
  const filter = useMemo(() => searchFilter(params), [params]);
  const limit = Math.min(MOST, Math.max(FIRST, Number(params.get("hits")) || FIRST));
  const answer = useSearch(query, limit, mode, filter);
  const facets = query.trim() ? answer.data?.facets : undefined;
  const narrowed = isNarrowed(params);
  // Half a query, while it is being typed, or a way to search that is not there: nothing has gone wrong.
  const refusal = answer.error ? asRefusal(answer.error) : null;
  const refused = refusal && (refusal.status === 400 || refusal.code === "missing_dependency") ? refusal : null;
  const hits = useMemo(() => (query.trim() ? answer.data?.hits ?? [] : []), [query, answer.data]);
  const total = answer.data?.total ?? hits.length;
  useEffect(() => setTyped(query), [query]);
  useEffect(() => {
    if (typed === query) return;
    const timer = setTimeout(() => { setActive(-1); set({ q: typed || null, hits: null }, true); }, 200);
    return () => clearTimeout(timer);
  });
  useEffect(() => keep(active), [keep, active]);
  useEffect(() => { if (hits.length > 0) setTrail({ hits: hits.map((hit) => ({ id: hit.document_id, href: hitAddress(hit, query) })) }); }, [hits, query]);
  useEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const down = () => setActive(Math.min(active + 1, hits.length - 1));
  const up = () => setActive(Math.max(active - 1, -1));
  const openHit = () => { const hit = hits[active]; if (hit) go(hitAddress(hit, query)); return Boolean(hit); };
  useKeys({ j: down, k: up, arrowdown: down, arrowup: up, enter: () => { openHit(); } });
  /** From the words to the hits and back without leaving the field; what was typed since is searched for first. */
  const onArrow = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") down();
    else if (event.key === "ArrowUp") up();
    else return;
    event.preventDefault();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (typed !== query || !openHit()) set({ q: typed || null, hits: null });
  };
  return (
    <Page title="Search" note={query && answer.data && !answer.isPlaceholderData ? `${found(hits.length, answer.data.total)} in ${answer.data.took_ms} ms` : null}>
      <div className="mx-auto flex max-w-6xl gap-6 p-4 md:p-6">
        <div className="min-w-0 flex-1">
          <form role="search" onSubmit={onSubmit} className="relative mb-4">
            <Search size={18} aria-hidden className="pointer-events-none absolute top-3 left-3.5 text-ink-3" />
            <input
              autoFocus
              type="search"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              onKeyDown={onArrow}
              aria-label="Search in all documents"
              placeholder="Words, or a “phrase in quotes”"
              className="h-11 w-full rounded-lg border border-line-strong bg-surface pr-11 pl-11 text-base placeholder:text-ink-3 [&::-webkit-search-cancel-button]:hidden"
            />
            {typed && (
              <button type="button" aria-label="Clear" onClick={() => { setTyped(""); set({ q: null }); }} className="absolute top-2.5 right-2.5 grid size-6 place-items-center rounded text-ink-3 hover:bg-hover hover:text-ink">
                <X size={15} aria-hidden />
              </button>
            )}
          </form>
          <div role="group" aria-label="How to search" className="-mt-2 mb-4 flex gap-1">
            {MODES.map((known) => (
              <button
                key={known.mode}
                type="button"
                aria-pressed={known.mode === mode}
                title={known.hint}
                onClick={() => set({ mode: known.mode === "text" ? null : known.mode }, true)}
                className={cx("rounded-md px-2.5 py-1 text-sm", known.mode === mode ? "bg-accent-soft font-medium text-accent-ink" : "text-ink-2 hover:bg-hover")}
              >
                {known.name}
              </button>
            ))}
          </div>
          {(facets || narrowed) && <FacetMenus facets={facets} params={params} set={set} />}
          {query.trim() && answer.data?.note && !answer.error && <p role="status" className="mb-3 text-sm text-ink-2">{answer.data.note}</p>}
          {refused ? (
            <Empty icon={<FileSearch size={20} />} title={shown(begun(refused.message.replaceAll("`", "")))}>
              {refused.hint && <p><Said text={begun(refused.hint)} /></p>}
              {mode !== "text" && <Button onClick={() => set({ mode: null }, true)}>Search by words</Button>}
            </Empty>
          ) : answer.error ? <Failure error={answer.error} what="The search failed" onRetry={() => void answer.refetch()} />
            : !query.trim() ? (
              <Empty icon={<FileSearch size={20} />} title="Search in everything that was read">
                <p>Documents with all the words come first. Quotes keep words together. A hit leads to its page.</p>
              </Empty>
            ) : answer.isPending ? <Skeletons lines={8} />
            : hits.length === 0 ? (
              <Empty icon={<FileSearch size={20} />} title={`Nothing has “${shown(query)}” in it`}>
                <p>{narrowed ? "Nothing that keeps to the filters." : "Look for fewer or other words."} Documents that are still being read are not searchable yet.</p>
                {narrowed && <Button onClick={() => set(NO_FACET)}>Clear the filters</Button>}
              </Empty>
            ) : (
              <>
                <ol ref={list} aria-label="Hits" className={cx("flex flex-col gap-2", answer.isPlaceholderData && "opacity-60")}>
                  {hits.map((hit, i) => <Hit key={hit.document_id} hit={hit} query={query} active={i === active} />)}
                </ol>
                {total > hits.length && (
                  <p className="mt-4 text-center text-sm text-ink-3">
                    {limit < MOST ? <Button busy={answer.isPlaceholderData} onClick={() => set({ hits: limit + FIRST }, true)}>Show more</Button> : "More words, or a filter, bring the others to the top."}
                  </p>
                )}
              </>
            )}
        </div>
        {/* Its place is kept, so that the field stays where it is while somebody types. */}
        {facets || (narrowed && query.trim()) ? <FacetPanel facets={facets} params={params} set={set} /> : <div className="w-52 shrink-0 max-lg:hidden" />}
      </div>
    </Page>
  );
}

function Hit({ hit, query, active }: { hit: SearchHit; query: string; active: boolean }) {
  const { folder, file } = pathParts(shown(hit.name));
  return (
    <li>
      <Link href={hitAddress(hit, query)} className={cx("flex gap-4 rounded-lg border bg-surface px-4 py-3 hover:border-line-strong", active ? "border-accent ring-1 ring-accent" : "border-line")}>
        <HitThumb hit={hit} />
        <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="truncate font-medium">{hit.title ? shown(hit.title) : file}</span>
          <span className="truncate text-xs text-ink-3">{hit.title ? file : folder}</span>
          {hit.page !== null && <span className="ml-auto text-xs whitespace-nowrap text-ink-3">page {hit.page}</span>}
        </div>
        {hit.snippet
          ? <p className="mt-1 line-clamp-3 text-sm break-words text-ink-2"><Marked pieces={snippetPieces(hit.snippet)} /></p>
          : <p className="mt-1 text-sm text-ink-3">found in the name</p>}
        </div>
      </Link>
    </li>
  );
}

/** The page of the hit, small. */
function HitThumb({ hit }: { hit: SearchHit }) {
  const type = typeByName(hit.name);
  const url = useBlobUrl(usePageImage({ document_id: hit.document_id, media_type: type, bytes: 0 }, hit.page ?? 1, 160, type !== null).data);
  return (
    <span aria-hidden className="paper grid h-20 w-15 shrink-0 place-items-center overflow-hidden bg-white max-sm:hidden">
      {url ? <img src={url} alt="" className="size-full object-cover object-top" /> : <span className="grid size-full place-items-center bg-sunken text-ink-3"><FileIcon type={type ?? "text/plain"} size={20} /></span>}
    </span>
  );
}
