import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LiveFeed } from "../../src/api/live";
import type { ServerEvent } from "../../src/api/types";

const event = (id: number) => `id: ${id}\nevent: NOTIFICATION\ndata: {"id":${id}}\n\n`;

/** A server whose streams say these things, one after the other, and end; the ids it was asked to go on behind. */
function server(lastEvent: number, streams: (string | number)[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    if (path === "/v1/status") return Promise.resolve(Response.json({ last_event: lastEvent }));
    asked.push(new Headers(init.headers).get("Last-Event-ID") ?? "none");
    const next = streams.shift();
    if (next === undefined) return new Promise(() => {});
    return Promise.resolve(typeof next === "number" ? new Response("{}", { status: next }) : new Response(next));
  });
  return asked;
}

async function run(): Promise<{ ids: number[]; resets: number }> {
  const heard = { ids: [] as number[], resets: 0 };
  const take = (events: ServerEvent[]) => { heard.ids.push(...events.map((one) => one.id)); };
  const feed = new LiveFeed(take, () => {}, () => { heard.resets++; });
  feed.start();
  await vi.advanceTimersByTimeAsync(30_000);
  feed.stop();
  return heard;
}

describe("LiveFeed", () => {
  beforeEach(() => { vi.useFakeTimers(); });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("goes on behind the last event it saw", async () => {
    const asked = server(7, [event(8) + event(9), event(10)]);
    expect(await run()).toEqual({ ids: [8, 9, 10], resets: 0 });
    expect(asked).toEqual(["7", "9", "10"]);
  });

  it("starts afresh where the log is another one, and has everything asked for anew", async () => {
    const reset = 'id: 3\nevent: RESET\ndata: {"last_event":3}\n\n';
    const asked = server(100, [event(101), reset + event(4)]);
    expect(await run()).toEqual({ ids: [101, 4], resets: 1 });
    expect(asked).toEqual(["100", "101", "4"]);
  });

  it("forgets a place that is refused", async () => {
    const asked = server(5, [event(6), 400, ""]);
    await run();
    expect(asked).toEqual(["5", "6", "5", "5"]);
  });
});
