/** What was dropped or chosen, file by file, wherever the user has gone since. */
import { ChevronDown, ChevronUp, CircleAlert, CircleCheck, Copy, LoaderCircle, RotateCw, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { Bar } from "../ui/Bar";
import { Button } from "../ui/Button";
import { cx } from "../ui/cx";
import { counted, shown } from "../ui/format";
import { totals, type Upload, words } from "./item";
import { useUploadItems, useUploads } from "./UploadProvider";

const SHOWN = 60;
const URGENCY = { failed: 0, interrupted: 0, sending: 1, waiting: 2, reading: 3, done: 4 } as const;

export function Tray() {
  const items = useUploadItems();
  const { queue } = useUploads();
  const [open, setOpen] = useState(true);
  if (items.length === 0) return null;
  const sum = totals(items);
  const headline = sum.open > 0
    ? `Sending ${counted(sum.open, "file")}`
    : sum.reading > 0 ? `Reading ${counted(sum.reading, "file")}` : `${counted(sum.all - sum.failed, "file")} in`;
  const sorted = [...items].sort((a, b) => URGENCY[a.state] - URGENCY[b.state]);
  return (
    <section aria-label="Uploads" className="fixed right-4 bottom-4 z-40 w-[min(23rem,calc(100vw-2rem))] overflow-hidden rounded-lg border border-line-strong bg-surface">
      <div className="flex items-center gap-1 py-1.5 pr-1.5 pl-3.5">
        <div role="status" className="min-w-0 flex-1 truncate text-sm">
          <span className="font-semibold">{headline}</span>
          <span className="text-ink-3">
            {sum.duplicates > 0 && ` · ${counted(sum.duplicates, "duplicate")}`}
            {sum.failed > 0 && <span className="text-red"> · {sum.failed} failed</span>}
          </span>
        </div>
        <Button kind="quiet" square aria-label={open ? "Fold the list" : "Unfold the list"} aria-expanded={open} onClick={() => setOpen(!open)}
          icon={open ? <ChevronDown size={16} aria-hidden /> : <ChevronUp size={16} aria-hidden />} />
        <Button kind="quiet" square aria-label={sum.open > 0 ? "Stop and close" : "Close"} icon={<X size={16} aria-hidden />} onClick={() => queue.clear()} />
      </div>
      <Bar className="rounded-none" label="Sent" total={sum.bytes || 1} active={sum.open > 0} parts={[{ value: sum.sent || (sum.open ? 0 : 1), className: "bg-accent", label: "bytes" }]} />
      {open && (
        <ul className="max-h-72 divide-y divide-line overflow-y-auto" tabIndex={0} aria-label="Files">
          {sorted.slice(0, SHOWN).map((item) => <Line key={item.id} item={item} />)}
          {sorted.length > SHOWN && <li className="px-3.5 py-2 text-xs text-ink-3">and {counted(sorted.length - SHOWN, "file")} more</li>}
        </ul>
      )}
    </section>
  );
}

function Line({ item }: { item: Upload }) {
  const { queue } = useUploads();
  const bad = item.state === "failed" || item.state === "interrupted";
  return (
    <li className="flex items-center gap-2.5 px-3.5 py-2">
      <Icon item={item} />
      <div className="min-w-0 flex-1">
        <div className="truncate text-sm" title={shown(item.name)}>
          {item.documentId
            ? <Link href={`/documents/${item.documentId}`} className="hover:underline">{shown(item.name)}</Link>
            : shown(item.name)}
        </div>
        <div className={cx("truncate text-xs", bad ? "text-red" : "text-ink-3")} title={words(item)}>{words(item)}</div>
      </div>
      {item.state === "failed" && queue.canRetry(item.id) && (
        <Button kind="quiet" square aria-label={`Send ${shown(item.name)} again`} icon={<RotateCw size={14} aria-hidden />} onClick={() => queue.retry(item.id)} />
      )}
    </li>
  );
}

function Icon({ item }: { item: Upload }) {
  if (item.state === "failed" || item.state === "interrupted") return <CircleAlert size={16} className="shrink-0 text-red" aria-hidden />;
  if (item.state === "done") {
    if (item.note) return <CircleAlert size={16} className="shrink-0 text-amber" aria-hidden />;
    return item.duplicate
      ? <Copy size={16} className="shrink-0 text-ink-3" aria-hidden />
      : <CircleCheck size={16} className="shrink-0 text-accent" aria-hidden />;
  }
  return <LoaderCircle size={16} className={cx("shrink-0 text-ink-3", item.state !== "waiting" && "animate-spin")} aria-hidden />;
}
