/** What can be done with what is selected, and a way to select all that match. */
import { RotateCw, Trash2, X } from "lucide-react";
import { useState } from "react";
import { type Done, matching, MOST, useDeleteMany, useReprocessMany } from "../../api/bulk";
import type { LibraryFilter } from "../../api/queries";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { count, counted } from "../../ui/format";
import { useSay } from "../../ui/Toasts";

/** More than this are not reprocessed at a slip of the hand. */
const MANY = 20;

interface Props { ids: string[]; filter: LibraryFilter; filtered: boolean; /** There are more than those that were loaded. */ more: boolean; loaded: number; onSelect: (ids: string[]) => void }

export function SelectionBar({ ids, filter, filtered, more, loaded, onSelect }: Props) {
  const say = useSay();
  const [asking, setAsking] = useState<"reprocess" | "delete" | null>(null);
  const [gathering, setGathering] = useState(false);
  const again = useReprocessMany();
  const remove = useDeleteMany();
  const finish = (what: string) => ({
    onSuccess: (done: Done) => {
      if (done.count > 0) say.done(`${counted(done.count, "document")} ${what}${done.skipped > 0 ? `, ${count(done.skipped)} left as they are` : ""}`);
      else if (done.failed === 0) say.done(`${counted(done.skipped, "document")} left as they are`);
      if (done.failed > 0) say.failed(`${counted(done.failed, "document")} not ${what}`, done.error);
      if (done.failed === 0) onSelect([]);
    },
    onSettled: () => setAsking(null),
  });
  const gather = () => {
    setGathering(true);
    matching(filter)
      .then((found) => {
        onSelect(found.ids);
        if (found.more) say.done(`The newest ${count(MOST)} are selected; there are more`);
      })
      .catch((error: unknown) => say.failed("Not selected", error))
      .finally(() => setGathering(false));
  };
  const chosen = counted(ids.length, "document");
  return (
    <div role="toolbar" aria-label="Selection" className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-1.5 md:px-6">
      <span role="status" className="mr-1 text-sm font-medium text-accent-ink">{count(ids.length)} selected</span>
      <Button busy={again.isPending} icon={<RotateCw size={14} aria-hidden />} onClick={() => (ids.length > MANY ? setAsking("reprocess") : again.mutate(ids, finish("queued again")))}>Reprocess</Button>
      <Button kind="danger" busy={remove.isPending} icon={<Trash2 size={14} aria-hidden />} onClick={() => setAsking("delete")}>Delete…</Button>
      {(more || ids.length < loaded) && (
        <Button kind="quiet" className="text-accent-ink" busy={gathering} onClick={gather}>{filtered ? "Select all that match" : "Select all documents"}</Button>
      )}
      <Button kind="quiet" icon={<X size={14} aria-hidden />} onClick={() => onSelect([])}>Clear the selection</Button>
      <span className="ml-auto text-xs text-ink-3 max-lg:hidden"><kbd>x</kbd> selects, <kbd>Shift X</kbd> selects up to here</span>
      {asking === "reprocess" && (
        <Confirm title={`Reprocess ${chosen}?`} action={`Reprocess ${chosen}`} busy={again.isPending} onConfirm={() => again.mutate(ids, finish("queued again"))} onClose={() => setAsking(null)}>
          <p>Each is read again. Results that are still good are used again, and what is shown stays until the new result is there.</p>
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm title={`Delete ${chosen}?`} action={`Delete ${chosen}`} danger busy={remove.isPending} onConfirm={() => remove.mutate(ids, finish("deleted"))} onClose={() => setAsking(null)}>
          <p>The originals, their text and their history will be gone. This cannot be taken back.</p>
        </Confirm>
      )}
    </div>
  );
}
