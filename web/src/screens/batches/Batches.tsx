/** Every import, with how far it is. */
import { FolderInput, Pause } from "lucide-react";
import { Link } from "wouter";
import { useBatches } from "../../api/queries";
import type { Batch } from "../../api/types";
import { Button } from "../../ui/Button";
import { count, counted, duration, percent, rate, shown } from "../../ui/format";
import { Command, Empty } from "../../ui/Notice";
import { Page, Pending } from "../../ui/Page";
import { Badge } from "../../ui/StateMark";
import { Time, useNow } from "../../ui/Time";
import { BatchActions } from "./BatchActions";
import { BatchBar } from "./BatchBar";
import { eta, isOver, pace, progress, stateName } from "./figures";
import { batchName } from "./name";

export function Batches() {
  const batches = useBatches();
  const all = batches.data?.pages.flatMap((page) => page.batches) ?? [];
  return (
    <Page title="Batches">
      {!batches.data ? <Pending of={batches} what="The batches could not be had" lines={8} />
        : all.length === 0 ? (
          <Empty icon={<FolderInput size={20} />} title="No batches yet">
            <p>A batch is everything that came in together. Drop a folder here, or bring one in from a terminal; the same command goes on where it stopped.</p>
            <Command text="docmill ingest ~/Documents --batch documents" />
          </Empty>
        ) : (
          <div className="mx-auto max-w-5xl p-4 md:p-6">
            <ul className="flex flex-col gap-3">{all.map((batch) => <Line key={batch.batch_id} batch={batch} />)}</ul>
            {batches.hasNextPage && <div className="mt-3 flex justify-center"><Button busy={batches.isFetchingNextPage} onClick={() => void batches.fetchNextPage()}>Show more</Button></div>}
          </div>
        )}
    </Page>
  );
}

function Line({ batch }: { batch: Batch }) {
  const now = useNow();
  const { all, ended } = progress(batch);
  const left = eta(batch, now);
  return (
    <li className="rounded-lg border border-line bg-surface px-4 py-3">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Link href={`/batches/${batch.batch_id}`} className="min-w-0 truncate font-semibold hover:underline">{shown(batchName(batch))}</Link>
        <BatchState batch={batch} />
        <span className="ml-auto text-sm text-ink-3"><Time at={batch.created_at} /></span>
        <BatchActions batch={batch} />
      </div>
      <BatchBar batch={batch} />
      <div className="mt-1.5 flex flex-wrap gap-x-4 text-sm text-ink-3">
        <span><span className="text-ink-2">{count(ended)}</span> of {count(all)} · {percent(ended, all)}</span>
        {batch.failed > 0 && <span className="text-red">{count(batch.failed)} failed</span>}
        {batch.duplicates > 0 && <span>{counted(batch.duplicates, "duplicate")}</span>}
        <span className="ml-auto">{rate(pace(batch, now))} docs/s{left !== null && ` · ${duration(left)} left`}</span>
      </div>
    </li>
  );
}

export function BatchState({ batch }: { batch: Batch }) {
  const tone = batch.state === "cancelled" ? "neutral" : batch.paused && !isOver(batch) ? "amber" : isOver(batch) ? (batch.failed > 0 ? "red" : "quiet") : "accent";
  const label = batch.state === "finished" && batch.failed > 0 ? "Finished, some failed" : stateName(batch);
  return <Badge tone={tone} icon={batch.paused && !isOver(batch) ? <Pause size={11} aria-hidden /> : null}>{label}</Badge>;
}
