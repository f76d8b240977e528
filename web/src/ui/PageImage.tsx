/** Pages and pictures as images. They are fetched like everything else, because an `<img>` cannot carry a key. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { asRefusal, getRaw } from "../api/http";

/** Pictures that every browser draws and that hold no script. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"]);
/** A larger picture is not fetched whole to be looked at. */
const MAX_BYTES = 20_000_000;

export interface Subject { document_id: string; media_type: string | null; bytes: number }

/** What the server may be asked to draw; whether it can, its answer says. */
export const isDrawn = (type: string | null): boolean => type === "application/pdf" || (type?.startsWith("image/") ?? false);

/** The image of a page, null where the document has none. */
export function pageImageQuery(subject: Subject, page: number, width: number) {
  const type = subject.media_type ?? "";
  const picture = PICTURES.has(type) && subject.bytes <= MAX_BYTES;
  const path = `/v1/documents/${encodeURIComponent(subject.document_id)}`;
  return queryOptions({
    queryKey: ["page", subject.document_id, page, width],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }): Promise<Blob | null> => {
      const fetched = async (address: string, as: string) =>
        // The type is ours, not the file's: whatever the bytes are, they are drawn as a picture or not at all.
        new Blob([await (await getRaw(address, signal)).arrayBuffer()], { type: as });
      try {
        return await fetched(`${path}/pages/${page}.png?width=${width}`, "image/png");
      } catch (error) {
        // The document has no such image: that is an answer, not an accident.
        if (![404, 415, 422].includes(asRefusal(error).status)) throw error;
        return picture && page === 1 ? fetched(`${path}/content`, type) : null;
      }
    },
  });
}

/** The same for a screen: undefined until that is known. */
export function usePageImage(subject: Subject, page: number, width: number, enabled = true) {
  return useQuery({
    ...pageImageQuery(subject, page, width),
    enabled: enabled && isDrawn(subject.media_type),
    // The same page in another size stands in until the right one is there.
    placeholderData: (before, query) => (query?.queryKey[1] === subject.document_id && query.queryKey[2] === page ? before : undefined),
  });
}

/** An address for bytes in memory, for as long as they are shown. */
export function useBlobUrl(blob: Blob | null | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) {
      setUrl(null);
      return;
    }
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}
