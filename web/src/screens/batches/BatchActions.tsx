import { CircleX, Gauge, Pause, Play } from "lucide-react";
import { useState } from "react";
import { useCancelBatch, useChangeBatch } from "../../api/actions";
import type { Batch } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { count, shown } from "../../ui/format";
import { Menu, MenuItem, MenuLabel } from "../../ui/Menu";
import { useSay } from "../../ui/Toasts";
import { isOver } from "./figures";
import { batchName } from "./name";

/** Lower goes first. */
const PRIORITIES: [number, string][] = [[10, "First"], [30, "Before others"], [50, "As usual"], [70, "After others"], [90, "Last"]];

export const priorityName = (priority: number): string =>
  PRIORITIES.reduce((best, one) => (Math.abs(one[0] - priority) < Math.abs(best[0] - priority) ? one : best), [50, "As usual"] as [number, string])[1];

export function BatchActions({ batch }: { batch: Batch }) {
  const change = useChangeBatch();
  const cancel = useCancelBatch();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  if (isOver(batch)) return null;
  const failed = (error: unknown) => say.failed("The batch was not changed", error);
  return (
    <div className="flex gap-1.5">
      <Menu trigger={<Button kind="quiet" icon={<Gauge size={14} aria-hidden />} aria-label={`Priority: ${priorityName(batch.priority)}`}><span className="max-sm:hidden">{priorityName(batch.priority)}</span></Button>}>
        <MenuLabel>Priority</MenuLabel>
        {PRIORITIES.map(([priority, name]) => (
          <MenuItem key={priority} onSelect={() => change.mutate({ batch: batch.batch_id, priority }, { onError: failed })}>
            <span className="flex-1">{name}</span><span className="pl-3 text-ink-3">{priority}</span>
          </MenuItem>
        ))}
      </Menu>
      <Button
        busy={change.isPending}
        icon={batch.paused ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
        onClick={() => change.mutate({ batch: batch.batch_id, paused: !batch.paused }, { onError: failed })}
      >
        {batch.paused ? "Go on" : "Pause"}
      </Button>
      <Button kind="danger" icon={<CircleX size={14} aria-hidden />} onClick={() => setAsking(true)}>Cancel</Button>
      {asking && (
        <Confirm
          title="Cancel this batch?" action={`Cancel ${count(batch.open)} open`} danger busy={cancel.isPending} onClose={() => setAsking(false)}
          onConfirm={() => cancel.mutate(batch.batch_id, {
            onSuccess: () => { setAsking(false); say.done("Batch cancelled"); },
            onError: (error) => { setAsking(false); failed(error); },
          })}
        >
          <p><strong className="font-semibold text-ink">{shown(batchName(batch))}</strong>: what is done stays. {count(batch.open)} that are open will be marked as cancelled; they can be retried one by one.</p>
        </Confirm>
      )}
    </div>
  );
}
