/** The pages, small, to go to one of them. Only those in view are fetched. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { cx } from "../../ui/cx";
import { count } from "../../ui/format";
import { type Subject, useBlobUrl, usePageImage } from "../../ui/PageImage";

const STEP = 132;
/** Pixels across. */
export const SMALL = 160;

export function PageStrip({ document, page, pages, onPage }: { document: Subject; page: number; pages: number; onPage: (page: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: pages, getScrollElement: () => box.current, estimateSize: () => STEP, overscan: 2 });
  useEffect(() => { virtual.scrollToIndex(page - 1); }, [page, virtual]);
  return (
    <nav ref={box} aria-label="Pages" className="hidden w-26 shrink-0 overflow-y-auto border-r border-line bg-surface lg:block">
      <ol className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => (
          <li key={item.key} className="absolute inset-x-0 top-0" style={{ height: STEP, transform: `translateY(${item.start}px)` }}>
            <Thumb document={document} number={item.index + 1} here={item.index + 1 === page} onPage={onPage} />
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Thumb({ document, number, here, onPage }: { document: Subject; number: number; here: boolean; onPage: (page: number) => void }) {
  const url = useBlobUrl(usePageImage(document, number, SMALL).data);
  return (
    <button
      type="button"
      aria-label={`Page ${number}`}
      aria-current={here ? "page" : undefined}
      onClick={() => onPage(number)}
      className="group flex size-full flex-col items-center justify-center gap-1 outline-offset-[-3px]"
    >
      <span className={cx("grid h-24 w-18 place-items-center overflow-hidden rounded-sm border bg-white", here ? "border-accent ring-2 ring-accent" : "border-line-strong group-hover:border-ink-3")}>
        {url ? <img src={url} alt="" className="max-h-full max-w-full object-contain" /> : <span className="skeleton block size-full rounded-none" />}
      </span>
      <span className={cx("text-xs", here ? "font-semibold text-accent-ink" : "text-ink-3")}>{count(number)}</span>
    </button>
  );
}
