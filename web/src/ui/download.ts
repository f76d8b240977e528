/** Files of the server on the user's disk. */
import { accessKey, getRaw } from "../api/http";
import type { DocumentDetail } from "../api/types";
import { pathParts } from "./format";
import { useSay } from "./Toasts";

/** Saves what an address answers under a name. */
export function useSave() {
  const say = useSay();
  return (path: string, name: string): Promise<void> => {
    // Without a key the browser fetches the file itself, however large. A link cannot carry a key, so then this page does.
    if (!accessKey()) {
      save(path, name);
      return Promise.resolve();
    }
    return getRaw(path)
      .then((answer) => answer.blob())
      .then((blob) => {
        const url = URL.createObjectURL(blob);
        save(url, name);
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
      })
      .catch((error: unknown) => say.failed("Not downloaded", error));
  };
}

/** The original of a document. */
export function useDownload() {
  const save = useSave();
  return (document: DocumentDetail) =>
    void save(`/v1/documents/${encodeURIComponent(document.document_id)}/content`, pathParts(document.name).file);
}

function save(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
