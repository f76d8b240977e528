/**
 * The places that values were taken from, on the image of the page. For the pointer only: whoever uses the keyboard has the
 * list of fields, which lights the same boxes.
 */
import { useEffect, useRef } from "react";
import type { PageWords } from "../api/types";
import { cx } from "../ui/cx";
import { center } from "../ui/scroll";
import { boxesOn, type FieldLine } from "./lines";

const share = (part: number): string => `${(part * 100).toFixed(3)}%`;
const place = (x: number, y: number, width: number, height: number) => ({ left: share(x), top: share(y), width: share(width), height: share(height) });
/** Lower than this on the screen, words are hard to read. */
const TINY = 7;

interface Props {
  lines: FieldLine[];
  page: number;
  active: string | null;
  /** The one that is pointed at in the list. */
  lit: string | null;
  /** Both change when the image changes its size, so that the place is looked for again. */
  drawn: number;
  zoom: number;
  onChoose: (path: string) => void;
  onHover?: (path: string | null) => void;
  /** Words are being chosen: boxes let the pointer through. */
  picking?: boolean;
  picked?: PageWords["words"];
  /** The active value is so small that it takes so many times the zoom to read it. */
  onTiny?: (times: number) => void;
}

export function BoxLayer({ lines, page, active, lit, drawn, zoom, onChoose, onHover, picking, picked, onTiny }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const tiny = useRef(onTiny);
  tiny.current = onTiny;
  useEffect(() => {
    const found = box.current?.querySelector("[data-on]");
    if (!found || drawn === 0) return;
    const { height } = found.getBoundingClientRect();
    if (height > 0 && height < TINY) tiny.current?.(TINY / height);
    center(found);
  }, [active, page, drawn, zoom]);
  return (
    <div ref={box} aria-hidden className="pointer-events-none absolute inset-0">
      {boxesOn(lines, page).map(({ path, label, tone, box: [x, y, width, height] }, i) => (
        <span
          key={`${path}-${i}`}
          data-box={path}
          data-tone={tone}
          data-on={path === active || undefined}
          data-lit={path === lit || undefined}
          title={label}
          onClick={() => onChoose(path)}
          onPointerEnter={() => onHover?.(path)}
          onPointerLeave={() => onHover?.(null)}
          className={cx("page-field", !picking && "pointer-events-auto cursor-pointer")}
          style={place(x, y, width, height)}
        >
          {path === active && <span className="page-field-name" data-side={x > 0.3 ? "left" : y < 0.03 ? "below" : undefined}>{label}</span>}
        </span>
      ))}
      {picked?.map((word, i) => <span key={`picked-${i}`} className="page-picked" style={place(word.x, word.y, word.width, word.height)} />)}
    </div>
  );
}
