/** What went wrong, grouped by cause: what it means, what to do, one button for the group. */
import { CircleCheck, RotateCw } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useRetryGroup } from "../../api/actions";
import { useFacets, useProblems } from "../../api/queries";
import type { ProblemGroup } from "../../api/types";
import { Button } from "../../ui/Button";
import { cause, harmless } from "../../ui/causes";
import { Confirm } from "../../ui/Dialog";
import { count, counted, shown } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { Page, Pending } from "../../ui/Page";
import { Badge } from "../../ui/StateMark";
import { Said } from "../../ui/Said";
import { Time } from "../../ui/Time";
import { useSay } from "../../ui/Toasts";

export function Problems() {
  const problems = useProblems();
  const groups = problems.data?.problems ?? [];
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  const loaded = problems.data !== undefined;
  useEffect(() => {
    if (loaded) document.getElementById(window.location.hash.slice(1))?.scrollIntoView({ block: "start" });
  }, [loaded]);
  return (
    <Page title="Problems" note={all > 0 ? `${counted(all, "document")}, ${counted(groups.length, "cause")}` : null}>
      {!problems.data ? <Pending of={problems} what="The problems could not be had" lines={8} />
        : groups.length === 0 ? (
          <Empty icon={<CircleCheck size={20} />} title="No problems">
            <p>Nothing failed, and nothing was read in part only. What fails later is grouped here by cause.</p>
            <Unsupported />
          </Empty>
        ) : (
          <div className="mx-auto flex max-w-5xl flex-col gap-3 p-4 md:p-6">
            {groups.map((group) => <Group key={group.cause} group={group} />)}
            <Unsupported />
          </div>
        )}
    </Page>
  );
}

/** Not wrong, and not to be forgotten: what was stored without being read. */
function Unsupported() {
  const n = useFacets()?.states["unsupported"] ?? 0;
  if (n === 0) return null;
  return (
    <p className="text-center text-sm text-ink-3">
      <Link href="/library?state=unsupported" className="underline hover:text-ink">{counted(n, "document")}</Link> {n === 1 ? "is" : "are"} stored, but of a type that nothing here reads.
    </p>
  );
}

function Group({ group }: { group: ProblemGroup }) {
  const words = cause(group.cause);
  const retry = useRetryGroup();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  const run = () =>
    retry.mutate(group.cause, {
      onSuccess: (done) => { setAsking(false); say.done(`${counted(done.count, "document")} queued again${done.skipped > 0 ? `, ${count(done.skipped)} left as they are` : ""}`); },
      onError: (error) => { setAsking(false); say.failed("Not queued", error); },
    });
  return (
    <section id={group.cause} aria-label={words.title} className="rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 pt-3.5 pb-3">
        <div className="min-w-0 flex-1 basis-72">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold">
            {words.title} <span className="font-normal text-ink-3">· {count(group.count)}</span>
            {group.failed > 0 && <Badge tone="red">{count(group.failed)} failed</Badge>}
            {group.count > group.failed && <Badge tone={harmless(group) ? "neutral" : "amber"}>{count(group.count - group.failed)} {harmless(group) ? "stored" : "incomplete"}</Badge>}
          </h2>
          <p className="mt-1 text-sm text-ink-2">{words.meaning}</p>
          <p className="text-sm text-ink-3"><Said text={words.remedy} /></p>
        </div>
        <Button icon={<RotateCw size={14} aria-hidden />} busy={retry.isPending} onClick={() => (group.count > 1 ? setAsking(true) : run())}>
          Retry {group.count > 1 ? `all ${count(group.count)}` : ""}
        </Button>
      </div>
      {group.samples.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {group.samples.slice(0, 3).map((sample) => (
            <li key={sample.ingestion_id} className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 px-4 py-2 text-sm">
              {sample.document_id
                ? <Link href={`/documents/${sample.document_id}?tab=timeline`} className="truncate font-medium hover:underline">{shown(sample.name)}</Link>
                : <span className="truncate font-medium">{shown(sample.name)}</span>}
              <Time at={sample.at} className="text-ink-3" />
              <span className="col-span-2 line-clamp-2 break-words text-ink-2"><Said text={sample.message} /></span>
            </li>
          ))}
        </ul>
      )}
      {asking && (
        <Confirm title={`Retry ${counted(group.count, "document")}?`} action={`Retry ${counted(group.count, "document")}`} busy={retry.isPending} onConfirm={run} onClose={() => setAsking(false)}>
          <p>All that stand here under “{words.title}” are read again. <Said text={words.remedy} /></p>
        </Confirm>
      )}
    </section>
  );
}
