import { Link } from "wouter";
import { cause } from "../../ui/causes";
import { cx } from "../../ui/cx";
import { FileIcon } from "../../ui/FileIcon";
import { bytes, counted, pathParts, shown, typeName } from "../../ui/format";
import { stateWords } from "../../ui/states";
import { Shortfall, StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { Action } from "./Action";
import { Checkbox } from "./Checkbox";
import type { RowProps } from "./Row";
import { Thumb } from "./Thumb";

export function Card({ line, active, selected, onSelect, onRetry, onReview }: RowProps) {
  const words = stateWords(line.state);
  const { file } = pathParts(shown(line.name));
  const working = line.state === "processing";
  return (
    <article
      aria-label={file}
      className={cx("group relative flex h-full flex-col overflow-hidden rounded-lg border bg-surface", selected || active ? "border-accent ring-1 ring-accent" : "border-line hover:border-line-strong")}
    >
      <div className={cx("absolute top-2 left-2 z-10", !selected && "opacity-0 group-focus-within:opacity-100 group-hover:opacity-100")}>
        <Checkbox on={selected} label={`Select ${file}`} onChange={onSelect} />
      </div>
      <div className="absolute top-2 right-2 z-10 flex max-w-[80%]"><StateMark state={line.state} /><Shortfall line={line} /></div>
      <Link href={`/documents/${line.document_id}`} tabIndex={-1} aria-hidden className="grid h-40 shrink-0 place-items-center overflow-hidden border-b border-line bg-sunken">
        {working ? <Skeleton /> : (
          <Thumb line={line}>
            <span className="flex flex-col items-center gap-1.5 text-ink-3">
              <FileIcon type={line.media_type} size={28} />
              <span className="text-xs font-medium">{typeName(line.media_type)}</span>
            </span>
          </Thumb>
        )}
      </Link>
      <div className="flex min-h-0 flex-1 flex-col px-3 py-2">
        <Link href={`/documents/${line.document_id}`} className={cx("line-clamp-2 text-sm leading-5 font-medium break-words hover:underline", words.action && "line-clamp-1")} title={shown(line.name)}>
          {line.title ? shown(line.title) : file}
        </Link>
        {words.action ? (
          <>
            {line.error && <span className="truncate text-xs text-ink-3" title={line.error.message}>{cause(line.error.kind).title}</span>}
            <Action line={line} className="mt-auto h-7 w-full" onRetry={onRetry} onReview={onReview} />
          </>
        ) : working ? (
          <span className="skeleton mt-2 block h-3 w-2/3" />
        ) : (
          <span className="mt-auto flex items-center justify-between gap-2 text-xs whitespace-nowrap text-ink-3">
            <span className="truncate">{typeName(line.media_type)} · {line.page_count !== null && line.page_count > 1 ? counted(line.page_count, "page") : bytes(line.bytes)}</span>
            <Time at={line.created_at} brief />
          </span>
        )}
      </div>
    </article>
  );
}

/** Lines where the page will be. */
const Skeleton = () => (
  <span className="paper flex h-full w-2/3 translate-y-4 flex-col gap-2 bg-surface p-3">
    {["60%", "95%", "82%", "90%", "45%"].map((width) => <span key={width} className="skeleton block h-1.5" style={{ width }} />)}
  </span>
);
