import type { Batch } from "../../api/types";
import { Bar } from "../../ui/Bar";
import { isOver, progress } from "./figures";

export function BatchBar({ batch, className }: { batch: Batch; className?: string }) {
  const { all } = progress(batch);
  return (
    <Bar
      className={className ?? ""}
      label={`Progress of ${batch.name ?? "the batch"}`}
      total={all}
      active={!isOver(batch) && !batch.paused}
      parts={[
        { value: batch.completed, className: "bg-accent", label: "done" },
        { value: batch.skipped, className: "bg-line-strong", label: "skipped" },
        { value: batch.cancelled, className: "bg-ink-3", label: "cancelled" },
        { value: batch.failed, className: "bg-red", label: "failed" },
      ]}
    />
  );
}
