import type { Batch } from "../../api/types";
import { exact } from "../../ui/format";

/** A batch's name, or what it was and when. */
export function batchName(batch: Batch): string {
  if (batch.name) return batch.name;
  const what = { files: "Files", reprocess: "Reprocessing", upload: "Upload" }[batch.kind] ?? batch.kind;
  return `${what} of ${exact(batch.created_at)}`;
}
