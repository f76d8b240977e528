/** Where a document was found, and what was found in it. */
import { CornerDownRight, CornerLeftUp } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { DocumentDetail, FamilyLine } from "../../api/types";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { count, counted, shown } from "../../ui/format";

const FIRST = 200;

export function Family({ document }: { document: DocumentDetail }) {
  const [all, setAll] = useState(false);
  const children = all ? document.children : document.children.slice(0, FIRST);
  if (!document.parent && document.children.length === 0) {
    return <p className="p-4 text-ink-3">This document came by itself: it was in no container, and nothing was found in it.</p>;
  }
  return (
    <div className="flex flex-col gap-1 p-4 text-sm">
      {document.parent && (
        <div className="flex items-center gap-2">
          <CornerLeftUp size={14} aria-hidden className="shrink-0 text-ink-3" />
          <span className="text-ink-3">found in</span> <Relative line={document.parent} />
        </div>
      )}
      <p className={cx("truncate font-semibold", document.parent && "pl-5")}>{shown(document.name)}</p>
      {document.children.length > 0 && (
        <ul className={cx("flex flex-col gap-1 border-l border-line pl-3", document.parent ? "ml-6.5" : "ml-1.5")} aria-label={counted(document.children.length, "member")}>
          {children.map((line) => (
            <li key={line.ingestion_id} className="flex min-w-0 items-center gap-2">
              <CornerDownRight size={13} aria-hidden className="shrink-0 text-ink-3" />
              <Relative line={line} />
            </li>
          ))}
          {!all && document.children.length > FIRST && (
            <li><Button kind="quiet" onClick={() => setAll(true)}>Show all {count(document.children.length)}</Button></li>
          )}
        </ul>
      )}
    </div>
  );
}

function Relative({ line }: { line: FamilyLine }) {
  const bad = line.status === "failed";
  const note = line.result && line.result !== "SUCCESS" ? line.result.replace(/_/g, " ").toLowerCase() : line.status === "completed" ? "" : line.status.replace("_", " ");
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      {line.document_id
        ? <Link href={`/documents/${line.document_id}?tab=family`} className="truncate hover:underline">{shown(line.name)}</Link>
        : <span className="truncate text-ink-2">{shown(line.name)}</span>}
      {note && <span className={cx("text-xs whitespace-nowrap", bad ? "text-red" : "text-ink-3")}>{note}</span>}
    </span>
  );
}
