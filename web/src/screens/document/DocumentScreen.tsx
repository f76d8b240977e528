/** One document: the page, its text, what is known about it, where it belongs, what happened to it. */
import { ArrowLeft, ChevronDown, ChevronUp, Download, EllipsisVertical, Link as LinkIcon, RotateCw, Trash2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { useDeleteDocument } from "../../api/actions";
import { useDocument, usePageWords, useWhy } from "../../api/queries";
import { useSchemas } from "../../api/reviews";
import type { DocumentDetail } from "../../api/types";
import { useKeys } from "../../app/keys";
import { type Stop, useTrail } from "../../app/trail";
import { useBack, useParams } from "../../app/url";
import { BoxLayer } from "../../fields/BoxLayer";
import { fieldLines, pageOf, recordSource } from "../../fields/lines";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { useDownload } from "../../ui/download";
import { bytes, counted, pathParts, shown, typeName } from "../../ui/format";
import { queryWords } from "../../ui/highlight";
import { Menu, MenuItem } from "../../ui/Menu";
import { isDrawn, usePageImage } from "../../ui/PageImage";
import { Page, Pending } from "../../ui/Page";
import { copyText } from "../../ui/plain";
import { StateMark } from "../../ui/StateMark";
import { retryFrom } from "../../ui/states";
import { TabPanel, Tabs } from "../../ui/Tabs";
import { useSay } from "../../ui/Toasts";
import { useRetry } from "../../ui/useRetry";
import { Banner } from "./Banner";
import { Facts } from "./Facts";
import { Family } from "./Family";
import { Fields } from "./Fields";
import { LitWord } from "./lit";
import { Mail, mailBody } from "./Mail";
import { nextZoom, PageViewer } from "./PageViewer";
import { TextView } from "./TextView";
import { Timeline } from "./Timeline";

export function DocumentScreen({ id }: { id: string }) {
  const document = useDocument(id);
  const walk = useWalk(id);
  const back = useBack("/library");
  useKeys({ escape: back, j: walk.next, k: walk.previous });
  if (document.data) return <Body document={document.data} walk={walk} onBack={back} />;
  return (
    <Page title="Document">
      <Pending of={document} what="The document could not be had" lines={10} />
      {document.error && <p className="px-4"><Link href="/library" className="font-medium text-accent-ink underline">Go to the library</Link></p>}
    </Page>
  );
}

interface Walk { previous: (() => void) | undefined; next: (() => void) | undefined }

/** On through the list that the document was opened from. Going back leads to the list, however far one went. */
function useWalk(id: string): Walk {
  const { previous, next } = useTrail(id);
  const [params] = useParams();
  const [, go] = useLocation();
  const tab = params.get("tab");
  const to = (stop: Stop | null) =>
    stop ? () => go(tab ? `${stop.href}${stop.href.includes("?") ? "&" : "?"}tab=${tab}` : stop.href, { replace: true }) : undefined;
  return { previous: to(previous), next: to(next) };
}

function Body({ document, walk, onBack }: { document: DocumentDetail; walk: Walk; onBack: () => void }) {
  const [params, set] = useParams();
  const { retry, busy } = useRetry();
  const open = document.state === "processing" || document.state === "stale" || document.state === "failed" || document.state === "needs_review";
  const why = useWhy(document.document_id, open).data;
  const page = Math.max(1, Number(params.get("page")) || 1);
  const zoom = Number(params.get("zoom")) || 100;
  // The first page tells whether there are images at all; until it has, their place is kept, so that nothing jumps.
  const first = usePageImage(document, 1, 320, document.state !== "processing").data;
  const images = isDrawn(document.media_type) && first !== null;
  const pages = document.page_count ?? 1;
  const { record } = document;
  const schemas = useSchemas(record !== null);
  const lines = useMemo(() => (record ? fieldLines(recordSource(record), schemas?.find((one) => one.name === record.schema)) : []), [record, schemas]);
  const [field, setField] = useState<string | null>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const tab = params.get("tab") ?? (images ? "text" : "about");
  const shownPage = Math.min(page, pages);
  const query = params.get("q") ?? "";
  const wanted = useMemo(() => queryWords(query), [query]);
  const words = usePageWords(document.document_id, shownPage, Boolean(first)).data;
  const [lit] = useState(() => new LitWord());
  useEffect(() => lit.set(null), [lit, shownPage]);
  const goPage = (to: number) => set({ page: Math.min(pages, Math.max(1, to)) }, true);
  useKeys({
    "[": () => goPage(page - 1),
    "]": () => goPage(page + 1),
    "+": () => set({ zoom: nextZoom(zoom, 1) }, true),
    "-": () => set({ zoom: nextZoom(zoom, -1) }, true),
    r: () => retry([document.document_id]),
  });
  const { file } = pathParts(shown(document.name));
  const family = document.children.length + (document.parent ? 1 : 0);
  const body = mailBody(document);
  const text = body ? <Mail document={document} body={body} query={query} lit={lit} /> : <TextView document={document} page={params.has("page") ? page : null} query={query} words={words} lit={lit} onPage={goPage} />;
  const choose = (path: string) => {
    setField(path);
    const stands = pageOf(lines.find((line) => line.path === path));
    set({ tab: "fields", ...(stands ? { page: stands } : {}) }, true);
  };
  const tabs = [
    ...(record ? [{ id: "fields", name: "Fields", note: Object.keys(record.fields).length }] : []),
    ...(images ? [{ id: "text", name: "Text" }] : []),
    { id: "about", name: "About", note: document.problems.length > 0 ? document.problems.length : null },
    // What holds others and has no text of its own shows them in the place of the text already.
    ...(!images && !body && document.children.length > 0 && !document.word_count ? [] : [{ id: "family", name: "Family", note: family > 0 ? family : null }]),
    { id: "timeline", name: "Timeline", note: document.timeline.length },
  ];
  const chosen = tabs.some((one) => one.id === tab) ? tab : "about";
  const overlay = (drawn: number) => <BoxLayer lines={lines} page={shownPage} active={field} lit={hovered} drawn={drawn} zoom={zoom} onChoose={choose} onHover={setHovered} />;
  return (
    <Page
      title={document.title ? shown(document.title) : file}
      fill
      note={<span className="flex items-center gap-2"><StateMark state={document.state} stage={document.status} /> <span className="max-sm:hidden">{typeName(document.media_type)} · {bytes(document.bytes)}{document.page_count ? ` · ${counted(document.page_count, "page")}` : ""}</span></span>}
      actions={<Actions document={document} walk={walk} onBack={onBack} busy={busy} onRetry={() => retry([document.document_id])} />}
    >
      <Banner document={document} why={why} busy={busy} onRetry={() => retry([document.document_id], retryFrom(document.state))} />
      <div className="min-h-0 flex-1 max-lg:overflow-y-auto lg:grid lg:grid-cols-[minmax(0,1fr)_clamp(22rem,38%,34rem)]">
        <div className="min-h-0 min-w-0 lg:border-r lg:border-line">
          {images
            ? <div className="h-full max-lg:h-[70vh]"><PageViewer document={document} page={shownPage} pages={pages} zoom={zoom} words={words} wanted={wanted} lit={lit} onPage={goPage} onZoom={(to) => set({ zoom: to }, true)} overlay={chosen === "fields" ? overlay : undefined} /></div>
            : <div className="h-full overflow-y-auto bg-surface max-lg:max-h-[60vh]" tabIndex={0} data-scrolls role="region" aria-label="Text">{text}</div>}
        </div>
        <div className="flex min-h-0 flex-col bg-surface max-lg:border-t max-lg:border-line">
          <Tabs label="About the document" tabs={tabs} current={chosen} onChoose={(next) => set({ tab: next }, true)} />
          <TabPanel id={chosen}>
            {chosen === "fields" && record ? <Fields document={document} record={record} lines={lines} active={field} lit={hovered} onActive={choose} onHover={setHovered} /> : chosen === "text" ? text : chosen === "about" ? <Facts document={document} /> : chosen === "family" ? <Family document={document} /> : <Timeline document={document} onPage={goPage} />}
          </TabPanel>
        </div>
      </div>
    </Page>
  );
}

function Actions({ document, walk, onBack, busy, onRetry }: { document: DocumentDetail; walk: Walk; onBack: () => void; busy: boolean; onRetry: () => void }) {
  const [asking, setAsking] = useState(false);
  const remove = useDeleteDocument();
  const [, go] = useLocation();
  const say = useSay();
  const download = useDownload();
  const { file } = pathParts(shown(document.name));
  return (
    <>
      <Button kind="quiet" icon={<ArrowLeft size={14} aria-hidden />} aria-label="Back" onClick={onBack}><span className="max-sm:hidden">Back</span></Button>
      {(walk.previous || walk.next) && (
        <span className="flex">
          <Button kind="quiet" square aria-label="Previous document" title="Previous document (k)" disabled={!walk.previous} icon={<ChevronUp size={16} aria-hidden />} onClick={walk.previous} />
          <Button kind="quiet" square aria-label="Next document" title="Next document (j)" disabled={!walk.next} icon={<ChevronDown size={16} aria-hidden />} onClick={walk.next} />
        </span>
      )}
      <Button icon={<Download size={14} aria-hidden />} aria-label="Download" onClick={() => download(document)}><span className="max-sm:hidden">Download</span></Button>
      <Button icon={<RotateCw size={14} aria-hidden />} busy={busy} aria-label="Reprocess" disabled={document.state === "processing"} onClick={onRetry}><span className="max-sm:hidden">Reprocess</span></Button>
      <Menu trigger={<Button kind="quiet" square aria-label="More" icon={<EllipsisVertical size={16} aria-hidden />} />}>
        <MenuItem icon={<LinkIcon size={14} aria-hidden />} onSelect={() => copyText(window.location.href).then(() => say.done("Address copied"), (error: unknown) => say.failed("Not copied", error))}>Copy the address</MenuItem>
        <MenuItem danger icon={<Trash2 size={14} aria-hidden />} onSelect={() => setAsking(true)}>Delete…</MenuItem>
      </Menu>
      {asking && (
        <Confirm
          title="Delete this document?" action="Delete" danger busy={remove.isPending} onClose={() => setAsking(false)}
          onConfirm={() => remove.mutate(document.document_id, {
            onSuccess: () => { say.done(`${file} deleted`); go("/library"); },
            onError: (error) => { setAsking(false); say.failed("Not deleted", error); },
          })}
        >
          <p><strong className="font-semibold text-ink">{file}</strong>, its text and its history will be gone. This cannot be taken back.</p>
        </Confirm>
      )}
    </>
  );
}
