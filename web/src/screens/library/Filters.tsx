/** What the library shows: state, type, words, view. Everything is in the address. */
import { Bookmark, ChevronDown, LayoutGrid, Rows3, Search, X } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import type { Changes } from "../../app/url";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { typeName } from "../../ui/format";
import { Menu, MenuItem, MenuLabel } from "../../ui/Menu";
import { STATE_ORDER, stateWords } from "../../ui/states";
import { SaveView } from "./SaveView";

interface Props { params: URLSearchParams; set: (changes: Changes, replace?: boolean) => void; /** Media types that can be chosen. */ types: string[] }

export function Filters({ params, set, types }: Props) {
  const state = params.get("state");
  const type = params.get("type");
  const [saving, setSaving] = useState(false);
  const filtered = state || type || params.get("q");
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-4 py-2 md:px-6">
      <div role="group" aria-label="State" className="-mx-1 flex max-w-full items-center gap-1 overflow-x-auto px-1 py-0.5">
        <Chip on={!state} onClick={() => set({ state: null })}>All</Chip>
        {STATE_ORDER.map((name) => (
          <Chip key={name} on={state === name} onClick={() => set({ state: state === name ? null : name })}>
            {stateWords(name).label}
          </Chip>
        ))}
      </div>
      <div className="ml-auto flex flex-wrap items-center gap-2">
        {(types.length > 0 || type) && (
          <Menu trigger={<Button className={cx(type && "border-accent text-accent-ink")}>{type ? typeName(type) : "Type"}<ChevronDown size={14} aria-hidden /></Button>}>
            <MenuLabel>Type</MenuLabel>
            <MenuItem onSelect={() => set({ type: null })}>All types</MenuItem>
            {types.slice(0, 20).map((name) => (
              <MenuItem key={name} onSelect={() => set({ type: name })}>{typeName(name)}</MenuItem>
            ))}
          </Menu>
        )}
        <NameFilter value={params.get("q") ?? ""} onChange={(q) => set({ q: q || null }, true)} />
        {filtered && <Button kind="quiet" square aria-label="Save this view" icon={<Bookmark size={16} aria-hidden />} onClick={() => setSaving(true)} />}
        <div role="group" aria-label="Layout" className="flex">
          <Toggle on={params.get("view") !== "grid"} label="Table" onClick={() => set({ view: null })}><Rows3 size={15} aria-hidden /></Toggle>
          <Toggle on={params.get("view") === "grid"} label="Grid" onClick={() => set({ view: "grid" })}><LayoutGrid size={15} aria-hidden /></Toggle>
        </div>
      </div>
      {saving && <SaveView search={params.toString()} onClose={() => setSaving(false)} />}
    </div>
  );
}

function Chip({ on, onClick, children }: { on: boolean; onClick: () => void; children: string }) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onClick}
      className={cx("flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-sm whitespace-nowrap", on ? "border-accent bg-accent-soft font-medium text-accent-ink" : "border-line text-ink-2 hover:bg-hover")}
    >
      {children}
    </button>
  );
}

function Toggle({ on, label, onClick, children }: { on: boolean; label: string; onClick: () => void; children: React.ReactNode }) {
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
    <form onSubmit={submit} role="search" className="relative">
      <Search size={14} aria-hidden className="pointer-events-none absolute top-2.25 left-2.5 text-ink-3" />
      <input
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        aria-label="Filter"
        placeholder="Filter…"
        className="h-8 w-44 rounded-md border border-line-strong bg-surface pr-7 pl-8 text-sm placeholder:text-ink-3"
      />
      {typed && (
        <button type="button" aria-label="Clear the filter" onClick={() => { setTyped(""); onChange(""); }} className="absolute top-1.5 right-1.5 grid size-5 place-items-center text-ink-3 hover:text-ink">
          <X size={13} aria-hidden />
        </button>
      )}
    </form>
  );
}
