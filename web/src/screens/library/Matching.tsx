/** Reprocesses all that match the filter, with the count stated before. */
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useReprocessMatching } from "../../api/actions";
import type { Count } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { counted, typeName } from "../../ui/format";
import { stateWords } from "../../ui/states";
import { useSay } from "../../ui/Toasts";

export function Matching({ state, type }: { state: string | undefined; type: string | undefined }) {
  const reprocess = useReprocessMatching();
  const say = useSay();
  const [counts, setCounts] = useState<Count | null>(null);
  const what = [state ? stateWords(state).label.toLowerCase() : null, type ? (type.includes("/") ? typeName(type) : `${type.replaceAll("_", " ")} documents`) : null].filter(Boolean).join(", ");
  const ask = (dry_run: boolean) =>
    reprocess.mutate(
      { state, type, dry_run },
      {
        onSuccess: (done) => {
          setCounts(dry_run ? done : null);
          if (!dry_run) say.done(`${counted(done.count, "document")} queued again`);
        },
        onError: (error) => { setCounts(null); say.failed("Not queued", error); },
      },
    );
  const reasons = Object.entries(counts?.reasons ?? {}).map(([reason, n]) => `${n} ${reason.replace(/_/g, " ")}`).join(", ");
  return (
    <>
      <Button icon={<RotateCw size={14} aria-hidden />} busy={reprocess.isPending && counts === null} onClick={() => ask(true)}>Reprocess all {what}…</Button>
      {counts && (
        <Confirm title={`Reprocess ${counted(counts.count, "document")}?`} action={`Reprocess ${counted(counts.count, "document")}`} busy={reprocess.isPending} onConfirm={() => ask(false)} onClose={() => setCounts(null)}>
          <p>All that are {what} now, not only those in view. Results that are still good are used again.{counts.skipped > 0 && ` ${counted(counts.skipped, "document")} will be left as they are${reasons ? `: ${reasons}` : ""}.`}</p>
        </Confirm>
      )}
    </>
  );
}
