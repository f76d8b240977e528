/** A document, small: its first page as an image, else its first lines, else a picture of its type. */
import { type ReactNode, useState } from "react";
import { useReading } from "../../api/queries";
import type { DocumentLine } from "../../api/types";
import { shown } from "../../ui/format";
import { useBlobUrl, usePageImage } from "../../ui/PageImage";

/** The text of a larger document is not fetched for a few lines of it. */
const MAX_BYTES = 300_000;
const LINES = 900;
const PAPER = "paper block h-full w-3/4 overflow-hidden rounded-b-none border-b-0";

export function Thumb({ line, children }: { line: DocumentLine; children: ReactNode }) {
  const image = usePageImage(line, 1, 320, line.state !== "processing");
  const url = useBlobUrl(image.data);
  const [broken, setBroken] = useState(false);
  if (url && !broken) {
    return (
      <span className="flex size-full justify-center overflow-hidden pt-4">
        <span className={`${PAPER} bg-white`}><img src={url} alt="" onError={() => setBroken(true)} className="block h-auto min-h-full w-full object-cover object-top" /></span>
      </span>
    );
  }
  const readable = line.state === "ready" && line.bytes <= MAX_BYTES && !line.media_type?.startsWith("image/");
  return readable ? <FirstLines id={line.document_id}>{children}</FirstLines> : children;
}

function FirstLines({ id, children }: { id: string; children: ReactNode }) {
  const text = useReading(id).data?.pages[0]?.text.slice(0, LINES).trim();
  if (!text) return children;
  return (
    <span className="flex size-full justify-center overflow-hidden pt-4">
      <span className={`${PAPER} bg-surface px-3 py-2.5 text-left text-[7px] leading-[10px] break-words whitespace-pre-wrap text-ink-2`}>
        {text.split("\n").map((row) => shown(row.replace(/\t/g, "   "))).join("\n")}
      </span>
    </span>
  );
}
