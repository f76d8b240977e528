/** Every document, as a table or a grid. Filters and layout are in the address; who goes back finds cursor and selection as they were. */
import { ArrowUp, Bookmark, FileSearch, Inbox, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { useStatus } from "../../api/queries";
import type { DocumentLine } from "../../api/types";
import { useKeys } from "../../app/keys";
import { usePlace } from "../../app/places";
import { lastSeen, setTrail } from "../../app/trail";
import { useParams } from "../../app/url";
import { Button } from "../../ui/Button";
import { count, counted } from "../../ui/format";
import { Command, Empty } from "../../ui/Notice";
import { Page, Pending } from "../../ui/Page";
import { retryFrom } from "../../ui/states";
import { useRetry } from "../../ui/useRetry";
import { useUploads } from "../../upload/UploadProvider";
import { filterOf, isFiltered, NO_FILTER } from "./filter";
import { Filters } from "./Filters";
import { Listing } from "./Listing";
import { Matching } from "./Matching";
import { type Cursor, moved, NO_CURSOR, placeOf } from "./cursor";
import { extend, NONE, type Selection, toggle } from "./selection";
import { SelectionBar } from "./SelectionBar";
import { useLiveLibrary } from "./useLiveLibrary";
import { useReview } from "./useReview";
import { removeView, useViews } from "./views";

export function LibraryScreen() {
  const [params, set] = useParams();
  const filter = useMemo(() => filterOf(params, new Date()), [params]);
  const status = useStatus().data;
  const { query, all, arrived, onView } = useLiveLibrary(filter);
  const order = useMemo(() => all.map((line) => line.document_id), [all]);
  const [left, keep] = usePlace<{ selection: Selection; cursor: Cursor }>("library");
  const [selection, setSelection] = useState<Selection>(left?.selection ?? NONE);
  const [cursor, setCursor] = useState<Cursor>(() => (left ? placeOf(order, lastSeen()) ?? left.cursor : NO_CURSOR));
  useEffect(() => keep({ selection, cursor }), [keep, selection, cursor]);
  // Documents opened from here are gone through in this order.
  useEffect(() => setTrail({ filter }), [filter]);
  const [, go] = useLocation();
  const { retry } = useRetry();
  const review = useReview();
  const select = useCallback(
    (line: DocumentLine, range: boolean) =>
      setSelection((now) => (range ? extend(now, order, line.document_id) : toggle(now, line.document_id))),
    [order],
  );
  const active = useMemo(() => (cursor.id === null ? -1 : order.indexOf(cursor.id)), [order, cursor]);
  const current = all[active];
  useKeys({
    j: () => setCursor(moved(cursor, order, 1)),
    k: () => setCursor(moved(cursor, order, -1)),
    enter: () => { if (current) go(`/documents/${current.document_id}`); },
    x: () => { if (current) select(current, false); },
    X: () => { if (current) select(current, true); },
    r: () => retry(selection.ids.size > 0 ? [...selection.ids] : current ? [current.document_id] : []),
    escape: () => { if (selection.ids.size > 0) setSelection(NONE); else setCursor(NO_CURSOR); },
  });
  // What the server can reprocess as a whole, by state and type alone.
  const simple = (filter.state || filter.type) && !filter.q && !filter.language && !filter.since && !filter.until && !filter.batch_id && !filter.tag;
  const [top, setTop] = useState(0);
  const more = query.hasNextPage && !query.isFetchingNextPage;
  const fetchNext = query.fetchNextPage;
  const onMore = useCallback(() => void fetchNext(), [fetchNext]);

  return (
    <Page title="Library" fill note={status ? `${isFiltered(params) && query.data ? `${count(all.length)}${query.hasNextPage ? " and more" : ""} of ` : ""}${counted(status.documents, "document")}` : null} actions={<><Views />{simple && all.length > 0 && <Matching state={filter.state} type={filter.type} />}</>}>
      <Filters params={params} set={(changes, replace) => { setCursor(NO_CURSOR); setSelection(NONE); set(changes, replace); }} lines={all} />
      {selection.ids.size > 0 && (
        <SelectionBar ids={[...selection.ids]} filter={filter} filtered={isFiltered(params)} more={query.hasNextPage} loaded={all.length} onSelect={(ids) => setSelection({ ids: new Set(ids), anchor: null })} />
      )}
      {arrived > 0 && (
        <button type="button" onClick={() => { onView(0, 0); setTop((times) => times + 1); }} className="absolute top-36 left-1/2 z-20 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line-strong bg-surface px-3 text-sm font-medium text-accent-ink">
          <ArrowUp size={14} aria-hidden /> {counted(arrived, "new document")}
        </button>
      )}
      {!query.data ? (
        <Pending of={query} what="The library could not be had" lines={12} />
      ) : all.length === 0 ? (
        <Nothing filtered={isFiltered(params)} onReset={() => set(NO_FILTER)} />
      ) : (
        <Listing
          lines={all} grid={params.get("view") === "grid"} active={active} top={top} selection={selection} more={more}
          onMore={onMore} onView={onView} onSelect={select} onSelectAll={(on) => setSelection(on ? { ids: new Set(order), anchor: null } : NONE)} onRetry={(line) => retry([line.document_id], retryFrom(line.state))} onReview={(line) => review(line.document_id)}
        />
      )}
    </Page>
  );
}

function Views() {
  const views = useViews();
  return (
    <>
      {views.map((view) => (
        <span key={view.name} className="flex h-7 items-center rounded-full border border-line pr-1 pl-2 text-sm">
          <Bookmark size={13} aria-hidden className="mr-1.5 text-ink-3" />
          <Link href={`/library?${view.search}`} className="hover:underline">{view.name}</Link>
          <button type="button" aria-label={`Forget the view ${view.name}`} onClick={() => removeView(view.name)} className="ml-1 grid size-5 place-items-center rounded-full text-ink-3 hover:bg-hover hover:text-ink">
            <X size={12} aria-hidden />
          </button>
        </span>
      ))}
    </>
  );
}

function Nothing({ filtered, onReset }: { filtered: boolean; onReset: () => void }) {
  const { choose } = useUploads();
  if (filtered) {
    return (
      <Empty icon={<FileSearch size={20} />} title="No document matches">
        <p>Nothing has all of these together.</p>
        <Button onClick={onReset}>Show everything</Button>
      </Empty>
    );
  }
  return (
    <Empty icon={<Inbox size={20} />} title="The library is empty">
      <p>Drop files or folders anywhere, choose some, or bring in a folder from a terminal.</p>
      <Button kind="primary" onClick={choose}>Choose files</Button>
      <Command text="docmill ingest ~/Documents" />
    </Empty>
  );
}
