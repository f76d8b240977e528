/** The words of a page where they stand on its image. What they say stands in the text; here they only show where. */
import { useEffect, useMemo, useRef } from "react";
import type { PageWords } from "../../api/types";
import { shown } from "../../ui/format";
import { reveal } from "../../ui/scroll";
import { type LitWord, show, wordAt } from "./lit";
import { isHit } from "./words";

const share = (part: number): string => `${(part * 100).toFixed(3)}%`;

interface Props { page: PageWords; wanted: string[]; lit: LitWord; /** A word was clicked; with Shift, everything up to it. */ onWord?: ((word: number, range: boolean) => void) | undefined }

export function WordLayer({ page, wanted, lit, onWord }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => lit.subscribe((now) => show(box.current, now, "page")), [lit]);
  useEffect(() => {
    const first = box.current?.querySelector("[data-hit]");
    if (first) reveal(first, 80);
  }, [page, wanted]);
  const words = useMemo(
    () => page.words.map((word, i) => (
      <span
        key={i}
        data-word={i}
        data-hit={isHit(word.text, wanted) || undefined}
        title={sure(page, i)}
        className="page-word"
        style={{ left: share(word.x), top: share(word.y), width: share(word.width), height: share(word.height) }}
      />
    )),
    [page, wanted],
  );
  const over = (event: React.PointerEvent) => {
    const word = wordAt(event.target);
    lit.set(word === null ? null : { word, from: "page" });
  };
  const click = (event: React.MouseEvent) => {
    const word = wordAt(event.target);
    if (word !== null) onWord?.(word, event.shiftKey);
  };
  return (
    <div ref={box} aria-hidden data-picks={onWord ? "" : undefined} className="absolute inset-0" onClick={onWord && click} onPointerOver={over} onPointerDown={over} onPointerLeave={() => lit.set(null)}>
      {words}
    </div>
  );
}

/** A recognised word, and how certain that is. */
function sure(page: PageWords, index: number): string | undefined {
  const word = page.words[index];
  if (!word || page.source !== "ocr") return undefined;
  return word.confidence === null ? shown(word.text) : `${shown(word.text)} · ${Math.round(word.confidence * 100)} % sure`;
}
