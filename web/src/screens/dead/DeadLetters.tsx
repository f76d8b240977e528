/** Tasks that were given up: play them again, or drop them. */
import { MailCheck, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { useDropDead, useReplayDead } from "../../api/actions";
import { useDead, useStatus } from "../../api/queries";
import type { DeadLetter } from "../../api/types";
import { Button } from "../../ui/Button";
import { cause } from "../../ui/causes";
import { Confirm } from "../../ui/Dialog";
import { count, counted, shown } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { Page, Pending } from "../../ui/Page";
import { Said } from "../../ui/Said";
import { Time } from "../../ui/Time";
import { useSay } from "../../ui/Toasts";
import { Checkbox } from "../library/Checkbox";
import { extend, NONE, type Selection, toggle } from "../library/selection";

export function DeadLetters() {
  const dead = useDead();
  const letters = dead.data?.dead ?? [];
  const all = Math.max(letters.length, useStatus().data?.tasks.dead ?? 0);
  const [selection, setSelection] = useState<Selection>(NONE);
  const [dropping, setDropping] = useState(false);
  const replay = useReplayDead();
  const drop = useDropDead();
  const say = useSay();
  const order = letters.map((one) => String(one.task_id));
  const chosen = letters.filter((one) => selection.ids.has(String(one.task_id))).map((one) => one.task_id);
  const ids = chosen.length > 0 ? chosen : null;
  const what = counted(ids?.length ?? all, "dead letter");
  const after = { onSettled: () => { setSelection(NONE); setDropping(false); } };
  return (
    <Page
      title="Dead letters"
      note={letters.length > 0 ? `${counted(all, "task")}${all > letters.length ? `, of which ${count(letters.length)} are shown` : ""}` : null}
      actions={letters.length > 0 && (
        <>
          <Button icon={<RotateCw size={14} aria-hidden />} busy={replay.isPending}
            onClick={() => replay.mutate(ids, { ...after, onSuccess: (done) => say.done(`${counted(done.count, "task")} queued again`), onError: (error) => say.failed("Not replayed", error) })}>
            {ids ? `Replay ${count(ids.length)}` : `Replay all ${count(all)}`}
          </Button>
          <Button kind="danger" icon={<Trash2 size={14} aria-hidden />} onClick={() => setDropping(true)}>{ids ? `Drop ${count(ids.length)}` : `Drop all ${count(all)}`}</Button>
        </>
      )}
    >
      {!dead.data ? <Pending of={dead} what="The dead letters could not be had" lines={6} />
        : letters.length === 0 ? (
          <Empty icon={<MailCheck size={20} />} title="No dead letters">
            <p>A task that fails three times is put aside here, with its reason, and holds up nobody. There is none.</p>
          </Empty>
        ) : (
          <ul className="mx-auto max-w-5xl divide-y divide-line p-4 md:p-6 [&>li]:border-x [&>li]:first:rounded-t-lg [&>li]:first:border-t [&>li]:last:rounded-b-lg [&>li]:last:border-b">
            {letters.map((one) => (
              <Letter key={one.task_id} letter={one} selected={selection.ids.has(String(one.task_id))}
                onSelect={(range) => setSelection((now) => (range ? extend(now, order, String(one.task_id)) : toggle(now, String(one.task_id))))} />
            ))}
          </ul>
        )}
      {dropping && (
        <Confirm title={`Drop ${what}?`} action="Drop" danger busy={drop.isPending} onClose={() => setDropping(false)}
          onConfirm={() => drop.mutate(ids, { ...after, onSuccess: (done) => say.done(`${counted(done.count, "task")} dropped`), onError: (error) => say.failed("Not dropped", error) })}>
          <p>The tasks will not be tried again. Their documents stay, marked as failed, and can still be reprocessed.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Letter({ letter, selected, onSelect }: { letter: DeadLetter; selected: boolean; onSelect: (range: boolean) => void }) {
  const words = letter.error ? cause(letter.error.kind) : null;
  return (
    <li className="grid grid-cols-[1.5rem_minmax(0,1fr)_auto] gap-x-2 border-line bg-surface px-4 py-2.5">
      <span className="pt-0.5"><Checkbox on={selected} label={`Select ${shown(letter.name)}`} onChange={onSelect} /></span>
      <div className="min-w-0">
        <div className="flex flex-wrap items-baseline gap-x-2">
          {letter.document_id
            ? <Link href={`/documents/${letter.document_id}?tab=timeline`} className="truncate font-medium hover:underline">{shown(letter.name)}</Link>
            : <span className="truncate font-medium">{shown(letter.name)}</span>}
          {words && <span className="text-sm text-red">{words.title}</span>}
        </div>
        {letter.error && <p className="line-clamp-2 text-sm break-words text-ink-2"><Said text={letter.error.message} /></p>}
        <p className="font-mono text-xs text-ink-3">{letter.kind} · {counted(letter.attempt, "try", "tries")}</p>
      </div>
      <Time at={letter.died_at} className="text-sm text-ink-3" />
    </li>
  );
}
