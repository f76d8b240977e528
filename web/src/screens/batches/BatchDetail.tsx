/** One import: progress by outcome, the ledger, its containers. */
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useBatch, useLedger, useWork } from "../../api/queries";
import type { Batch, Ledger } from "../../api/types";
import { Bar } from "../../ui/Bar";
import { count, duration, exact, percent, rate, shown } from "../../ui/format";
import { Page, Panel, Pending } from "../../ui/Page";
import { stageName } from "../../ui/states";
import { Time, useNow } from "../../ui/Time";
import { BatchActions } from "./BatchActions";
import { BatchState } from "./Batches";
import { eta, isOver, pace, progress, stages, stageWords } from "./figures";
import { LedgerLine } from "./LedgerLine";
import { batchName } from "./name";

export function BatchDetail({ id }: { id: string }) {
  const batch = useBatch(id);
  if (!batch.data) {
    return (
      <Page title="Batch">
        <Pending of={batch} what="The batch could not be had" lines={8} />
      </Page>
    );
  }
  return (
    <Page title={shown(batchName(batch.data))} note={<BatchState batch={batch.data} />} actions={
      <>
        <Link href="/batches" className="flex h-8 items-center gap-1.5 px-2 text-sm font-medium text-ink-2 hover:text-ink"><ArrowLeft size={14} aria-hidden /> All batches</Link>
        <BatchActions batch={batch.data} />
      </>
    }>
      <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4 md:p-6">
        <Figures batch={batch.data} />
        <div className="grid gap-4 lg:grid-cols-2">
          <Outcomes batch={batch.data} />
          <Stages id={id} />
        </div>
        <Account id={id} />
      </div>
    </Page>
  );
}

function Figures({ batch }: { batch: Batch }) {
  const now = useNow();
  const { all, ended } = progress(batch);
  const left = eta(batch, now);
  const took = batch.finished_at ? new Date(batch.finished_at).getTime() - new Date(batch.created_at).getTime() : null;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
      <Figure name="Ended">{count(ended)}<small className="ml-1 text-sm font-normal text-ink-3">of {count(all)}</small></Figure>
      <Figure name="Pace">{rate(pace(batch, now))}<small className="ml-1 text-sm font-normal text-ink-3">docs/s</small></Figure>
      <Figure name={isOver(batch) ? "Took" : "Left"}>{took !== null ? duration(took) : left !== null ? duration(left) : "–"}</Figure>
      <Figure name="Began"><span title={exact(batch.created_at)}><Time at={batch.created_at} /></span></Figure>
    </dl>
  );
}

const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="bg-surface p-4">
    <dt className="text-sm text-ink-3">{name}</dt>
    <dd className="text-xl font-semibold tracking-tight">{children}</dd>
  </div>
);

