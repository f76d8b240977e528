/** The page as it looks, with zoom. */
import { ChevronLeft, ChevronRight, ZoomIn, ZoomOut } from "lucide-react";
import type { DocumentDetail } from "../../api/types";
import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { useBlobUrl, usePageImage } from "../../ui/PageImage";

export const ZOOMS = [50, 75, 100, 150, 200, 300];

/** One step up or down from `zoom`. */
export function nextZoom(zoom: number, by: 1 | -1): number {
  const at = ZOOMS.findIndex((step) => step >= zoom);
  return ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, (at < 0 ? ZOOMS.length - 1 : at) + by))] ?? 100;
}

interface Props { document: DocumentDetail; page: number; pages: number; zoom: number; onPage: (page: number) => void; onZoom: (zoom: number) => void }

export function PageViewer({ document, page, pages, zoom, onPage, onZoom }: Props) {
  const image = usePageImage(document, page, zoom > 150 ? 2400 : 1400);
  const url = useBlobUrl(image.data);
  return (
    <div className="flex h-full min-h-0 flex-col bg-sunken">
      <div className="flex items-center justify-center gap-1 border-b border-line bg-surface px-2 py-1">
        <Button kind="quiet" square aria-label="Previous page" disabled={page <= 1} icon={<ChevronLeft size={16} aria-hidden />} onClick={() => onPage(page - 1)} />
        <span className="min-w-20 text-center text-sm" aria-live="polite">{count(page)} of {count(pages)}</span>
        <Button kind="quiet" square aria-label="Next page" disabled={page >= pages} icon={<ChevronRight size={16} aria-hidden />} onClick={() => onPage(page + 1)} />
        <span className="mx-2 h-4 w-px bg-line" aria-hidden />
        <Button kind="quiet" square aria-label="Zoom out" disabled={zoom <= (ZOOMS[0] ?? 50)} icon={<ZoomOut size={16} aria-hidden />} onClick={() => onZoom(nextZoom(zoom, -1))} />
        <span className="min-w-12 text-center text-sm">{zoom} %</span>
        <Button kind="quiet" square aria-label="Zoom in" disabled={zoom >= (ZOOMS.at(-1) ?? 300)} icon={<ZoomIn size={16} aria-hidden />} onClick={() => onZoom(nextZoom(zoom, 1))} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto p-4" tabIndex={0} role="region" aria-label={`Page ${page}`}>
        {url
          ? <img src={url} alt={`Page ${page}; its text stands beside it`} className="mx-auto block max-w-none border border-line bg-white" style={{ width: `${zoom}%` }} />
          : image.isPending ? <div className="skeleton mx-auto aspect-[1/1.414] w-full max-w-2xl" role="status" aria-label="Loading the page" />
          : <p className="p-6 text-center text-ink-3">{image.error ? "This page could not be shown." : "There is no image of this page."}</p>}
      </div>
    </div>
  );
}
