/** Where a document was found, and what was found in it, as a tree whose branches are looked up when they are opened; and what is like it. */
import { ChevronRight, CornerLeftUp } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { asRefusal } from "../../api/http";
import { useDocument, useNear, useSimilar } from "../../api/queries";
import type { DocumentDetail, FamilyLine } from "../../api/types";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { begun, count, counted, shown } from "../../ui/format";
import { Said } from "../../ui/Said";

const FIRST = 200;
/** Names of what may hold more. Others are opened like any document. */
const HOLDS = /\.(zip|tar|tgz|gz|bz2|xz|zst|7z|rar|eml|msg|mbox|pst|ost|dat|docx?|xlsx?|pptx?|pdf)$/i;

/** A message inside of something else has a number for a name; what people know it by is its subject. */
const MESSAGE = /(^|\/)message-\d+\.(eml|msg)$/i;

export function Family({ document }: { document: DocumentDetail }) {
  return (
    <>
      {document.parent || document.children.length > 0
        ? <Tree document={document} />
        : <p className="p-4 text-ink-3">This document came by itself: it was in no container, and nothing was found in it.</p>}
      <Alike id={document.document_id} />
      {document.state !== "processing" && <MoreLikeThis id={document.document_id} />}
    </>
  );
}

/** Other documents with nearly the same text: versions, copies from another scanner, forms that were filled in alike. */
function Alike({ id }: { id: string }) {
  const near = useNear(id).data ?? [];
  if (near.length === 0) return null;
  return (
    <section aria-label="Nearly the same text" className="border-t border-line p-4 text-sm">
      <h3 className="mb-2 text-xs font-semibold text-ink-3">Nearly the same text</h3>
      <ul className="flex flex-col gap-1.5">
        {near.map((one) => (
          <li key={one.document_id} className="flex items-baseline gap-2">
            <Link href={`/documents/${one.document_id}?tab=family`} className="truncate hover:underline">{shown(one.title ?? one.name)}</Link>
            {one.title && <span className="truncate text-xs text-ink-3">{shown(one.name)}</span>}
            <span className="ml-auto text-xs whitespace-nowrap text-ink-3">{Math.floor(one.similarity * 100)} % alike</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Other documents that mean something alike, in whatever words; or why nobody knows. */
function MoreLikeThis({ id }: { id: string }) {
  const { data, error } = useSimilar(id);
  if (!data && !error) return null;
  const refusal = error && asRefusal(error);
  return (
    <section aria-label="More like this" className="border-t border-line p-4 text-sm">
      <h3 className="mb-2 text-xs font-semibold text-ink-3">More like this</h3>
      {data && data.hits.length > 0 && (
        <ul className="flex flex-col gap-1.5">
          {data.hits.map((one) => (
            <li key={one.document_id} className="flex items-baseline gap-2">
              <Link href={`/documents/${one.document_id}?tab=family`} className="truncate hover:underline">{shown(one.title ?? one.name)}</Link>
              {one.title && <span className="truncate text-xs text-ink-3">{shown(one.name)}</span>}
              <span className="ml-auto text-xs whitespace-nowrap text-ink-3">{Math.max(0, Math.floor(one.score * 100))} % near</span>
            </li>
          ))}
        </ul>
      )}
      {data && data.hits.length === 0 && <p className="text-ink-3">{data.note ? `${begun(data.note)}.` : "There is no other document whose meaning is known."}</p>}
      {refusal && <p className="text-ink-3"><Said text={[begun(refusal.message), refusal.hint].filter(Boolean).join("; ")} />.</p>}
    </section>
  );
}

function Tree({ document }: { document: DocumentDetail }) {
  return (
    <div className="flex flex-col gap-1.5 p-4 text-sm">
      {document.parent && <Parent line={document.parent} />}
      <p className={cx("truncate font-semibold", document.parent && "pl-6")}>{shown(document.name)}</p>
      {document.children.length > 0 && <div className={cx(document.parent && "pl-6")}><Members lines={document.children} /></div>}
    </div>
  );
}

/** The container, and the one around it, as far as they go. */
function Parent({ line, depth = 0 }: { line: FamilyLine; depth?: number }) {
  const above = useDocument(line.document_id ?? "", line.document_id !== null && depth < 6).data?.parent;
  return (
    <>
      {above && <Parent line={above} depth={depth + 1} />}
      <div className="flex items-center gap-2">
        <CornerLeftUp size={14} aria-hidden className="shrink-0 text-ink-3" />
        <span className="shrink-0 text-ink-3">found in</span> <Relative line={line} />
      </div>
    </>
  );
}

export function Members({ lines }: { lines: FamilyLine[] }) {
  const [all, setAll] = useState(false);
  return (
    <ul className="ml-1.5 flex flex-col border-l border-line pl-2" aria-label={counted(lines.length, "member")}>
      {(all ? lines : lines.slice(0, FIRST)).map((line) => <Member key={line.ingestion_id} line={line} />)}
      {!all && lines.length > FIRST && <li><Button kind="quiet" onClick={() => setAll(true)}>Show all {count(lines.length)}</Button></li>}
    </ul>
  );
}

function Member({ line }: { line: FamilyLine }) {
  const [open, setOpen] = useState(false);
  const inside = useDocument(line.document_id ?? "", open && line.document_id !== null).data;
  const may = line.document_id !== null && HOLDS.test(line.name);
  return (
    <li>
      <div className="flex min-h-7 min-w-0 items-center gap-1">
        {may ? (
          <button type="button" aria-expanded={open} aria-label={`What is in ${shown(line.name)}`} onClick={() => setOpen(!open)} className="grid size-5 shrink-0 place-items-center rounded text-ink-3 hover:bg-hover">
            <ChevronRight size={14} aria-hidden className={cx("transition-transform duration-100", open && "rotate-90")} />
          </button>
        ) : <span className="size-5 shrink-0" />}
        <Relative line={line} />
      </div>
      {open && inside && (inside.children.length > 0
        ? <div className="pl-2"><Members lines={inside.children} /></div>
        : <p className="pb-1 pl-6 text-xs text-ink-3">Nothing is in it.</p>)}
    </li>
  );
}

function Relative({ line }: { line: FamilyLine }) {
  const bad = line.status === "failed";
  const file = shown(line.name);
  const title = MESSAGE.test(line.name) && line.title ? shown(line.title) : null;
  const note = line.result && line.result !== "SUCCESS" ? line.result.replace(/_/g, " ").toLowerCase() : line.status === "completed" ? "" : line.status.replace("_", " ");
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      {line.document_id
        ? <Link href={`/documents/${line.document_id}?tab=family`} className="truncate hover:underline" title={file}>{title ?? file}</Link>
        : <span className="truncate text-ink-2">{file}</span>}
      {title && <span className="truncate text-xs text-ink-3">{file}</span>}
      {note && <span className={cx("text-xs whitespace-nowrap", bad ? "text-red" : "text-ink-3")}>{note}</span>}
    </span>
  );
}
