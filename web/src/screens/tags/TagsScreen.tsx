/** Tags, the most frequent first, and those that may be the same. */
import { ArrowRight, Merge, Search, Tags } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useMergeTags, useSimilarTags, useTags } from "../../api/tags";
import type { TagPair } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { begun, count, counted, shown } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { Page, Panel, Pending } from "../../ui/Page";
import { Said } from "../../ui/Said";
import { TagChip } from "../../ui/TagChip";
import { useSay } from "../../ui/Toasts";

export function TagsScreen() {
  const [typed, setTyped] = useState("");
  const wanted = useDeferredValue(typed.trim());
  const tags = useTags(wanted);
  const similar = useSimilarTags().data;
  const items = tags.data?.items ?? [];
  return (
    <Page title="Tags" note={tags.data ? (tags.data.next ? `the ${count(items.length)} most frequent` : counted(items.length, "tag")) : null}>
      {!tags.data ? <Pending of={tags} what="The tags could not be had" lines={8} />
        : items.length === 0 && !wanted ? (
          <Empty icon={<Tags size={20} />} title="No tags yet"><p>Documents get tags from what they say, as soon as they are read.</p></Empty>
        ) : (
          <div className="mx-auto grid max-w-5xl items-start gap-4 p-4 md:p-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
            <Panel title="All tags" aside={
              <label className="relative block"><span className="sr-only">Filter</span><Search size={13} aria-hidden className="pointer-events-none absolute top-2 left-2 text-ink-3" />
                <input value={typed} onChange={(event) => setTyped(event.target.value)} placeholder="Filter…" className="h-7 w-40 rounded-md border border-line-strong bg-surface pl-7 text-sm text-ink placeholder:text-ink-3" /></label>
            }>
              <ul className="flex flex-wrap gap-x-3 gap-y-2 p-4">
                {items.map((one) => <li key={one.tag} className="flex items-center gap-1"><TagChip tag={one.tag} /><span className="text-xs text-ink-3" title={counted(one.documents, "document")}>{count(one.documents)}</span></li>)}
                {items.length === 0 && <li className="text-sm text-ink-3">No tag has “{shown(wanted)}” in it.</li>}
              </ul>
            </Panel>
            {similar && (
              <Panel title="May be the same" aside={similar.items.length > 0 ? count(similar.items.length) : null}>
                {similar.items.length === 0 && <p className="p-4 text-sm text-ink-3">No two tags look alike.</p>}
                <ul>{similar.items.map((pair) => <Pair key={`${pair.from.tag}\n${pair.into.tag}`} pair={pair} />)}</ul>
                {similar.note && <p className="border-t border-line px-4 py-2 text-xs text-ink-3"><Said text={begun(similar.note)} /></p>}
              </Panel>
            )}
          </div>
        )}
    </Page>
  );
}

function Pair({ pair }: { pair: TagPair }) {
  const merge = useMergeTags();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  const [from, into] = [shown(pair.from.tag), shown(pair.into.tag)];
  const run = () =>
    merge.mutate({ from: pair.from.tag, into: pair.into.tag }, {
      onSuccess: (done) => say.done(`“${from}” is “${into}” now, in ${counted(done.moved, "document")}`),
      onError: (error) => say.failed("Not merged", error),
      onSettled: () => setAsking(false),
    });
  return (
    <li className="flex items-center gap-2 border-line px-4 py-2 text-sm not-first:border-t">
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-1.5"><span className="break-words">{from}</span><ArrowRight size={13} aria-hidden className="shrink-0 text-ink-3" /><span className="font-medium break-words">{into}</span></span>
        <span className="text-xs text-ink-3">{pair.method === "spelling" ? "written alike" : "mean alike"} · {count(pair.from.documents)} and {count(pair.into.documents)} documents</span>
      </span>
      <Button icon={<Merge size={13} aria-hidden />} busy={merge.isPending} aria-label={`Merge ${from} into ${into}`} onClick={() => setAsking(true)}>Merge</Button>
      {asking && (
        <Confirm title={`Make “${from}” “${into}”?`} action="Merge" busy={merge.isPending} onConfirm={run} onClose={() => setAsking(false)}>
          <p>{counted(pair.from.documents, "document")} will have the tag “{into}” instead, and so will those that come later.</p>
        </Confirm>
      )}
    </li>
  );
}
