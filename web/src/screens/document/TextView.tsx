/** The text of a document, page by page where it has pages. It is text, whatever it looks like. */
import { FileX, ScanText } from "lucide-react";
import { Fragment, memo, useEffect, useMemo, useRef } from "react";
import { useReading } from "../../api/queries";
import type { DocumentDetail, PageText, PageWords } from "../../api/types";
import { blocks, markWords, queryWords } from "../../ui/highlight";
import { Marked } from "../../ui/Marked";
import { Empty } from "../../ui/Notice";
import { Pending } from "../../ui/Page";
import { count, counted } from "../../ui/format";
import { Said } from "../../ui/Said";
import { bringTo } from "../../ui/scroll";
import { isDrawn } from "../../ui/PageImage";
import { Family } from "./Family";
import { type LitWord, show, wordAt } from "./lit";
import { isSheet } from "./sheet";
import { SheetBody } from "./SheetBody";
import { align, flowed, textParts } from "./words";

interface Props {
  document: DocumentDetail;
  /** The page to go to; null where nobody asked for one. */
  page: number | null;
  query: string;
  /** The words of the page that is shown as an image, where they are known. */
  words?: PageWords | null | undefined;
  lit: LitWord;
  onPage: (page: number) => void;
}

export function TextView({ document, page, query, words, lit, onPage }: Props) {
  const text = useReading(document.document_id);
  const wanted = useMemo(() => queryWords(query), [query]);
  // Lines of other files are as somebody wrote them; those of a page are as wide as its paper.
  const drawn = isDrawn(document.media_type);
  const box = useRef<HTMLDivElement>(null);
  const pages = text.data?.pages;
  const number = words?.number ?? null;
  useEffect(() => {
    if (!pages) return;
    const target = page ? box.current?.querySelector(`[data-page="${page}"]`) : null;
    const mark = (target ?? box.current)?.querySelector("mark");
    const found = mark ?? target;
    if (found) bringTo(found, Boolean(mark));
  }, [pages, page, wanted]);
  useEffect(
    () => lit.subscribe((now) => show(box.current?.querySelector<HTMLElement>(`[data-page="${number}"]`) ?? null, now, "text")),
    [lit, number],
  );
  const over = (event: React.PointerEvent) => {
    const word = wordAt(event.target);
    lit.set(word === null ? null : { word, from: "text" });
  };

  if (!pages) return <Pending of={text} what="The text could not be had" lines={14} className="mx-auto max-w-3xl" />;
  if (pages.every((one) => one.text.trim() === "")) return <NoText document={document} />;
  return (
    <div ref={box} className="mx-auto max-w-3xl px-5 py-5 md:px-6" onPointerOver={over} onPointerDown={over} onPointerLeave={() => lit.set(null)}>
      {pages.map((one) => (
        <section key={one.number} data-page={one.number} aria-label={pages.length > 1 ? `Page ${one.number}` : "Text"} className="mb-6">
          {(pages.length > 1 || one.source === "ocr") && <PageHead page={one} of={pages.length} onPage={onPage} />}
          {isSheet(document.media_type) ? <SheetBody text={one.text} wanted={wanted} /> : <PageBody text={drawn ? flowed(one.text) : one.text} words={one.number === number ? words?.words : undefined} wanted={wanted} />}
          {one.text.trim() === "" && <p className="text-sm text-ink-3">No text on this page{one.reason ? `: ${one.reason}` : ""}.</p>}
        </section>
      ))}
    </div>
  );
}

/** The text in blocks, of which only those in view are laid out; words that have a box on the page carry its number. */
const PageBody = memo(function PageBody({ text, words, wanted }: { text: string; words: PageWords["words"] | undefined; wanted: string[] }) {
  const places = useMemo(() => (words ? align(text, words) : []), [text, words]);
  let from = 0;
  return blocks(text).map((block, i) => {
    const parts = textParts(block, from, places);
    from += block.length;
    return (
      <pre key={i} className="font-sans text-base leading-relaxed break-words whitespace-pre-wrap [contain-intrinsic-size:auto_40rem] [content-visibility:auto]">
        {parts.map((part, at) => {
          const marked = <Marked pieces={markWords(part.text, wanted)} />;
          return part.word === null ? <Fragment key={at}>{marked}</Fragment> : <span key={at} data-word={part.word} className="text-word">{marked}</span>;
        })}
      </pre>
    );
  });
});

function PageHead({ page, of, onPage }: { page: PageText; of: number; onPage: (page: number) => void }) {
  return (
    <h3 className="mb-2 flex items-center gap-2 border-b border-line pb-1 text-xs font-medium text-ink-3">
      {of > 1 && <button type="button" onClick={() => onPage(page.number)} className="whitespace-nowrap hover:text-ink hover:underline">Page {count(page.number)} of {count(of)}</button>}
      {page.source === "ocr" && <span className="flex min-w-0 items-center gap-1" title={page.reason || undefined}><ScanText size={13} aria-hidden className="shrink-0" /> <span className="truncate">read from the image{page.reason ? `: ${page.reason}` : ""}</span></span>}
    </h3>
  );
}

function NoText({ document }: { document: DocumentDetail }) {
  if (document.children.length > 0) {
    return (
      <div className="mx-auto max-w-3xl px-3 py-4 md:px-6">
        <p className="px-4 text-ink-3">A container with {counted(document.children.length, "member")}{document.children.length > 1 ? ", each a document of its own" : ", which is a document of its own"}.</p>
        <Family document={document} />
      </div>
    );
  }
  return (
    <Empty icon={<FileX size={20} />} title={document.state === "processing" ? "Not read yet" : "No text"}>
      <p>
        {document.state === "processing"
          ? "The text appears here as soon as it is there."
          : document.problems[0] ? <Said text={document.problems[0].message} /> : "Nothing in this file could be read as text. It can be downloaded and opened with another program."}
      </p>
    </Empty>
  );
}
