/** Who works, and what waits. */
import { Activity, Pause, Play } from "lucide-react";
import { usePauseKind } from "../../api/actions";
import { useServerHas, useStatus, useWorkers } from "../../api/queries";
import type { Status, Worker } from "../../api/types";
import { Bar } from "../../ui/Bar";
import { Button } from "../../ui/Button";
import { count, rate, shown } from "../../ui/format";
import { Command, Empty, Failure } from "../../ui/Notice";
import { Page, Panel, Skeletons } from "../../ui/Page";
import { Badge } from "../../ui/StateMark";
import { Time, useNow } from "../../ui/Time";
import { useSay } from "../../ui/Toasts";
import { KINDS, silent } from "./kinds";

export function Workers() {
  const workers = useWorkers();
  const status = useStatus();
  const error = workers.error ?? status.error;
  return (
    <Page title="Workers" note={status.data && `${rate(status.data.docs_per_s)} docs/s`}>
      {error ? <Failure error={error} what="The workers could not be had" onRetry={() => { void workers.refetch(); void status.refetch(); }} />
        : !workers.data || !status.data ? <Skeletons lines={8} />
        : (
          <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4 md:p-6">
            <Queue status={status.data} />
            {workers.data.workers.length === 0 ? (
              <Empty icon={<Activity size={20} />} title="No worker runs">
                <p>What comes in is stored and waits. A server works by itself; more hands can be started beside it.</p>
                <Command text="docmill work" />
              </Empty>
            ) : (
              <Panel title="Workers" aside={count(workers.data.workers.length)}>
                <ul className="divide-y divide-line">{workers.data.workers.map((one) => <Line key={one.worker_id} worker={one} />)}</ul>
              </Panel>
            )}
            <Kinds paused={status.data.paused_kinds} />
          </div>
        )}
    </Page>
  );
}

function Queue({ status }: { status: Status }) {
  const lag = Math.max(0, status.index.last - status.index.watermark);
  const figures: [string, string, string][] = [
    ["Waiting", count(status.tasks.queued), "tasks that may be taken"],
    ["Running", count(status.tasks.running), "tasks in work"],
    ["Held", count(status.tasks.held), "by a pause"],
    ["Behind in search", count(lag), "changes"],
  ];
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
      {figures.map(([name, value, note]) => (
        <div key={name} className="bg-surface p-4">
          <dt className="text-sm text-ink-3">{name}</dt>
          <dd className="text-xl font-semibold tracking-tight">{value}</dd>
          <dd className="text-xs text-ink-3">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function Line({ worker }: { worker: Worker }) {
  const now = useNow();
  const quiet = silent(worker, now);
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1.5 px-4 py-3 sm:grid-cols-[minmax(0,1fr)_12rem_7rem]">
      <div className="min-w-0">
        <div className="flex items-center gap-2"><span className="truncate font-medium">{shown(worker.host)}</span><span className="text-sm text-ink-3">process {worker.pid}</span></div>
        <div className="truncate text-sm text-ink-3">{worker.kinds.length === 0 ? "takes everything" : `takes ${worker.kinds.join(", ")}`} · started <Time at={worker.started_at} /></div>
      </div>
      <div className="max-sm:col-span-2 max-sm:row-start-2">
        <Bar label="Slots in use" total={worker.slots} active={worker.running > 0} parts={[{ value: Math.min(worker.running, worker.slots), className: "bg-accent", label: "in use" }]} />
        <p className="mt-1 text-xs text-ink-3">{count(worker.running)} running, {count(worker.slots)} slots</p>
      </div>
      <div className="text-right">
        {quiet ? <Badge tone="amber" title="It has not been heard of for a while; its work goes to others when its lease ends">silent</Badge> : <Badge tone={worker.state === "busy" ? "accent" : "neutral"}>{worker.state}</Badge>}
      </div>
    </li>
  );
}

function Kinds({ paused }: { paused: string[] }) {
  const pause = usePauseKind();
  const steers = useServerHas(/^\/v1\/kinds\/\{\w+\}\/pause$/);
  const say = useSay();
  return (
    <Panel title="Queues" aside="by kind of task">
      <ul className="divide-y divide-line">
        {[...new Set([...KINDS.map(([kind]) => kind), ...paused])].map((kind) => {
          const held = paused.includes(kind);
          return (
            <li key={kind} className="flex items-center gap-3 px-4 py-2">
              <div className="min-w-0 flex-1">
                <span className="font-medium">{KINDS.find(([name]) => name === kind)?.[1] ?? kind}</span> <span className="ml-1 font-mono text-xs text-ink-3">{kind}</span>
              </div>
              {held && <Badge tone="amber" icon={<Pause size={11} aria-hidden />}>Paused</Badge>}
              {steers && <Button kind="quiet" icon={held ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />} onClick={() => pause.mutate({ kind, paused: !held }, { onError: (error) => say.failed("Not changed", error) })}>
                {held ? "Go on" : "Pause"}
              </Button>}
            </li>
          );
        })}
      </ul>
      {!steers && <p className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2.5 text-sm text-ink-3">Paused and resumed from a terminal: <Command text="docmill pause --kind extract-text" /></p>}
    </Panel>
  );
}
