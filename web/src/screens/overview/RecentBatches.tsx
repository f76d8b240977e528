import { Link } from "wouter";
import type { Batch } from "../../api/types";
import { count, counted, duration, shown } from "../../ui/format";
import { Time, useNow } from "../../ui/Time";
import { BatchBar } from "../batches/BatchBar";
import { batchName } from "../batches/name";
import { eta, isOver, progress, stateName } from "../batches/figures";

export function RecentBatches({ batches }: { batches: Batch[] }) {
  const now = useNow();
  if (batches.length === 0) return <p className="p-4 text-ink-3">Single files need no batch. A folder brought in from a terminal is one.</p>;
  return (
    <ul className="divide-y divide-line">
      {batches.slice(0, 6).map((batch) => {
        const { all, ended } = progress(batch);
        const left = eta(batch, now);
        return (
          <li key={batch.batch_id}>
            <Link href={`/batches/${batch.batch_id}`} className="flex flex-col gap-1.5 px-4 py-2.5 hover:bg-hover">
              <span className="flex items-baseline justify-between gap-3">
                <span className="truncate font-medium">{shown(batchName(batch))}</span>
                <span className="text-sm whitespace-nowrap text-ink-3">
                  {isOver(batch) ? <Time at={batch.finished_at} /> : left !== null ? `${duration(left)} left` : stateName(batch)}
                </span>
              </span>
              <BatchBar batch={batch} />
              <span className="text-sm text-ink-3">
                {isOver(batch) ? counted(all, "item") : `${count(ended)} of ${count(all)}`}
                {batch.failed > 0 && <span className="text-red"> · {count(batch.failed)} failed</span>}
                {batch.duplicates > 0 && ` · ${counted(batch.duplicates, "duplicate")}`}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
