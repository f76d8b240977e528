import { describe, expect, it } from "vitest";
import type { DocumentLine, DocumentList } from "../../src/api/types";
import { moved, NO_CURSOR, placeOf } from "../../src/screens/library/cursor";
import { lines, pagesOf, renewed } from "../../src/screens/library/pages";
import { extend, NONE, toggle } from "../../src/screens/library/selection";

const line = (id: string, state = "ready") => ({ document_id: id, state }) as DocumentLine;
const page = (ids: string[], next: string | null): DocumentList => ({ documents: ids.map((id) => line(id)), next_cursor: next });

describe("pages", () => {
  const all = { pages: [page(["a", "b"], "2"), page(["c", "d"], "4"), page(["e"], null)], pageParams: [null, "2", "4"] };

  it("shows each document once", () => {
    expect(lines([page(["a", "b"], "2"), page(["b", "c"], null)]).map((one) => one.document_id)).toEqual(["a", "b", "c"]);
  });

  it("finds the pages in view", () => {
    expect(pagesOf(all.pages, 1, 2)).toEqual([0, 1]);
    expect(pagesOf(all.pages, 4, 9)).toEqual([2]);
    // Nothing is in view of a list that has nothing yet, and it is the one that must hear of the first.
    expect(pagesOf([page([], null)], 0, 0)).toEqual([0]);
  });

  it("renews a page in its place while the next still joins on", () => {
    const next = renewed(all, 1, { ...page(["c", "d"], "4"), documents: [line("c", "failed"), line("d")] });
    expect(next.pages).toHaveLength(3);
    expect(next.pages[1]?.documents[0]?.state).toBe("failed");
  });

  it("leaves out what no longer joins on", () => {
    const next = renewed(all, 0, page(["z", "a"], "1"));
    expect(next).toEqual({ pages: [page(["z", "a"], "1")], pageParams: [null] });
  });
});

describe("selection", () => {
  it("toggles, and extends from where it began", () => {
    const one = toggle(NONE, "b");
    expect([...one.ids]).toEqual(["b"]);
    expect([...toggle(one, "b").ids]).toEqual([]);
    expect([...extend(one, ["a", "b", "c", "d"], "d").ids]).toEqual(["b", "c", "d"]);
    expect([...extend(one, ["a", "b", "c", "d"], "a").ids].sort()).toEqual(["a", "b"]);
  });

  it("selects one where there is nothing to extend from", () => {
    expect([...extend(NONE, ["a"], "a").ids]).toEqual(["a"]);
  });
});

describe("the cursor of a list", () => {
  const order = ["a", "b", "c"];

  it("begins at the top and stops at the ends", () => {
    expect(moved(NO_CURSOR, order, 1)).toEqual({ id: "a", index: 0 });
    expect(moved({ id: "c", index: 2 }, order, 1)).toEqual({ id: "c", index: 2 });
    expect(moved({ id: "a", index: 0 }, order, -1)).toEqual({ id: "a", index: 0 });
    expect(moved(NO_CURSOR, [], 1).id).toBeNull();
  });

  it("stays at its document when others come in above", () => {
    expect(moved({ id: "a", index: 0 }, ["new", "a", "b"], 1)).toEqual({ id: "b", index: 2 });
  });

  it("goes on where its document was when that left the list", () => {
    expect(moved({ id: "b", index: 1 }, ["a", "c"], 1)).toEqual({ id: "c", index: 1 });
    expect(moved({ id: "b", index: 1 }, ["a", "c"], -1)).toEqual({ id: "a", index: 0 });
    expect(placeOf(["a", "c"], "b")).toBeNull();
  });
});
