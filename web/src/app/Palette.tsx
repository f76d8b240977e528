/** Go to, search, act: one field for all. */
import { ArrowRight, FileText, Keyboard, RefreshCw, Search, SunMoon, Upload } from "lucide-react";
import { type ReactNode, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useSearch } from "../api/queries";
import { cx } from "../ui/cx";
import { Dialog } from "../ui/Dialog";
import { pathParts, shown } from "../ui/format";
import { SCREENS } from "./nav";
import { flipTheme } from "./theme";

interface Item { id: string; group: string; name: string; note?: string; icon: ReactNode; run: () => void }

interface Props { onClose: () => void; onUpload: () => void; onKeys: () => void }

export function Palette({ onClose, onUpload, onKeys }: Props) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const [, go] = useLocation();
  const list = useId();
  const box = useRef<HTMLUListElement>(null);
  const query = useDeferredValue(typed.trim());
  const hits = useSearch(query.length >= 2 ? query : "", 6).data?.hits ?? [];

  const items = useMemo<Item[]>(() => {
    const then = (run: () => void) => () => { onClose(); run(); };
    const commands: Item[] = [
      ...SCREENS.map(({ path, name, icon: Icon, key, words }) => ({
        id: path, group: "Go to", name, note: key, words, icon: <Icon size={15} aria-hidden />, run: then(() => go(path)),
      })),
      { id: "upload", group: "Do", name: "Upload files", note: "u", icon: <Upload size={15} aria-hidden />, run: then(onUpload) },
      { id: "failed", group: "Do", name: "Show failed documents", icon: <RefreshCw size={15} aria-hidden />, run: then(() => go("/library?state=failed")) },
      { id: "theme", group: "Do", name: "Switch between dark and light", icon: <SunMoon size={15} aria-hidden />, run: then(flipTheme) },
      { id: "keys", group: "Do", name: "Show all keys", note: "?", icon: <Keyboard size={15} aria-hidden />, run: then(onKeys) },
    ];
    const wanted = query.toLowerCase();
    const found = commands.filter((item) => !wanted || `${item.name} ${"words" in item ? item.words : ""}`.toLowerCase().includes(wanted));
    if (!wanted) return found;
    const documents: Item[] = hits.map((hit) => ({
      id: hit.document_id, group: "Documents", name: shown(hit.title ?? hit.name),
      note: [hit.title ? pathParts(shown(hit.name)).file : "", hit.page ? `p. ${hit.page}` : ""].filter(Boolean).join(" · "),
      icon: <FileText size={15} aria-hidden />,
      run: then(() => go(`/documents/${hit.document_id}?q=${encodeURIComponent(query)}${hit.page ? `&page=${hit.page}` : ""}`)),
    }));
    const all: Item = {
      id: "search", group: "Search", name: `Search for “${query}”`, icon: <Search size={15} aria-hidden />,
      run: then(() => go(`/search?q=${encodeURIComponent(query)}`)),
    };
    return [...found, all, ...documents];
  }, [query, hits, go, onClose, onUpload, onKeys]);

  useEffect(() => setAt(0), [query]);
  const current = Math.min(at, items.length - 1);
  useEffect(() => {
    box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt((current + 1) % items.length);
    else if (event.key === "ArrowUp") setAt((current - 1 + items.length) % items.length);
    else if (event.key === "Enter") items[current]?.run();
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title="Search and commands" bare onClose={onClose} className="mt-[12vh] w-[min(38rem,calc(100vw-2rem))]">
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search size={16} aria-hidden className="text-ink-3" />
        <input
          autoFocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKeyDown}
          role="combobox"
          aria-expanded
          aria-controls={list}
          aria-activedescendant={items[current] ? `${list}-${items[current].id}` : undefined}
          aria-label="Search or go to"
          placeholder="Search documents, go to a screen, do something…"
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-3"
        />
        <kbd>Esc</kbd>
      </div>
      <ul ref={box} id={list} role="listbox" aria-label="Results" className="max-h-[50vh] overflow-y-auto p-1.5">
        {items.map((item, index) => (
          <li
            key={item.id}
            id={`${list}-${item.id}`}
            role="option"
            aria-selected={index === current}
            onMouseMove={() => setAt(index)}
            onClick={item.run}
            className={cx("flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5", index === current && "bg-hover")}
          >
            <span className="text-ink-3">{item.icon}</span>
            <span className="truncate">{item.name}</span>
            <span className="ml-auto flex items-center gap-2 pl-3 text-xs whitespace-nowrap text-ink-3">
              {items[index - 1]?.group !== item.group && <span>{item.group}</span>}
              {item.note && item.group !== "Documents" ? <kbd>{item.note}</kbd> : item.note}
              {index === current && <ArrowRight size={13} aria-hidden />}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
