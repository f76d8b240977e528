/** Who works, and what waits. */
import { Activity, Pause } from "lucide-react";
import { useStatus, useWork, useWorkers } from "../../api/queries";
import type { Status, Worker } from "../../api/types";
import { Bar } from "../../ui/Bar";
import { cx } from "../../ui/cx";
import { count, rate, shown } from "../../ui/format";
import { Command, Empty } from "../../ui/Notice";
import { Page, Panel, Pending } from "../../ui/Page";
import { Badge } from "../../ui/StateMark";
import { Time, useNow } from "../../ui/Time";
import { KINDS, silent } from "./kinds";

export function Workers() {
  const workers = useWorkers();
  const status = useStatus();
  return (
    <Page title="Workers" note={status.data && `${rate(status.data.docs_per_s)} docs/s`}>
      {!workers.data || !status.data ? <Pending of={workers.data ? status : workers} what="The workers could not be had" lines={8} />
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
  const work = useWork();
  const sum = (kind: string, state: string) => (work ?? []).filter((line) => line.kind === kind && line.state === state).reduce((all, line) => all + line.count, 0);
  const kinds = [...new Set([...KINDS.map(([kind]) => kind), ...(work ?? []).map((line) => line.kind), ...paused])];
  return (
    <Panel title="Queues" aside="by kind of task">
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Queues by kind of task">
        <table className="w-full text-sm">
          <thead className="text-xs text-ink-3"><tr><th className="px-4 py-2">Kind</th>{work && <><th className="w-24 px-2 py-2 text-right">Waiting</th><th className="w-24 px-2 py-2 text-right">Running</th></>}<th className="w-28 px-4 py-2 text-right">State</th></tr></thead>
          <tbody className="divide-y divide-line">
            {kinds.map((kind) => {
              const [waiting, running] = [sum(kind, "queued"), sum(kind, "running")];
              return (
                <tr key={kind}>
                  <td className="px-4 py-2"><span className="font-medium whitespace-nowrap">{KINDS.find(([name]) => name === kind)?.[1] ?? kind}</span> <span className="ml-1 font-mono text-xs text-ink-3 max-md:hidden">{kind}</span></td>
                  {work && <><td className={cx("px-2 py-2 text-right", waiting === 0 && "text-ink-3")}>{count(waiting)}</td><td className={cx("px-2 py-2 text-right", running === 0 && "text-ink-3")}>{count(running)}</td></>}
                  <td className="px-4 py-2 text-right">{paused.includes(kind) ? <Badge tone="amber" icon={<Pause size={11} aria-hidden />}>Paused</Badge> : <span className="text-ink-3">{running > 0 ? "working" : waiting > 0 ? "waiting" : "idle"}</span>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2.5 text-sm text-ink-3">A kind is paused for everybody, so that is done on the server: <Command text={`docmill ${paused.length > 0 ? `resume --kind ${paused[0]}` : "pause --kind extract-text"}`} /></p>
    </Panel>
  );
}
