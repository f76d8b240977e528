/** The newest documents, as they come in and end. */
import { Link } from "wouter";
import { useLatest } from "../../api/queries";
import { FileIcon } from "../../ui/FileIcon";
import { bytes, pathParts, shown } from "../../ui/format";
import { Pending } from "../../ui/Page";
import { Shortfall, StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";

export function Latest() {
  const latest = useLatest(8);
  if (!latest.data) return <Pending of={latest} what="The documents could not be had" lines={6} />;
  return (
    <ul className="divide-y divide-line">
      {latest.data.documents.map((line) => {
        const { file } = pathParts(shown(line.name));
        return (
          <li key={line.document_id}>
            <Link href={`/documents/${line.document_id}`} className="grid grid-cols-[1rem_minmax(0,1fr)_auto_auto] items-center gap-3 px-4 py-2 hover:bg-hover">
              <FileIcon type={line.media_type} className="text-ink-3" />
              <span className="truncate">{line.title ? shown(line.title) : file}</span>
              <span><StateMark state={line.state} /><Shortfall line={line} /></span>
              <span className="min-w-28 text-right text-sm text-ink-3">{bytes(line.bytes)} · <Time at={line.created_at} /></span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
