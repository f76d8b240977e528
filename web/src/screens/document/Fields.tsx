/** The record of a document: its values, how sure they are, and where they stand on the page. */
import { Braces, ListChecks } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { DocumentDetail, DocumentRecord } from "../../api/types";
import { FieldList } from "../../fields/FieldList";
import type { FieldLine } from "../../fields/lines";
import { fieldName } from "../../fields/names";
import { Sure } from "../../fields/Sure";
import { count, shown } from "../../ui/format";
import { Badge } from "../../ui/StateMark";

interface Props {
  document: DocumentDetail;
  record: DocumentRecord;
  lines: FieldLine[];
  active: string | null;
  lit: string | null;
  onActive: (path: string) => void;
  onHover: (path: string | null) => void;
}

export function Fields({ document, record, lines, ...field }: Props) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5 text-sm">
        <Badge tone="neutral" icon={<Braces size={11} aria-hidden />}>{fieldName(shown(record.schema))}</Badge>
        <Sure value={record.confidence} />
        {!record.valid && <Badge tone="amber">does not keep to its schema</Badge>}
        {document.review_id
          ? <ReviewLink id={document.review_id}>Review it</ReviewLink>
          : record.model && <span className="ml-auto truncate text-xs text-ink-3" title={`${count(record.tokens_in)} tokens in, ${count(record.tokens_out)} out`}>by {shown(record.model)}</span>}
      </div>
      <FieldList lines={lines} {...field} />
    </>
  );
}

const ReviewLink = ({ id, children }: { id: string; children: ReactNode }) => (
  <Link href={`/reviews/${id}`} className="ml-auto inline-flex h-7 items-center gap-1.5 rounded-md border border-blue-line bg-blue-soft px-2.5 font-medium text-blue hover:underline"><ListChecks size={14} aria-hidden /> {children}</Link>
);
