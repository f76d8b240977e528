/** What the library shows: state, type, format, language, time, batch, tag, words, view. Everything is in the address. */
import { Bookmark, CalendarRange, LayoutGrid, Rows3, Search, Tags, X } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { useBatches, useFacets, useKinds } from "../../api/queries";
import { useTags } from "../../api/tags";
import type { DocumentLine, DocumentState } from "../../api/types";
import type { Changes } from "../../app/url";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { capital, count, typeName } from "../../ui/format";
import { MenuItem } from "../../ui/Menu";
import { STATE_ORDER, stateWords } from "../../ui/states";
import { batchName } from "../batches/name";
import { DaysDialog } from "./DaysDialog";
import { type Choice, Facet } from "./Facet";
import { isFiltered, languageName, MOST_FOUND, NO_FILTER, SPANS, timeWords } from "./filter";
import { SaveView } from "./SaveView";

interface Props { params: URLSearchParams; set: (changes: Changes, replace?: boolean) => void; /** What is shown, for a server that does not count. */ lines: DocumentLine[] }

/** Counts as choices, the most frequent first. */
const choices = (counts: Record<string, number>, name: (value: string) => string): Choice[] =>
  Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(0, 20).map(([value, n]) => ({ value, name: name(value), count: n }));

export function Filters({ params, set, lines }: Props) {
  const facets = useFacets();
  const counted = useKinds();
  const batches = useBatches().data?.pages[0]?.batches ?? [];
  const [open, setOpen] = useState<"save" | "days" | null>(null);
  const seen = useMemo<Choice[]>(
    () => [...new Set(lines.map((line) => line.media_type).filter((type) => type !== null))].sort().slice(0, 20).map((value) => ({ value, name: typeName(value) })),
    [lines],
  );
  const types = facets ? choices(facets.types, typeName) : seen;
  const kinds = counted ? choices(counted, capital) : [];
  const languages = facets ? choices(facets.languages, languageName) : [];
  const tags = useTags("", 20).data?.items ?? [];
  const [, go] = useLocation();
  const [kind, type, lang, batch, tag] = [params.get("kind"), params.get("type"), params.get("lang"), params.get("batch"), params.get("tag")];
  const named = batches.find((one) => one.batch_id === batch);
  return (
    <div className="flex flex-col gap-2 border-b border-line bg-surface px-4 py-2 md:px-6">
      <States state={params.get("state")} counts={facets?.states ?? null} all={facets?.complete ? facets.counted : null} onChoose={(state) => set({ state })} />
      <div className="flex flex-wrap items-center gap-2">
        <NameFilter value={params.get("q") ?? ""} onChange={(q) => set({ q: q || null }, true)} />
        {(kinds.length > 0 || kind) && <Facet name="Type" value={kind} label={kind ? capital(kind) : null} choices={kinds} onChoose={(value) => set({ kind: value })} />}
        {(types.length > 0 || type) && <Facet name="Format" value={type} label={type ? typeName(type) : null} choices={types} onChoose={(value) => set({ type: value })} />}
        {(languages.length > 0 || lang) && <Facet name="Language" value={lang} label={lang ? languageName(lang) : null} choices={languages} onChoose={(value) => set({ lang: value })} />}
        {facets && (
          <Facet name="Came in" value={params.get("came")} label={timeWords(params)} choices={SPANS.map(([value, name]) => ({ value, name }))} onChoose={(came) => set({ came, since: null, until: null })}>
            <MenuItem icon={<CalendarRange size={14} aria-hidden />} onSelect={() => setOpen("days")}>From … to …</MenuItem>
          </Facet>
        )}
        {facets && (batches.length > 0 || batch) && (
          <Facet name="Batch" value={batch} label={named ? batchName(named) : batch} choices={batches.slice(0, 15).map((one) => ({ value: one.batch_id, name: batchName(one), count: one.received + one.children }))} onChoose={(value) => set({ batch: value })} />
        )}
        {(tags.length > 0 || tag) && (
          <Facet name="Tag" value={tag} choices={tags.map((one) => ({ value: one.tag, name: one.tag, count: one.documents }))} onChoose={(value) => set({ tag: value })}>
            <MenuItem icon={<Tags size={14} aria-hidden />} onSelect={() => go("/tags")}>All tags…</MenuItem>
          </Facet>
        )}
        {isFiltered(params) && <Button kind="quiet" icon={<X size={14} aria-hidden />} onClick={() => set(NO_FILTER)}>Clear</Button>}
        {isFiltered(params) && <Button kind="quiet" icon={<Bookmark size={14} aria-hidden />} onClick={() => setOpen("save")}>Save view</Button>}
        <div role="group" aria-label="Layout" className="ml-auto flex">
          <Toggle on={params.get("view") !== "grid"} label="Table" onClick={() => set({ view: null })}><Rows3 size={15} aria-hidden /></Toggle>
          <Toggle on={params.get("view") === "grid"} label="Grid" onClick={() => set({ view: "grid" })}><LayoutGrid size={15} aria-hidden /></Toggle>
        </div>
      </div>
      {kind && type && (counted?.[kind] ?? 0) > MOST_FOUND && (
        <p role="note" className="text-xs text-ink-3">{count(MOST_FOUND)} of {count(counted?.[kind] ?? 0)} are looked through for this format; words beside it find the others.</p>
      )}
      {open === "save" && <SaveView search={params.toString()} onClose={() => setOpen(null)} />}
      {open === "days" && <DaysDialog since={params.get("since")} until={params.get("until")} onChoose={(since, until) => { set({ came: null, since, until }); setOpen(null); }} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** All states, or those that there are once that is known. */
function States({ state, counts, all, onChoose }: { state: string | null; counts: Record<string, number> | null; all: number | null; onChoose: (state: string | null) => void }) {
  const there = (name: DocumentState) => !counts || name === state || (counts[name] ?? 0) > 0;
  return (
    <div role="group" aria-label="State" className="-mx-1 flex max-w-full items-center gap-1 overflow-x-auto px-1 py-0.5">
      <Chip on={!state} n={all} onClick={() => onChoose(null)}>All</Chip>
      {STATE_ORDER.filter(there).map((name) => {
        const { icon: Icon, label, tone } = stateWords(name);
        return (
          <Chip key={name} on={state === name} n={counts ? counts[name] ?? 0 : null} onClick={() => onChoose(state === name ? null : name)}>
            <Icon size={13} aria-hidden className={cx({ amber: "text-amber", red: "text-red", blue: "text-blue" }[tone as string] ?? "text-ink-3")} />
            {label}
          </Chip>
        );
      })}
    </div>
  );
}

function Chip({ on, n, onClick, children }: { on: boolean; n: number | null; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onClick}
      className={cx("flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-sm whitespace-nowrap", on ? "border-accent bg-accent-soft font-medium text-accent-ink" : "border-line text-ink-2 hover:bg-hover")}
    >
      {children}
      {n !== null && <span className={cx("text-xs", on ? "text-accent-ink" : "text-ink-3")}>{count(n)}</span>}
    </button>
  );
}

function Toggle({ on, label, onClick, children }: { on: boolean; label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={on}
      aria-label={label}
      title={label}
      onClick={onClick}
      className={cx("grid size-8 place-items-center border border-line-strong first:rounded-l-md last:rounded-r-md last:border-l-0", on ? "bg-accent-soft text-accent-ink" : "bg-surface text-ink-3 hover:bg-hover")}
    >
      {children}
    </button>
  );
}

function NameFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), 250);
    return () => clearTimeout(timer);
  });
  const submit = (event: FormEvent) => { event.preventDefault(); onChange(typed); };
  return (
    <form onSubmit={submit} role="search" className="relative max-sm:w-full">
      <Search size={14} aria-hidden className="pointer-events-none absolute top-2.25 left-2.5 text-ink-3" />
      <input
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        aria-label="Filter"
        placeholder="Filter by words…"
        className="h-8 w-full rounded-md border border-line-strong bg-surface pr-7 pl-8 text-sm placeholder:text-ink-3 sm:w-60"
      />
      {typed && (
        <button type="button" aria-label="Clear the filter" onClick={() => { setTyped(""); onChange(""); }} className="absolute top-1.5 right-1.5 grid size-5 place-items-center text-ink-3 hover:text-ink">
          <X size={13} aria-hidden />
        </button>
      )}
    </form>
  );
}
