/** Changes to many documents. They are sent in parts, and what one part could not do does not stop the others. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asRefusal, change } from "./http";
import { type LibraryFilter, libraryPage } from "./queries";
import type { Count } from "./types";

/** What one request may name. */
const PART = 1000;
/** More than this is not gathered in a browser; a filter without words can be reprocessed as a whole. */
export const MOST = 10_000;

/** The documents that match a filter, newest first, and whether there are more than a page can hold. */
export async function matching(filter: LibraryFilter, signal?: AbortSignal): Promise<{ ids: string[]; more: boolean }> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await libraryPage(filter, cursor, signal, PART);
    ids.push(...page.documents.map((line) => line.document_id));
    cursor = page.next_cursor;
  } while (cursor !== null && ids.length < MOST);
  return { ids, more: cursor !== null };
}

export interface Done { count: number; skipped: number; failed: number; error: unknown }

async function reprocess(ids: string[]): Promise<Done> {
  const done: Done = { count: 0, skipped: 0, failed: 0, error: null };
  for (let at = 0; at < ids.length; at += PART) {
    const part = ids.slice(at, at + PART);
    try {
      const answer = await change<Count>("POST", "/v1/documents/reprocess", { ids: part });
      done.count += answer.count;
      done.skipped += answer.skipped;
    } catch (error) {
      done.failed += part.length;
      done.error = error;
    }
  }
  return done;
}

/** Some at a time. */
const AT_ONCE = 4;

async function remove(ids: string[]): Promise<Done> {
  const done: Done = { count: 0, skipped: 0, failed: 0, error: null };
  const waiting = [...ids];
  const run = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await change<null>("DELETE", `/v1/documents/${encodeURIComponent(id)}`);
        done.count += 1;
      } catch (error) {
        // Somebody else was faster: it is gone, as was wanted.
        if (asRefusal(error).status === 404) done.skipped += 1;
        else {
          done.failed += 1;
          done.error = error;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return done;
}

function useBulk(act: (ids: string[]) => Promise<Done>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => {
      for (const name of ["documents", "document", "status", "problems", "dead", "batches", "facets", "latest"]) {
        void client.invalidateQueries({ queryKey: [name] });
      }
    },
  });
}

export const useReprocessMany = () => useBulk(reprocess);
export const useDeleteMany = () => useBulk(remove);
