import { describe, expect, it } from "vitest";
import { concerned } from "../../src/api/LiveProvider";
import { refusal } from "../../src/api/http";
import type { Batch, DocumentDetail, ServerEvent, Why } from "../../src/api/types";
import { resolve, strokeName } from "../../src/app/keys";
import { changed } from "../../src/app/url";
import { eta, ledgerLine, pace, progress } from "../../src/screens/batches/figures";
import { sentence } from "../../src/screens/document/sentence";
import { nextZoom } from "../../src/screens/document/PageViewer";
import { cause, harmless } from "../../src/ui/causes";
import { STATE_ORDER, STATES } from "../../src/ui/states";

const now = Date.parse("2026-11-17T12:00:00Z");
const batch: Batch = {
  batch_id: "b", name: null, kind: "files", state: "sealed", paused: false, priority: 50, expected: 80, received: 80, children: 20,
  open: 50, completed: 45, failed: 3, skipped: 2, cancelled: 0, duplicates: 1, dead: 0, change_seq: 1,
  created_at: new Date(now - 100_000).toISOString(), finished_at: null,
};

describe("batches", () => {
  it("knows how far it is and how long it takes", () => {
    expect(progress(batch)).toEqual({ all: 100, ended: 50, share: 0.5 });
    expect(eta(batch, now)).toBe(100_000);
    expect(pace(batch, now)).toBe(0.5);
  });

  it("gives no estimate where that would be a guess", () => {
    expect(eta({ ...batch, paused: true }, now)).toBeNull();
    expect(eta({ ...batch, completed: 1, failed: 0, skipped: 0 }, now)).toBeNull();
    expect(eta({ ...batch, state: "finished" }, now)).toBeNull();
  });

  it("writes the ledger as a sum of what there is", () => {
    expect(ledgerLine({ expected: 9, completed: 7, failed: 1, skipped: 0, cancelled: 0, open: 1 })).toEqual({
      expected: 9, terms: [[7, "done"], [1, "failed"], [1, "open"]],
    });
  });
});

describe("states", () => {
  const document = {
    state: "failed", status: "failed", problems: [], timeline: [], ingestions: [], name: "a.pdf",
  } as unknown as DocumentDetail;
  const why = { waiting_for: "nothing", attempt: 3, max_attempts: 3, last_error: { kind: "encrypted", message: "`a.pdf` needs a password" } } as Why;

  it("has words, icon and, where one click helps, an action for each (M-2)", () => {
    expect(STATE_ORDER).toHaveLength(Object.keys(STATES).length);
    expect(STATES.failed.action).toBe("Retry processing");
    expect(STATES.unclassified.action).toBe("Retry classification");
    expect(STATES.stale.action).toBe("Retry");
    expect(STATES.needs_review.action).toBe("Review");
    expect(STATES.ready.action).toBeNull();
    expect(STATES.unsupported.tone).toBe("neutral");
  });

  it("says why in plain words", () => {
    const words = sentence(document, why, now);
    expect(words?.what).toBe("Failed: password protected");
    expect(words?.detail).toContain("`a.pdf` needs a password");
    expect(words?.action).toBe("Retry processing");
    expect(sentence({ ...document, state: "ready" }, undefined, now)).toBeNull();
    expect(sentence({ ...document, state: "stale", timeline: [{ at: new Date(now - 720_000).toISOString() }] as never }, undefined, now)?.what).toBe("No progress for 12 min");
  });

  it("does not call read what nobody could open", () => {
    const locked = { ...document, state: "ready", word_count: 0, children: [], problems: [{ kind: "encrypted", code: "PASSWORD_PROTECTED", message: "needs a password", page: null }] } as unknown as DocumentDetail;
    expect(sentence(locked, undefined, now)?.what).toBe("Stored, but not read: password protected");
    expect(sentence({ ...locked, word_count: 12 }, undefined, now)?.what).toBe("Read, with 1 problem");
    // An archive has no words of its own: what is in it was read.
    expect(sentence({ ...locked, children: [{}] } as never, undefined, now)?.what).toBe("Read, with 1 problem");
  });

  it("does not warn of a file that has nothing in it", () => {
    const empty = { ...document, state: "ready", word_count: 0, children: [], problems: [{ kind: "empty_file", code: "EMPTY", message: "the file has no bytes", page: null }] } as unknown as DocumentDetail;
    expect(sentence(empty, undefined, now)).toMatchObject({ tone: "neutral", what: "Stored, but there is nothing in it" });
  });

  it("asks nobody to solve what is only stored", () => {
    expect(harmless({ cause: "unsupported_format", failed: 0 })).toBe(true);
    expect(harmless({ cause: "unsupported_format", failed: 1 })).toBe(false);
    expect(harmless({ cause: "encrypted", failed: 0 })).toBe(false);
  });

  it("has words for kinds it does not know", () => {
    expect(cause("solar_flare").title).toBe("Solar flare");
  });
});

describe("keys", () => {
  it("names strokes and leaves those of the system alone", () => {
    const stroke = (key: string, more = {}) => strokeName({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });
    expect(stroke("K", { ctrlKey: true })).toBe("ctrl+k");
    expect(stroke("k", { metaKey: true })).toBe("ctrl+k");
    expect(stroke("Escape")).toBe("escape");
    expect(stroke("X")).toBe("X");
    expect(stroke("l", { altKey: true })).toBeNull();
  });

  it("takes two keys before one", () => {
    const go = () => undefined;
    expect(resolve([{ l: go }, { "g l": go }], "g", "l")).toBe("g l");
    expect(resolve([{ l: go }], null, "l")).toBe("l");
    expect(resolve([{ l: go }], null, "z")).toBeNull();
  });
});

describe("address and answers", () => {
  it("changes parameters and takes away what is empty", () => {
    expect(changed("?state=failed&q=x", { q: null, page: 2 })).toBe("state=failed&page=2");
  });

  it("takes the server's own words, and the status where there are none", () => {
    const problem = refusal(429, JSON.stringify({ detail: "too many", code: "rate_limited", retryable: true, hint: "wait" }), "7");
    expect([problem.message, problem.hint, problem.retryable, problem.retryAfterSeconds]).toEqual(["too many", "wait", true, 7]);
    expect(refusal(502, "<html>", null)).toMatchObject({ message: "the server answered 502", retryable: true });
  });

  it("finds out what an event makes old", () => {
    const event = (type: string, batch_id: string | null = null) => ({ type, batch_id }) as ServerEvent;
    expect(concerned([event("WORKER_STARTED")])).toEqual(new Set(["status", "workers"]));
    expect([...concerned([event("DOCUMENT_PROCESSED", "b")])]).toEqual(expect.arrayContaining(["problems", "batch", "ledger"]));
  });

  it("zooms by steps and stops at the ends", () => {
    expect([nextZoom(100, 1), nextZoom(100, -1), nextZoom(300, 1), nextZoom(50, -1)]).toEqual([125, 75, 300, 50]);
  });
});
