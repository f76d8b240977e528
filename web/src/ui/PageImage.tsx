/** Pages and pictures as images. They are fetched like everything else, because an `<img>` cannot carry a key. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { asRefusal, getRaw } from "../api/http";
import { useServerHas } from "../api/queries";

/** Pictures that every browser draws and that hold no script. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"]);
/** A larger picture is not fetched whole to be looked at. */
const MAX_BYTES = 20_000_000;

const PAGES = /^\/v1\/documents\/\{\w+\}\/pages\/\{\w+\}(\.png)?$/;

interface Subject { document_id: string; media_type: string | null; bytes: number }

/** The image of a page, null where the document has none, undefined until that is known. */
export function usePageImage(subject: Subject, page: number, width: number, enabled = true) {
  const type = subject.media_type ?? "";
  const picture = PICTURES.has(type) && subject.bytes <= MAX_BYTES;
  const drawn = useServerHas(PAGES, enabled && type === "application/pdf");
  const path = `/v1/documents/${encodeURIComponent(subject.document_id)}`;
  return useQuery({
    queryKey: ["page", subject.document_id, picture ? 0 : page, picture ? 0 : width],
    enabled: enabled && (picture || drawn),
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }): Promise<Blob | null> => {
      try {
        const answer = await getRaw(picture ? `${path}/content` : `${path}/pages/${page}.png?width=${width}`, signal);
        // The type is ours, not the file's: whatever the bytes are, they are drawn as a picture or not at all.
        return new Blob([await answer.arrayBuffer()], { type: picture ? type : "image/png" });
      } catch (error) {
        const { status } = asRefusal(error);
        // The document has no such image: that is an answer, not an accident.
        if (status === 404 || status === 422) return null;
        throw error;
      }
    },
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
