import { afterEach, describe, expect, it, vi } from "vitest";
import { reprocessAll } from "../../src/api/reprocess";
import { retryFrom, STATES } from "../../src/ui/states";

/** What is asked of the server, which queues everything. */
function asked(): { path: string; body: unknown }[] {
  const all: { path: string; body: unknown }[] = [];
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    all.push({ path, body: init.body === undefined ? null : JSON.parse(String(init.body)) });
    return Promise.resolve(new Response(JSON.stringify({ status: "queued", ingestion_id: "i" }), { status: 202 }));
  });
  return all;
}

afterEach(() => vi.unstubAllGlobals());

describe("trying again", () => {
  it("begins with classifying where that is all that is missing, and at the beginning otherwise", async () => {
    const all = asked();
    for (const state of ["unclassified", "failed"]) await reprocessAll({ ids: ["a b"], from: retryFrom(state) });
    expect(all).toEqual([
      { path: "/v1/documents/a%20b/reprocess", body: { from: "classifying" } },
      { path: "/v1/documents/a%20b/reprocess", body: null },
    ]);
  });

  it("retries one step where the words promise one", () => {
    for (const [state, { action }] of Object.entries(STATES)) expect(retryFrom(state) !== undefined).toBe(action === "Retry classification");
  });
});
