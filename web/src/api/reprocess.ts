/** Reprocessing: the skeleton shows at the click, and the button comes back if the call fails (M-4). */
import { type InfiniteData, type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { change } from "./http";
import type { DocumentDetail, DocumentList, DocumentState, Reprocessed, Stage } from "./types";

/** Shows documents in another state everywhere at once. */
function show(client: QueryClient, ids: ReadonlySet<string>, state: (id: string) => DocumentState | undefined): void {
  client.setQueriesData<InfiniteData<DocumentList>>({ queryKey: ["documents"] }, (all) =>
    all && {
      ...all,
      pages: all.pages.map((page) => ({
        ...page,
        documents: page.documents.map((line) => {
          const next = ids.has(line.document_id) ? state(line.document_id) : undefined;
          return next ? { ...line, state: next } : line;
        }),
      })),
    });
  for (const id of ids) {
    client.setQueryData<DocumentDetail>(["document", id], (one) => {
      const next = state(id);
      return one && next ? { ...one, state: next } : one;
    });
  }
}

/** The states that are shown now. */
function states(client: QueryClient, ids: ReadonlySet<string>): Map<string, DocumentState> {
  const found = new Map<string, DocumentState>();
  for (const [, all] of client.getQueriesData<InfiniteData<DocumentList>>({ queryKey: ["documents"] })) {
    for (const line of all?.pages.flatMap((page) => page.documents) ?? []) {
      if (ids.has(line.document_id)) found.set(line.document_id, line.state);
    }
  }
  for (const id of ids) {
    const one = client.getQueryData<DocumentDetail>(["document", id]);
    if (one) found.set(id, one.state);
  }
  return found;
}

export interface Outcome { queued: number; skipped: Map<string, string>; failed: { id: string; error: unknown }[] }

/** Some at a time; one that fails does not stop the others. */
const AT_ONCE = 4;

export interface Again { ids: string[]; /** The step to begin with; all of them if none is named. */ from?: Stage | undefined }

export async function reprocessAll({ ids, from }: Again): Promise<Outcome> {
  const outcome: Outcome = { queued: 0, skipped: new Map(), failed: [] };
  const waiting = [...ids];
  const run = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        const answer = await change<Reprocessed>("POST", `/v1/documents/${encodeURIComponent(id)}/reprocess`, from && { from });
        if (answer.status === "skipped") outcome.skipped.set(id, answer.reason ?? "nothing to do");
        else outcome.queued += 1;
      } catch (error) {
        outcome.failed.push({ id, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return outcome;
}

export function useReprocess() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: reprocessAll,
    onMutate: ({ ids }) => {
      const set = new Set(ids);
      const before = states(client, set);
      show(client, set, () => "processing");
      return before;
    },
    onSuccess: (outcome, _again, before) => {
      const restore = new Set([...outcome.failed.map(({ id }) => id), ...outcome.skipped.keys()]);
      if (restore.size > 0) show(client, restore, (id) => before.get(id));
    },
    onSettled: (_outcome, _error, { ids }) => {
      for (const name of ["status", "problems", "dead"]) void client.invalidateQueries({ queryKey: [name] });
      for (const id of ids) for (const name of ["document", "why"]) void client.invalidateQueries({ queryKey: [name, id] });
    },
  });
}
