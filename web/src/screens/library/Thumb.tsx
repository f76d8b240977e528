/** A document, small: its first page as an image, else its first lines, else a picture of its type. */
import { type ReactNode, useState } from "react";
import { useReading } from "../../api/queries";
import type { DocumentLine } from "../../api/types";
import { shown } from "../../ui/format";
import { useBlobUrl, usePageImage } from "../../ui/PageImage";

/** The text of a larger document is not fetched for a few lines of it. */
const MAX_BYTES = 300_000;
const LINES = 900;

export function Thumb({ line, children }: { line: DocumentLine; children: ReactNode }) {
  const image = usePageImage(line, 1, 320);
  const url = useBlobUrl(image.data);
  const [broken, setBroken] = useState(false);
  if (url && !broken) return <img src={url} alt="" onError={() => setBroken(true)} className="size-full object-cover object-top" />;
  const readable = line.state === "ready" && line.bytes <= MAX_BYTES && !line.media_type?.startsWith("image/");
  return readable ? <FirstLines id={line.document_id}>{children}</FirstLines> : children;
}

function FirstLines({ id, children }: { id: string; children: ReactNode }) {
  const text = useReading(id).data?.pages[0]?.text.slice(0, LINES).trim();
  if (!text) return children;
  return (
    <span className="block size-full overflow-hidden px-6 pt-3">
      <span className="block h-full overflow-hidden rounded-t border border-b-0 border-line bg-surface px-2.5 py-2 text-left text-[6.5px] leading-[9px] break-words whitespace-pre-wrap text-ink-2">
        {text.split("\n").map(shown).join("\n")}
      </span>
    </span>
  );
}