/** One bar for each outcome, and one for what is open. */
function Outcomes({ batch }: { batch: Batch }) {
  const { all } = progress(batch);
  const rows = [
    { name: batch.paused ? "Held" : "Open", value: batch.open, className: "bg-ink-3" },
    { name: "Done", value: batch.completed, className: "bg-accent" },
    { name: "Failed", value: batch.failed, className: "bg-red" },
    { name: "Skipped", value: batch.skipped, className: "bg-line-strong" },
    { name: "Cancelled", value: batch.cancelled, className: "bg-line-strong" },
  ].filter((row) => row.value > 0 || row.name === "Done");
  return (
    <Panel title="By outcome" aside={<Link href={`/library?batch=${batch.batch_id}`} className="hover:text-ink hover:underline">Show in the library</Link>}>
      <ul className="flex flex-col gap-2.5 p-4">
        {rows.map((row) => (
          <Row key={row.name} name={row.name} n={row.value} all={all}>
            <Bar label={row.name} total={all} parts={[{ value: row.value, className: row.className, label: row.name.toLowerCase() }]} />
          </Row>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-2.5 text-sm text-ink-3">
        {count(batch.received)} came in, {count(batch.children)} found inside, {count(batch.duplicates)} {batch.duplicates === 1 ? "was" : "were"} there before
      </p>
    </Panel>
  );
}

/** One bar for each stage: what has gone through it, what is in it, what waits for it. */
function Stages({ id }: { id: string }) {
  const work = useWork(id);
  const rows = stages(work ?? []);
  if (!work || rows.length === 0) return null;
  return (
    <Panel title="By stage" aside="tasks">
      <ul className="flex flex-col gap-2.5 p-4">
        {rows.map((row) => (
          <Row key={row.stage} name={stageName(row.stage)} n={row.done} all={row.all}>
            <Bar label={stageName(row.stage)} total={row.all} active={row.running > 0} parts={[
              { value: row.done, className: "bg-accent", label: "done" },
              { value: row.failed, className: "bg-red", label: "given up" },
              { value: row.running, className: "bg-blue", label: "running" },
            ]} />
          </Row>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-2.5 text-sm text-ink-3">{stageWords(rows)}</p>
    </Panel>
  );
}

const Row = ({ name, n, all, children }: { name: string; n: number; all: number; children: ReactNode }) => (
  <li className="grid grid-cols-[6rem_minmax(0,1fr)_3.5rem_3rem] items-center gap-3 text-sm max-sm:grid-cols-[6rem_minmax(0,1fr)_3rem]">
    <span className="truncate">{name}</span>
    {children}
    <span className="text-right font-medium">{count(n)}</span>
    <span className="text-right text-ink-3 max-sm:hidden">{percent(n, all)}</span>
  </li>
);

function Account({ id }: { id: string }) {
  const ledger = useLedger(id);
  if (!ledger.data) return <Pending of={ledger} what="The ledger could not be had" lines={3} />;
  return (
    <Panel title="Ledger" aside={ledger.data.unsealed.length > 0 ? "still counting" : ledger.data.balanced ? "every item is accounted for" : "something is missing"}>
      <div className="px-4 py-3"><LedgerLine ledger={ledger.data} /></div>
      {Object.keys(ledger.data.skipped).length > 0 && (
        <p className="border-t border-line px-4 py-2 text-sm text-ink-2">
          Skipped: {Object.entries(ledger.data.skipped).map(([reason, n]) => `${count(n)} ${reason.replace(/_/g, " ")}`).join(", ")}
        </p>
      )}
      {ledger.data.containers.length > 0 && <Containers containers={ledger.data.containers} />}
    </Panel>
  );
}

const SHOWN = 100;

function Containers({ containers }: { containers: Ledger["containers"] }) {
  return (
    <div className="overflow-x-auto border-t border-line" tabIndex={0} role="region" aria-label="Containers">
      <table className="w-full text-sm">
        <thead className="text-xs text-ink-3"><tr><th className="px-4 py-2">Container</th><th className="px-2 py-2 text-right">Members</th><th className="px-2 py-2 text-right">Taken out</th><th className="px-4 py-2 text-right">Failed</th></tr></thead>
        <tbody className="divide-y divide-line">
          {containers.slice(0, SHOWN).map((one) => (
            <tr key={one.id}>
              <td className="max-w-0 truncate px-4 py-1.5"><Link href={`/documents/${one.id}?tab=family`} className="hover:underline">{shown(one.name)}</Link></td>
              <td className="w-24 px-2 py-1.5 text-right">{count(one.expected)}</td>
              <td className="w-24 px-2 py-1.5 text-right">{count(one.emitted)}</td>
              <td className={`w-24 px-4 py-1.5 text-right ${one.failed > 0 ? "font-medium text-red" : "text-ink-3"}`}>{count(one.failed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {containers.length > SHOWN && <p className="px-4 py-2 text-xs text-ink-3">and {count(containers.length - SHOWN)} more</p>}
    </div>
  );
}
