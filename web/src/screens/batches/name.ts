import type { Batch } from "../../api/types";
import { named } from "../../ui/format";

/** A batch's name, or what it was and when. */
export function batchName(batch: Batch): string {
  // A batch that nobody named has its own id for a name.
  if (batch.name && batch.name !== batch.batch_id) return batch.name;
  const what = { files: "Files", reprocess: "Reprocessing", upload: "Upload" }[batch.kind] ?? batch.kind;
  return `${what} of ${named(batch.created_at)}`;
}
