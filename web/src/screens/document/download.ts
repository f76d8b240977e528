/** The original, as a file on the user's disk. */
import { accessKey, getRaw } from "../../api/http";
import type { DocumentDetail } from "../../api/types";
import { pathParts } from "../../ui/format";
import { useSay } from "../../ui/Toasts";

export function useDownload() {
  const say = useSay();
  return (document: DocumentDetail) => {
    const path = `/v1/documents/${encodeURIComponent(document.document_id)}/content`;
    const { file } = pathParts(document.name);
    // Without a key the browser fetches the file itself, however large. A link cannot carry a key, so then this page does.
    if (!accessKey()) save(path, file);
    else {
      getRaw(path)
        .then((answer) => answer.blob())
        .then((blob) => {
          const url = URL.createObjectURL(blob);
          save(url, file);
          setTimeout(() => URL.revokeObjectURL(url), 10_000);
        })
        .catch((error: unknown) => say.failed("Not downloaded", error));
    }
  };
}

function save(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
