import { RotateCw } from "lucide-react";
import { Link } from "wouter";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { FileIcon } from "../../ui/FileIcon";
import { bytes, pathParts, shown, typeName } from "../../ui/format";
import { stateWords } from "../../ui/states";
import { Shortfall, shortfall, StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { Checkbox } from "./Checkbox";
import type { RowProps } from "./Row";
import { Thumb } from "./Thumb";

export function Card({ line, active, selected, onSelect, onRetry }: RowProps) {
  const words = stateWords(line.state);
  const { file } = pathParts(shown(line.name));
  const working = line.state === "processing";
  return (
    <article
      aria-label={file}
      className={cx("group relative flex h-full flex-col overflow-hidden rounded-lg border bg-surface", selected || active ? "border-accent" : "border-line hover:border-line-strong")}
    >
      <div className={cx("absolute top-2 left-2 z-10", !selected && "opacity-0 group-focus-within:opacity-100 group-hover:opacity-100")}>
        <Checkbox on={selected} label={`Select ${file}`} onChange={onSelect} />
      </div>
      <Link href={`/documents/${line.document_id}`} tabIndex={-1} aria-hidden className="grid h-32 place-items-center overflow-hidden border-b border-line bg-sunken">
        {working ? <Skeleton /> : (
          <Thumb line={line}>
            <span className="flex flex-col items-center gap-1.5 text-ink-3">
              <FileIcon type={line.media_type} size={26} />
              <span className="text-xs font-medium">{typeName(line.media_type)}</span>
            </span>
          </Thumb>
        )}
      </Link>
      <div className="flex min-h-0 flex-1 flex-col gap-0.5 px-2.5 py-2">
        <Link href={`/documents/${line.document_id}`} className="truncate text-sm font-medium hover:underline" title={shown(line.name)}>
          {line.title ? shown(line.title) : file}
        </Link>
        <div className="mt-auto flex min-h-6 items-center justify-between gap-1">
          {line.state === "ready" && !shortfall(line) ? <span className="truncate text-xs text-ink-3">{bytes(line.bytes)} · <Time at={line.created_at} /></span> : line.state === "ready" ? <Shortfall line={line} /> : <StateMark state={line.state} />}
          {words.action && <Button kind="quiet" square aria-label={words.action} className="size-6" icon={<RotateCw size={13} aria-hidden />} onClick={onRetry} />}
        </div>
      </div>
    </article>
  );
}

/** Lines where the page will be. */
const Skeleton = () => (
  <div className="flex w-2/3 flex-col gap-2">
    {["90%", "70%", "82%", "45%"].map((width) => <div key={width} className="skeleton h-2" style={{ width }} />)}
  </div>
);
