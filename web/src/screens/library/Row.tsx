import { Link } from "wouter";
import type { DocumentLine } from "../../api/types";
import { cause } from "../../ui/causes";
import { cx } from "../../ui/cx";
import { FileIcon } from "../../ui/FileIcon";
import { bytes, counted, pathParts, shown, typeName } from "../../ui/format";
import { Shortfall, StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { Action } from "./Action";
import { Checkbox } from "./Checkbox";
import { languageName } from "./filter";

export const COLUMNS = "grid grid-cols-[2rem_minmax(0,1fr)_auto] items-center gap-x-3 md:grid-cols-[2rem_minmax(0,1fr)_6rem_4.5rem_minmax(8rem,11rem)_6rem] xl:grid-cols-[2rem_minmax(0,1fr)_6rem_4.5rem_19rem_6rem]";

export interface RowProps {
  line: DocumentLine;
  active: boolean;
  selected: boolean;
  onSelect: (range: boolean) => void;
  onRetry: () => void;
  onReview: () => void;
}

export function Row({ line, active, selected, onSelect, onRetry, onReview }: RowProps) {
  const working = line.state === "processing";
  const { folder, file } = pathParts(shown(line.name));
  return (
    <div
      role="row"
      aria-selected={selected}
      className={cx(COLUMNS, "group h-full border-b border-line px-4 md:px-6", selected ? "bg-accent-soft" : active ? "bg-hover" : "bg-surface hover:bg-hover", active && "shadow-[inset_2px_0_0_var(--accent)]")}
    >
      <span role="cell" className="flex items-center"><Checkbox on={selected} label={`Select ${file}`} onChange={onSelect} /></span>
      <span role="cell" className="flex min-w-0 items-center gap-2.5">
        <FileIcon type={line.media_type} className="shrink-0 text-ink-3" />
        <Link href={`/documents/${line.document_id}`} className="flex min-w-0 items-baseline gap-2 hover:underline" title={shown(line.name)}>
          <span className={cx("truncate", working && "text-ink-2")}>{line.title ? shown(line.title) : file}</span>
          {(line.title || folder) && <span className="truncate text-xs text-ink-3 max-xl:hidden">{line.title ? file : folder}</span>}
        </Link>
      </span>
      <span role="cell" className="truncate text-sm text-ink-2 max-md:hidden">{line.media_type ? typeName(line.media_type) : working ? <span className="skeleton block h-3 w-12" /> : "–"}</span>
      <span role="cell" className="text-right text-sm text-ink-2 max-md:hidden">{bytes(line.bytes)}</span>
      <span role="cell" className="flex min-w-0 items-center justify-end gap-1.5 md:justify-start">
        <StateMark state={line.state} />
        {line.state === "ready" && content(line) && <span className="truncate text-sm text-ink-3 max-md:hidden">{content(line)}</span>}
        <Shortfall line={line} />
        {line.error && <span className="truncate text-xs text-ink-3 max-lg:hidden" title={line.error.message}>{cause(line.error.kind).title}</span>}
        <Action line={line} kind="quiet" className="ml-auto h-7 px-2 max-md:hidden" wordsClass="max-xl:hidden" onRetry={onRetry} onReview={onReview} />
      </span>
      <span role="cell" className="text-right text-sm whitespace-nowrap text-ink-3 max-md:hidden"><Time at={line.created_at} /></span>
    </div>
  );
}

/** What a document that is ready holds: "3 pages · English". */
function content(line: DocumentLine): string {
  const pages = line.page_count !== null && line.page_count > 0 ? counted(line.page_count, "page") : null;
  return [pages, line.language ? languageName(line.language) : null].filter(Boolean).join(" · ");
}
