/** The page as it looks, with zoom, all pages beside it, and its words where they stand. */
import { ChevronLeft, ChevronRight, ScanText, ZoomIn, ZoomOut } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { DocumentState, PageWords } from "../../api/types";
import { Button } from "../../ui/Button";
import { count, counted } from "../../ui/format";
import { type Subject, useBlobUrl, usePageImage } from "../../ui/PageImage";
import type { LitWord } from "./lit";
import { PageStrip, SMALL } from "./PageStrip";
import { WordLayer } from "./WordLayer";
import { isHit } from "./words";

export const ZOOMS = [50, 75, 100, 125, 150, 200, 300];

/** One step up or down from `zoom`. */
export function nextZoom(zoom: number, by: 1 | -1): number {
  const at = ZOOMS.findIndex((step) => step >= zoom);
  return ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, (at < 0 ? ZOOMS.length - 1 : at) + by))] ?? 100;
}

/** At 100 % a page is as wide as there is room, up to this. */
const WIDE = 820;
const WIDTHS = [800, 1200, 1600, 2400];

/** The least of some widths that is sharp enough, so that a little zoom needs no new image. */
export function imageWidth(zoom: number, density: number): number {
  const needed = (WIDE * zoom * Math.min(density, 2)) / 100;
  return WIDTHS.find((width) => width >= needed) ?? 2400;
}

interface Props {
  document: Subject & { state: DocumentState };
  page: number;
  pages: number;
  zoom: number;
  words: PageWords | null | undefined;
  /** The words that were searched for. */
  wanted: string[];
  lit: LitWord;
  onPage: (page: number) => void;
  onZoom: (zoom: number) => void;
  onWord?: ((word: number, range: boolean) => void) | undefined;
  /** What is drawn over the page; it is told how often the image has been drawn, because only then the page has its size. */
  overlay?: (drawn: number) => ReactNode;
}

export function PageViewer({ document, page, pages, zoom, words, wanted, lit, onPage, onZoom, onWord, overlay }: Props) {
  const width = imageWidth(zoom, window.devicePixelRatio);
  const image = usePageImage(document, page, width, document.state !== "processing");
  // The next page is there before it is asked for.
  usePageImage(document, page + 1, width, page < pages && image.isSuccess);
  // The small one of the strip stands in until the large one is there.
  const small = usePageImage(document, page, SMALL, pages > 1 && !image.data && document.state !== "processing");
  const url = useBlobUrl(image.data ?? small.data);
  const view = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState(0);
  // Braces: newer browsers answer with a promise, and React would take that for what undoes the effect.
  useEffect(() => { view.current?.scrollTo({ top: 0 }); }, [page]);
  const hits = words && wanted.length > 0 ? words.words.filter((word) => isHit(word.text, wanted)).length : 0;
  return (
    <div className="flex h-full min-h-0 flex-col bg-sunken">
      <div className="flex items-center gap-1 border-b border-line bg-surface px-2 py-1">
        <Button kind="quiet" square aria-label="Previous page" disabled={page <= 1} icon={<ChevronLeft size={16} aria-hidden />} onClick={() => onPage(page - 1)} />
        <PageNumber page={page} pages={pages} onPage={onPage} />
        <Button kind="quiet" square aria-label="Next page" disabled={page >= pages} icon={<ChevronRight size={16} aria-hidden />} onClick={() => onPage(page + 1)} />
        <span role="status" className="min-w-0 flex-1 truncate px-2 text-center text-xs text-ink-3 max-sm:sr-only">
          {hits > 0 ? `${counted(hits, "hit")} on this page` : words?.source === "ocr" ? <span className="inline-flex items-center gap-1.5"><ScanText size={13} aria-hidden /> read from the image</span> : null}
        </span>
        <Button kind="quiet" square className="max-sm:ml-auto" aria-label="Zoom out" disabled={zoom <= (ZOOMS[0] ?? 50)} icon={<ZoomOut size={16} aria-hidden />} onClick={() => onZoom(nextZoom(zoom, -1))} />
        <button type="button" title="As wide as there is room" aria-label={`Zoom: ${zoom} %. Set to 100 %`} onClick={() => onZoom(100)} className="h-8 min-w-13 rounded-md text-center text-sm text-ink-2 hover:bg-hover">{zoom} %</button>
        <Button kind="quiet" square aria-label="Zoom in" disabled={zoom >= (ZOOMS.at(-1) ?? 300)} icon={<ZoomIn size={16} aria-hidden />} onClick={() => onZoom(nextZoom(zoom, 1))} />
      </div>
      <div className="flex min-h-0 flex-1">
        {pages > 1 && <PageStrip document={document} page={page} pages={pages} onPage={onPage} />}
        <div ref={view} data-scrolls className="min-h-0 min-w-0 flex-1 overflow-auto p-4 md:p-5" tabIndex={0} role="region" aria-label={`Page ${page}`}>
          {url ? (
            <div className="paper relative mx-auto bg-white" style={{ width: `calc(min(100%, ${WIDE}px) * ${zoom / 100})` }}>
              <img src={url} alt={`Page ${page}; its text stands beside it`} className="block h-auto w-full" onLoad={() => setDrawn((times) => times + 1)} />
              {words && words.number === page && <WordLayer page={words} wanted={wanted} lit={lit} onWord={onWord} />}
              {overlay?.(drawn)}
            </div>
          ) : image.isPending ? (
            <div className="paper mx-auto flex aspect-[1/1.414] w-full max-w-[820px] flex-col gap-4 bg-surface p-[10%]" role="status" aria-label="Loading the page">
              {["42%", "96%", "91%", "97%", "62%", "94%", "88%", "35%"].map((wide, i) => <div key={i} className="skeleton h-3" style={{ width: wide }} />)}
            </div>
          ) : (
            <p className="p-10 text-center text-ink-3">{image.error ? "This page could not be shown." : "There is no image of this page."} Its text stands beside it.</p>
          )}
        </div>
      </div>
    </div>
  );
}

/** Says the page, and takes another. */
function PageNumber({ page, pages, onPage }: { page: number; pages: number; onPage: (page: number) => void }) {
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = Number.parseInt(typed, 10);
    if (Number.isFinite(wanted)) onPage(wanted);
    setTyped(String(page));
  };
  return (
    <form onSubmit={submit} className="flex items-center gap-1.5 text-sm text-ink-3">
      <input aria-label="Page" inputMode="numeric" value={typed} onChange={(event) => setTyped(event.target.value)} onBlur={() => setTyped(String(page))}
        className="h-7 w-10 rounded-md border border-line-strong bg-surface text-center text-ink" />
      <span className="whitespace-nowrap">of {count(pages)}</span>
    </form>
  );
}
