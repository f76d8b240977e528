/** What is going on, at a glance. */
import { Sparkles } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useLedger, useStatus } from "../../api/queries";
import type { Status } from "../../api/types";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { count, counted, duration, rate } from "../../ui/format";
import { Command, Empty, Failure } from "../../ui/Notice";
import { Page, Panel, Pending } from "../../ui/Page";
import { Sparkline } from "../../ui/Sparkline";
import { useNow } from "../../ui/Time";
import { useUploads } from "../../upload/UploadProvider";
import { eta } from "../batches/figures";
import { LedgerLine } from "../batches/LedgerLine";
import { Causes } from "./Causes";
import { KEPT, useThroughput } from "./history";
import { RecentBatches } from "./RecentBatches";
import { Latest } from "./Latest";

export function Overview() {
  const status = useStatus();
  return (
    <Page title="Overview" note={status.data && counted(status.data.documents, "document")}>
      {status.data ? <Body status={status.data} /> : <Pending of={status} what="The status could not be had" lines={8} />}
    </Page>
  );
}

function Body({ status }: { status: Status }) {
  const { choose } = useUploads();
  if (status.documents === 0 && status.ingestions.in_progress === 0 && status.batches.length === 0) {
    return (
      <Empty icon={<Sparkles size={20} />} title="Nothing has come in yet">
        <p>Drop files or folders anywhere on this page, choose some, or bring in a whole folder from a terminal.</p>
        <Button kind="primary" onClick={choose}>Choose files</Button>
        <Command text="docmill ingest ~/Documents" />
      </Empty>
    );
  }
  return (
    <div className="mx-auto flex max-w-7xl flex-col gap-4 p-4 md:p-6">
      <Figures status={status} />
      <Ledger />
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="Batches" aside={<Link href="/batches" className="hover:text-ink hover:underline">All batches</Link>}>
          <RecentBatches batches={status.batches} />
        </Panel>
        <Panel title="Problems by cause" aside={<Link href="/problems" className="hover:text-ink hover:underline">All problems</Link>}>
          <Causes />
        </Panel>
      </div>
      <Panel title="Latest documents" aside={<Link href="/library" className="hover:text-ink hover:underline">Library</Link>}><Latest /></Panel>
    </div>
  );
}

function Figures({ status }: { status: Status }) {
  const values = useThroughput(status);
  const now = useNow();
  const left = status.batches.map((batch) => eta(batch, now)).filter((ms): ms is number => ms !== null);
  const { in_progress: open, completed, failed } = status.ingestions;
  const { running, queued, held, dead } = status.tasks;
  const lag = Math.max(0, status.index.last - status.index.watermark);
  const ready = new Date(now + Math.max(0, ...left));
  return (
    <div className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-[1.5fr_1fr_1fr_1fr_1fr]">
      <div className="col-span-2 flex flex-col justify-between gap-2 bg-surface p-4 lg:col-span-1">
        <Figure name="Throughput" value={rate(status.docs_per_s)} unit="docs/s" />
        <Sparkline values={values} room={KEPT} height={28} className="h-7" label={`Documents a second since this page was opened, now ${rate(status.docs_per_s)}`} />
      </div>
      <Box><Figure name="In flight" value={count(open)} note={open === 0 ? "nothing waits" : `${count(running)} running, ${count(queued)} waiting${held > 0 ? `, ${count(held)} held` : ""}`} /></Box>
      <Box>
        <Figure name="Time left" value={open === 0 ? "–" : left.length > 0 ? duration(Math.max(...left)) : "…"}
          note={open === 0 ? "all done" : left.length > 0 ? `ready at ${ready.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}` : "too early to tell"} />
      </Box>
      <Box><Figure name="Done" value={count(completed)} note={lag > 0 ? `${count(lag)} on the way to search` : "all searchable"} /></Box>
      <Box>
        <Figure name="Failed" value={count(failed)} bad={failed > 0}
          note={dead > 0 ? <Link href="/dead" className="underline">{counted(dead, "dead letter")}</Link> : failed > 0 ? <Link href="/problems" className="underline">see why</Link> : "no dead letters"} />
      </Box>
    </div>
  );
}

const Box = ({ children }: { children: ReactNode }) => <div className="bg-surface p-4">{children}</div>;

function Figure({ name, value, unit, note, bad }: { name: string; value: string; unit?: string; note?: ReactNode; bad?: boolean }) {
  return (
    <dl>
      <dt className="text-sm text-ink-3">{name}</dt>
      <dd className={cx("text-2xl font-semibold tracking-tight", bad && "text-red")}>
        {value}{unit && <span className="ml-1 text-sm font-normal text-ink-3">{unit}</span>}
      </dd>
      {note && <dd className="text-sm text-ink-3">{note}</dd>}
    </dl>
  );
}

function Ledger() {
  const ledger = useLedger();
  if (!ledger.data) return ledger.error ? <Failure error={ledger.error} what="The ledger could not be had" /> : null;
  return (
    <div className={cx("flex flex-wrap items-center justify-between gap-2 rounded-lg border bg-surface px-4 py-2.5", ledger.data.balanced ? "border-line" : "border-red-line")}>
      <LedgerLine ledger={ledger.data} />
      <span className="text-sm text-ink-3 max-sm:hidden">every item that came in is accounted for</span>
    </div>
  );
}
