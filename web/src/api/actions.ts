/** What a person can change. Each knows which answers are out of date afterwards. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { change, setAccessKey } from "./http";
import type { Batch, Count, NewKey, Role } from "./types";

/** A change, and the names of the answers that it makes old. */
function useChange<In, Out>(ask: (input: In) => Promise<Out>, makesOld: string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ask,
    onSettled: () => Promise.all(makesOld.map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
}

const id = encodeURIComponent;

export const useRetryGroup = () =>
  useChange((cause: string) => change<Count>("POST", `/v1/problems/${id(cause)}/retry`), ["problems", "status", "document", "dead"]);

export const useDeleteDocument = () =>
  useChange((document: string) => change<null>("DELETE", `/v1/documents/${id(document)}`), ["documents", "status"]);

export const useChangeBatch = () =>
  useChange(
    ({ batch, ...body }: { batch: string; paused?: boolean; priority?: number }) =>
      change<Batch>("PATCH", `/v1/batches/${id(batch)}`, body),
    ["batch", "batches", "status"],
  );

export const useCancelBatch = () =>
  useChange((batch: string) => change<Batch>("DELETE", `/v1/batches/${id(batch)}`), ["batch", "batches", "status", "ledger"]);

export const useReplayDead = () =>
  useChange((ids: (number | string)[] | null) => change<Count>("POST", "/v1/dead/replay", ids ? { ids } : { all: true }), [
    "dead", "status", "problems",
  ]);

export const useDropDead = () =>
  useChange((ids: (number | string)[] | null) => change<Count>("POST", "/v1/dead/drop", ids ? { ids } : { all: true }), ["dead", "status"]);

export interface Matching { state?: string | undefined; type?: string | undefined }

/** Reprocesses everything that matches a filter; `dry_run` only counts. */
export const useReprocessMatching = () =>
  useChange((input: Matching & { dry_run: boolean }) => change<Count>("POST", "/v1/documents/reprocess", input), ["status", "problems", "batches"]);

export const useCreateKey = () =>
  useChange(async ({ adopt, ...input }: { name: string; role: Role; adopt: boolean }) => {
    const made = await change<NewKey>("POST", "/v1/keys", input);
    // Before anything else is asked: from now on every request needs a key.
    if (adopt) setAccessKey(made.key);
    return made;
  }, ["keys", "me", "audit-log"]);

export const useRevokeKey = () =>
  useChange((key: string) => change<null>("DELETE", `/v1/keys/${id(key)}`), ["keys", "me", "audit-log"]);
