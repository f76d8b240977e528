/** What a person should look at, least certain first. */
import { ChevronRight, CircleCheckBig, FileOutput, ListChecks, Lock, Play } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useMe } from "../../api/queries";
import { useReviews, useSchemas } from "../../api/reviews";
import type { ReviewLine } from "../../api/types";
import { useKeys } from "../../app/keys";
import { useParams } from "../../app/url";
import { fieldName, spoken } from "../../fields/names";
import { Sure } from "../../fields/Sure";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { count, pathParts, shown } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { Page, Pending } from "../../ui/Page";
import { useBlobUrl, usePageImage } from "../../ui/PageImage";
import { FileIcon } from "../../ui/FileIcon";
import { Badge } from "../../ui/StateMark";
import { Time, useNow } from "../../ui/Time";
import { typeByName } from "../../ui/typeByName";
import { ExportDialog } from "../export/ExportDialog";
import { Facet } from "../library/Facet";
import { isTaken, nextReview } from "./queue";
import { reviewTitle, STATES } from "./words";

export function ReviewQueue() {
  const [params, set] = useParams();
  const [, go] = useLocation();
  const schema = params.get("schema");
  const done = params.get("state") === "done";
  const reviews = useReviews({ schema: schema ?? undefined, state: done ? "done" : undefined });
  const schemas = useSchemas() ?? [];
  const me = useMe().data?.reviewer;
  const now = useNow();
  const [active, setActive] = useState(-1);
  const [exporting, setExporting] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const lines = useMemo(() => reviews.data?.pages.flatMap((page) => page.items) ?? [], [reviews.data]);
  const open = reviews.data?.pages[0]?.open;
  const first = done ? null : nextReview(lines, null, me, now);
  const address = (line: ReviewLine) => `/reviews/${line.review_id}${schema ? `?schema=${encodeURIComponent(schema)}` : ""}`;
  useEffect(() => setActive(-1), [schema, done]);
  useEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const start = () => { if (first) go(address(first)); };
  useKeys({
    j: () => setActive(Math.min(active + 1, lines.length - 1)),
    k: () => setActive(Math.max(active - 1, 0)),
    enter: () => { const line = lines[active]; if (line) go(address(line)); else start(); },
    n: start,
  });
  return (
    <Page
      title="Review"
      note={open !== undefined ? `${count(open)} open` : null}
      actions={
        <>
          <Button icon={<FileOutput size={14} aria-hidden />} onClick={() => setExporting(true)} aria-label="Export records"><span className="max-sm:hidden">Export…</span></Button>
          <Button kind="primary" icon={<Play size={14} aria-hidden />} disabled={!first} onClick={start}>Start reviewing</Button>
        </>
      }
    >
      <div className="mx-auto max-w-5xl p-4 md:p-6">
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <div role="group" aria-label="State" className="flex gap-1">
            {[["Open", false], ["Decided", true]].map(([name, value]) => (
              <button key={String(name)} type="button" aria-pressed={done === value} onClick={() => set({ state: value ? "done" : null })} className={cx("h-8 rounded-md px-2.5 text-sm", done === value ? "bg-accent-soft font-medium text-accent-ink" : "text-ink-2 hover:bg-hover")}>{name}</button>
            ))}
          </div>
          {(schemas.length > 0 || schema) && (
            <Facet name="Schema" value={schema} label={schema ? fieldName(schema) : null} choices={schemas.map((one) => ({ value: one.name, name: fieldName(one.name) }))} onChoose={(value) => set({ schema: value })} />
          )}
          <span className="ml-auto text-xs text-ink-3 max-sm:hidden">least certain first · <kbd>j</kbd> <kbd>k</kbd> <kbd>Enter</kbd></span>
        </div>
        {!reviews.data ? <Pending of={reviews} what="The reviews could not be had" lines={8} />
          : lines.length === 0 ? <Nothing done={done} schema={schema} onAll={() => set({ schema: null })} />
          : (
            <>
              <ol ref={list} className="overflow-hidden rounded-lg border border-line bg-surface">
                {lines.map((line, i) => <Item key={line.review_id} line={line} href={address(line)} active={i === active} taken={isTaken(line, me, now)} mine={line.locked_by !== null && line.locked_by === me && !done} />)}
              </ol>
              {reviews.hasNextPage && <div className="mt-3 flex justify-center"><Button busy={reviews.isFetchingNextPage} onClick={() => void reviews.fetchNextPage()}>Show more</Button></div>}
            </>
          )}
      </div>
      {exporting && <ExportDialog schema={schema} onClose={() => setExporting(false)} />}
    </Page>
  );
}

