/** A page as an image. It is fetched like everything else, because an `<img>` cannot carry a key. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { asRefusal, getRaw } from "../api/http";

/** The image of a page, or null where the document has none. */
export function usePageImage(document: string, page: number, width: number, enabled = true) {
  return useQuery({
    queryKey: ["page", document, page, width],
    enabled,
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }): Promise<Blob | null> => {
      try {
        const answer = await getRaw(`/v1/documents/${encodeURIComponent(document)}/pages/${page}.png?width=${width}`, signal);
        return await answer.blob();
      } catch (error) {
        const { status } = asRefusal(error);
        // The document has no such image: that is an answer, not an accident.
        if (status === 404 || status === 422 || status === 501) return null;
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

/** Whether pages of such documents may have images at all; asking for the others would be noise. */
export const mayHaveImages = (mediaType: string | null): boolean =>
  mediaType !== null && (mediaType === "application/pdf" || mediaType.startsWith("image/"));

interface ThumbProps { document: string; mediaType: string | null; children: ReactNode }

/** The first page, small; what it is until then, and where there is none. */
export function Thumb({ document, mediaType, children }: ThumbProps) {
  const image = usePageImage(document, 1, 320, mayHaveImages(mediaType));
  const url = useBlobUrl(image.data);
  return url ? <img src={url} alt="" className="size-full object-cover object-top" /> : <>{children}</>;
}
