import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServerEvent } from "../../src/api/types";
import { Group } from "../../src/upload/group";
import { fresh, type Upload } from "../../src/upload/item";
import { UploadQueue } from "../../src/upload/queue";

const found = (path: string) => ({ path, file: new File(["words"], path) });
type Answer = () => Response | Promise<Response>;

/** A server that gives these answers, the last of them again and again; what it was asked, and with which body. */
function server(...answers: Answer[]): { path: string; method: string; body: unknown }[] {
  const asked: { path: string; method: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    asked.push({ path, method: init.method ?? "GET", body: init.body ? JSON.parse(String(init.body)) : null });
    const next = (answers.length > 1 ? answers.shift() : answers[0])!;
    return Promise.resolve().then(next);
  });
  return asked;
}

const away: Answer = () => { throw new TypeError("Failed to fetch"); };
const opened: Answer = () => Response.json({ batch_id: "b1" });
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
  vi.stubGlobal("window", { addEventListener: () => {} });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("Group", () => {
  it("is opened when the server is back, under the same name, and once", async () => {
    const asked = server(away, opened);
    const group = new Group([found("a"), found("b")]);
    await expect(group.batch()).rejects.toThrow("docmill does not answer");
    expect(await Promise.all([group.batch(), group.batch()])).toEqual(["b1", "b1"]);
    expect(asked).toHaveLength(2);
    expect(asked[0]?.body).toEqual(asked[1]?.body);
  });

  it("is sealed once all have come, again while the server is away, and no more after that", async () => {
    const asked = server(opened, away, () => new Response(null, { status: 503 }), () => Response.json({}));
    const group = new Group([found("a"), found("b")]);
    await group.batch();
    group.ended();
    group.ended();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(asked.map(({ method }) => method)).toEqual(["POST", "PATCH", "PATCH", "PATCH"]);
    await group.seal();
    expect(asked).toHaveLength(4);
  });

  it("is sealed as soon as it is open where everything was given up before", async () => {
    const asked = server(opened, () => Response.json({}));
    const group = new Group([found("a")]);
    const id = group.batch();
    await group.seal();
    await id;
    await settle();
    expect(asked.map(({ path }) => path)).toEqual(["/v1/batches", "/v1/batches/b1"]);
  });
});

describe("UploadQueue", () => {
  const reading = (id: string): Upload => ({ ...fresh(id, `${id}.txt`, 5), state: "reading", documentId: `d-${id}`, ingestionId: `i-${id}` });
  const stored = (items: Upload[]) => vi.stubGlobal("sessionStorage", { getItem: (key: string) => (key === "docmill.uploads" ? JSON.stringify(items) : null), setItem: () => {}, removeItem: () => {} });
  const states = (queue: UploadQueue) => queue.snapshot().map((item) => item.state);
  const answer = (id: string, status: string, error: unknown = null): Answer => () => Response.json({ ingestions: [{ ingestion_id: `i-${id}`, status, error }] });

  it("asks what became of documents whose end it did not hear", async () => {
    stored([reading("a"), reading("b"), reading("c"), reading("d")]);
    server(answer("a", "completed"), answer("b", "failed", { message: "cut off" }), () => new Response("{}", { status: 404 }), answer("d", "in_progress"));
    const queue = new UploadQueue();
    await queue.askAfter();
    expect(states(queue)).toEqual(["done", "failed", "done", "reading"]);
    expect(queue.snapshot()[1]?.note).toBe("cut off");
  });

  it("leaves them as they are while the server is away, and asks again", async () => {
    stored([reading("a")]);
    server(away, answer("a", "completed"));
    const queue = new UploadQueue();
    await queue.askAfter();
    expect(states(queue)).toEqual(["reading"]);
    // Without events: the connection is new.
    queue.hear([]);
    await vi.advanceTimersByTimeAsync(10);
    expect(states(queue)).toEqual(["done"]);
  });

  it("remembers an end that comes before the answer to the upload", async () => {
    let answered = () => {};
    vi.stubGlobal("XMLHttpRequest", class {
      upload = {}; status = 202; responseText = JSON.stringify({ document_id: "d", ingestion_id: "i", status: "queued", duplicate: false });
      onload = () => {};
      open() {} setRequestHeader() {} getResponseHeader() { return null; }
      send() { answered = () => this.onload(); }
    });
    const queue = new UploadQueue();
    queue.add([found("a.txt")]);
    await settle();
    queue.hear([{ type: "DOCUMENT_PROCESSED", status: "SUCCESS", ingestion_id: "i" } as ServerEvent]);
    answered();
    await settle();
    expect(states(queue)).toEqual(["done"]);
  });
});
