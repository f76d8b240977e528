/** Tabs whose choice is in the address. */
import type { ReactNode } from "react";
import { cx } from "./cx";

export interface Tab { id: string; name: string; note?: ReactNode }

export function Tabs({ tabs, current, onChoose, label }: { tabs: Tab[]; current: string; onChoose: (id: string) => void; label: string }) {
  const move = (event: React.KeyboardEvent, index: number) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = tabs[(index + by + tabs.length) % tabs.length];
    if (by === 0 || !next) return;
    event.preventDefault();
    onChoose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div role="tablist" aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3">
      {tabs.map((tab, index) => (
        <button
          key={tab.id}
          id={`tab-${tab.id}`}
          type="button"
          role="tab"
          aria-selected={tab.id === current}
          aria-controls={`panel-${tab.id}`}
          tabIndex={tab.id === current ? 0 : -1}
          onKeyDown={(event) => move(event, index)}
          onClick={() => onChoose(tab.id)}
          className={cx("-mb-px flex h-10 items-center gap-1.5 border-b-2 px-2.5 text-sm whitespace-nowrap", tab.id === current ? "border-accent font-semibold text-ink" : "border-transparent text-ink-2 hover:text-ink")}
        >
          {tab.name}
          {tab.note !== undefined && tab.note !== null && <span className="text-xs font-normal text-ink-3">{tab.note}</span>}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ id, children }: { id: string; children: ReactNode }) {
  return (
    <div role="tabpanel" id={`panel-${id}`} aria-labelledby={`tab-${id}`} tabIndex={0} data-scrolls className="min-h-0 flex-1 overflow-y-auto">
      {children}
    </div>
  );
}
