import { describe, expect, it } from "vitest";
import { groupName } from "../../src/upload/group";
import { afterReload, fresh, settled, totals, words } from "../../src/upload/item";

const found = (path: string) => ({ path, file: {} as File });

describe("uploads", () => {
  it("says after a reload what was lost, and keeps what had arrived", () => {
    const items = [
      { ...fresh("1", "a", 10), state: "sending" as const },
      { ...fresh("2", "b", 10), state: "done" as const },
      fresh("3", "c", 10),
    ];
    expect(afterReload(items).map((item) => item.state)).toEqual(["interrupted", "done", "interrupted"]);
    expect(words(afterReload(items)[0]!)).toContain("add it again");
  });

  it("adds up bytes, failures and duplicates", () => {
    const sum = totals([
      { ...fresh("1", "a", 100), state: "sending", sent: 30 },
      { ...fresh("2", "b", 50), state: "done", sent: 50, duplicate: true },
      { ...fresh("3", "c", 10), state: "failed" },
      { ...fresh("4", "d", 10), state: "reading" },
    ]);
    expect(sum).toEqual({ all: 4, bytes: 170, sent: 100, open: 1, failed: 1, duplicates: 1, reading: 1 });
  });

  it("does not call ready what went through without being read", () => {
    const done = (result: unknown, duplicate = false) => words({ ...fresh("1", "a", 1), duplicate, ...settled(result) });
    expect([done("SUCCESS"), done(undefined), done("PASSWORD_PROTECTED"), done("EMPTY", true)]).toEqual([
      "ready", "ready", "stored; password protected", "duplicate of a document that was here; stored; empty",
    ]);
  });

  it("names a batch by the folder its files share", () => {
    expect(groupName([found("mail/a"), found("mail/b/c")])).toMatch(/^mail, /);
    expect(groupName([found("a"), found("b")])).toMatch(/^2 files, /);
    expect(groupName([found("x/a"), found("y/b")])).toMatch(/^2 files, /);
  });
});
