/** The text of a document, page by page where it has pages. It is text, whatever it looks like. */
import { FileX, ScanText } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { useReading } from "../../api/queries";
import type { DocumentDetail, PageText } from "../../api/types";
import { blocks, markWords, queryWords } from "../../ui/highlight";
import { Marked } from "../../ui/Marked";
import { Empty, Failure } from "../../ui/Notice";
import { Skeletons } from "../../ui/Page";
import { count, counted } from "../../ui/format";
import { Family } from "./Family";

interface Props { document: DocumentDetail; page: number | null; query: string }

export function TextView({ document, page, query }: Props) {
  const text = useReading(document.document_id);
  const words = useMemo(() => queryWords(query), [query]);
  const box = useRef<HTMLDivElement>(null);
  const pages = text.data?.pages;
  useEffect(() => {
    if (!pages) return;
    const target = page ? box.current?.querySelector(`[data-page="${page}"]`) : null;
    const mark = (target ?? box.current)?.querySelector("mark");
    (mark ?? target)?.scrollIntoView({ block: mark ? "center" : "start" });
  }, [pages, page, words]);

  if (text.error) return <Failure error={text.error} what="The text could not be had" onRetry={() => void text.refetch()} />;
  if (!pages) return <Skeletons lines={14} className="mx-auto max-w-3xl" />;
  if (pages.every((one) => one.text.trim() === "")) return <NoText document={document} />;
  return (
    <div ref={box} className="mx-auto max-w-3xl px-5 py-5 md:px-8">
      {pages.map((one) => (
        <section key={one.number} data-page={one.number} aria-label={pages.length > 1 ? `Page ${one.number}` : "Text"} className="mb-6">
          {pages.length > 1 && <PageHead page={one} of={pages.length} />}
          {blocks(one.text).map((block, i) => (
            <pre key={i} className="font-sans text-base leading-relaxed break-words whitespace-pre-wrap [contain-intrinsic-size:auto_40rem] [content-visibility:auto]">
              <Marked pieces={markWords(block, words)} />
            </pre>
          ))}
          {one.text.trim() === "" && <p className="text-sm text-ink-3">No text on this page{one.reason ? `: ${one.reason}` : ""}.</p>}
        </section>
      ))}
    </div>
  );
}

function PageHead({ page, of }: { page: PageText; of: number }) {
  return (
    <h3 className="mb-2 flex items-center gap-2 border-b border-line pb-1 text-xs font-medium text-ink-3">
      <span>Page {count(page.number)} of {count(of)}</span>
      {page.source === "ocr" && <span className="flex items-center gap-1" title={page.reason ?? undefined}><ScanText size={13} aria-hidden /> read from the image{page.reason ? `: ${page.reason}` : ""}</span>}
    </h3>
  );
}

function NoText({ document }: { document: DocumentDetail }) {
  if (document.children.length > 0) {
    return (
      <div className="mx-auto max-w-3xl px-3 py-4 md:px-6">
        <p className="px-4 text-ink-3">A container: {counted(document.children.length, "member")}, each a document of its own.</p>
        <Family document={document} />
      </div>
    );
  }
  return (
    <Empty icon={<FileX size={20} />} title={document.state === "processing" ? "Not read yet" : "No text"}>
      <p>
        {document.state === "processing"
          ? "The text appears here as soon as it is there."
          : document.problems[0]?.message ?? "Nothing in this file could be read as text. It can be downloaded and opened with another program."}
      </p>
    </Empty>
  );
}