function Item({ line, href, active, taken, mine }: { line: ReviewLine; href: string; active: boolean; taken: boolean; mine: boolean }) {
  const { file } = pathParts(shown(line.name));
  const reasons = line.reasons.map((reason) => shown(spoken(reason)));
  return (
    <li className="border-line not-first:border-t">
      <Link href={href} className={cx("grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3.5 gap-y-1 px-4 py-2.5 outline-offset-[-2px] hover:bg-hover sm:grid-cols-[auto_minmax(0,1fr)_auto]", active && "bg-hover shadow-[inset_3px_0_0_var(--accent)]")}>
        <Picture line={line} />
        <span className="min-w-0">
          <span className="flex items-center gap-2">
            <span className="truncate font-medium">{reviewTitle(line)}</span>
            {line.title && <span className="truncate text-xs text-ink-3 max-md:hidden">{file}</span>}
          </span>
          <span className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
            <Badge tone="neutral">{fieldName(shown(line.schema))}</Badge>
            {line.state !== "open" ? <Badge tone={STATES[line.state].tone}>{STATES[line.state].label}</Badge>
              : taken ? <Badge tone="blue" icon={<Lock size={11} aria-hidden />}>{line.locked_by === "local" ? "open elsewhere" : `${shown(line.locked_by ?? "")} has it`}</Badge>
              : mine && <Badge tone="accent">held by you</Badge>}
            {reasons.length > 0 && <span className="min-w-0 truncate" title={reasons.join("\n")}>{reasons.slice(0, 2).join(" · ")}{reasons.length > 2 && ` · ${reasons.length - 2} more`}</span>}
          </span>
        </span>
        <span className="flex items-center gap-3 max-sm:col-start-2">
          <span className="flex gap-x-3 gap-y-0.5 sm:flex-col sm:items-end"><Sure value={line.confidence} /><Time at={line.created_at} className="text-xs text-ink-3" /></span>
          <ChevronRight size={15} aria-hidden className="text-ink-3 max-sm:hidden" />
        </span>
      </Link>
    </li>
  );
}

/** The first page, small. */
function Picture({ line }: { line: ReviewLine }) {
  const type = typeByName(line.name);
  const url = useBlobUrl(usePageImage({ document_id: line.document_id, media_type: type, bytes: 0 }, 1, 160, type !== null).data);
  return (
    <span aria-hidden className="paper grid h-13 w-10 shrink-0 place-items-center overflow-hidden bg-white">
      {url ? <img src={url} alt="" className="size-full object-cover object-top" /> : <span className="grid size-full place-items-center bg-sunken text-ink-3"><FileIcon type={type ?? "text/plain"} size={16} /></span>}
    </span>
  );
}

function Nothing({ done, schema, onAll }: { done: boolean; schema: string | null; onAll: () => void }) {
  if (schema) {
    return (
      <Empty icon={<ListChecks size={20} />} title={`No ${fieldName(schema).toLowerCase()} ${done ? "was decided yet" : "waits"}`}>
        <Button onClick={onAll}>Show all schemas</Button>
      </Empty>
    );
  }
  if (done) return <Empty icon={<ListChecks size={20} />} title="Nothing was decided yet"><p>What is accepted, corrected or rejected stands here, with who and when.</p></Empty>;
  return (
    <Empty icon={<CircleCheckBig size={20} />} title="Nothing to review">
      <p>Records that are complete and certain pass by themselves. What is missing, doubtful or does not add up waits here for a person.</p>
    </Empty>
  );
}
