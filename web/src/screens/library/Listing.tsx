/** The documents as a table or a grid, of which only what is in view exists. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { DocumentLine } from "../../api/types";
import { usePlace } from "../../app/places";
import { Card } from "./Card";
import { Checkbox } from "./Checkbox";
import { COLUMNS, Row } from "./Row";
import type { Selection } from "./selection";

const ROW = 40;
const CARD = { width: 172, height: 252, gap: 14 };
/** Left and right of the cards, where the screen is narrow: two of them stand beside each other on a telephone. */
const MARGIN = 32;

interface Props {
  lines: DocumentLine[];
  grid: boolean;
  active: number;
  /** Changes when the first line is to be shown. */
  top: number;
  selection: Selection;
  more: boolean;
  onMore: () => void;
  onView: (first: number, last: number) => void;
  onSelect: (line: DocumentLine, range: boolean) => void;
  onSelectAll: (on: boolean) => void;
  onRetry: (line: DocumentLine) => void;
  onReview: (line: DocumentLine) => void;
}

/** How many cards fit beside each other. */
function useColumns(box: RefObject<HTMLDivElement | null>, grid: boolean): number {
  const [columns, setColumns] = useState(1);
  useLayoutEffect(() => {
    const element = box.current;
    if (!grid || !element) return;
    const measure = () => setColumns(Math.max(1, Math.floor((element.clientWidth - MARGIN + CARD.gap) / (CARD.width + CARD.gap))));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, grid]);
  return grid ? columns : 1;
}

export function Listing(props: Props) {
  const { lines, grid, active, top, selection, more, onMore, onView, onSelect, onSelectAll, onRetry, onReview } = props;
  const box = useRef<HTMLDivElement>(null);
  const columns = useColumns(box, grid);
  const rows = Math.ceil(lines.length / columns);
  const [left, keep] = usePlace<number>("listing");
  const virtual = useVirtualizer({
    count: rows,
    initialOffset: left ?? 0,
    getScrollElement: () => box.current,
    estimateSize: () => (grid ? CARD.height + CARD.gap : ROW),
    overscan: 8,
  });
  useEffect(() => { virtual.measure(); }, [grid, columns, virtual]);
  const items = virtual.getVirtualItems();
  const first = (items[0]?.index ?? 0) * columns;
  const last = ((items.at(-1)?.index ?? 0) + 1) * columns - 1;
  useEffect(() => onView(first, last), [first, last, onView]);
  useEffect(() => {
    if (more && last >= lines.length - 30) onMore();
  }, [more, last, lines.length, onMore]);
  useEffect(() => { if (top > 0) virtual.scrollToOffset(0); }, [top, virtual]);
  useEffect(() => {
    if (active >= 0) virtual.scrollToIndex(Math.floor(active / columns));
  }, [active, columns, virtual]);

  const shown = items.map((item) => {
    const cells = lines.slice(item.index * columns, (item.index + 1) * columns).map((line, i) => {
      const index = item.index * columns + i;
      const cell = {
        line, active: index === active, selected: selection.ids.has(line.document_id),
        onSelect: (range: boolean) => onSelect(line, range), onRetry: () => onRetry(line), onReview: () => onReview(line),
      };
      return grid ? <Card key={line.document_id} {...cell} /> : <Row key={line.document_id} {...cell} />;
    });
    const style = { height: grid ? CARD.height : ROW, transform: `translateY(${item.start}px)` };
    return grid ? (
      <div key={item.key} className="absolute inset-x-0 top-0 grid" style={{ ...style, gap: CARD.gap, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>{cells}</div>
    ) : (
      <div key={item.key} role="presentation" className="absolute inset-x-0 top-0" style={style}>{cells}</div>
    );
  });

  return (
    <div ref={box} onScroll={(event) => keep(event.currentTarget.scrollTop)} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Documents">
      {grid ? (
        <div className="relative m-4 md:mx-6" style={{ height: virtual.getTotalSize() }}>{shown}</div>
      ) : (
        <div role="table" aria-label="Documents" aria-rowcount={lines.length}>
          <div role="rowgroup" className="sticky top-0 z-10">
            <div role="row" className={`${COLUMNS} h-8 border-b border-line bg-bg px-4 text-xs text-ink-3 md:px-6`}>
              <span role="columnheader" className="flex items-center"><Checkbox on={selection.ids.size >= lines.length} label="Select all that are shown" onChange={() => onSelectAll(selection.ids.size < lines.length)} /></span>
              <span role="columnheader">Name</span>
              <span role="columnheader" className="max-md:hidden">Format</span>
              <span role="columnheader" className="text-right max-md:hidden">Size</span>
              <span role="columnheader" className="max-md:text-right">State</span>
              <span role="columnheader" className="text-right max-md:hidden">Came in</span>
            </div>
          </div>
          <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>{shown}</div>
        </div>
      )}
    </div>
  );
}
