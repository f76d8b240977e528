/** Retry with words about what came of it, for every screen that offers it. */
import { useCallback } from "react";
import type { Stage } from "../api/types";
import { useReprocess } from "../api/reprocess";
import { counted } from "./format";
import { useSay } from "./Toasts";

export function useRetry() {
  const say = useSay();
  const reprocess = useReprocess();
  const retry = useCallback(
    (ids: string[], from?: Stage) => {
      // Rapid clicks start one job: nothing more is asked while the call is on its way.
      if (ids.length === 0 || reprocess.isPending) return;
      reprocess.mutate({ ids, from }, {
        onSuccess: (outcome) => {
          if (outcome.queued > 0) say.done(ids.length === 1 ? "Queued again" : `${counted(outcome.queued, "document")} queued again`);
          const reason = [...outcome.skipped.values()][0];
          if (reason !== undefined) say.done(`${counted(outcome.skipped.size, "document")} left as ${outcome.skipped.size === 1 ? "it is" : "they are"}: ${reason}`);
          const first = outcome.failed[0];
          if (first) say.failed(ids.length === 1 ? "Not queued" : `${counted(outcome.failed.length, "document")} not queued`, first.error);
        },
      });
    },
    [reprocess, say],
  );
  return { retry, busy: reprocess.isPending };
}
