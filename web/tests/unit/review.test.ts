import { describe, expect, it } from "vitest";
import type { Decision, ReviewLine } from "../../src/api/types";
import { begun, chosen, confirmed, current, type Desk, dropped, isSettled, kept, moved, opened, openLines, pickedWord, taken, typed, undone } from "../../src/screens/review/desk";
import { isTaken, nextReview } from "../../src/screens/review/queue";
import { closedWords } from "../../src/screens/review/words";
import type { FieldLine } from "../../src/fields/lines";
import { exportAddress } from "../../src/screens/export/ExportDialog";

const line = (path: string, value: string | null, ...weights: ("bad" | "weak")[]): FieldLine => ({
  path, label: path, value, confidence: 0.9, method: "label", evidence: [], critical: false, doubts: weights.map((weight) => ({ weight, words: weight })),
});
const lines = [line("number", "R1"), line("date", "2026-01-02", "weak"), line("total", null, "bad"), line("items[0].a", "x", "weak"), line("items[0].b", "y", "weak"), line("items[1].a", "z", "bad")];
const at = (path: string) => lines.find((one) => one.path === path) as FieldLine;
const open = (desk: Desk) => openLines(desk, lines).map((one) => one.path);

describe("the desk", () => {
  it("begins at the first doubtful field, or where the address says", () => {
    expect(opened(lines).active).toBe("date");
    expect(opened(lines, {}, "number").active).toBe("number");
    expect(opened(lines, {}, "gone").active).toBe("date");
    expect(opened([line("only", "1")]).active).toBe("only");
    expect(opened([]).active).toBeNull();
  });

  it("goes from one doubtful field to the next, and rows count as one", () => {
    let desk = confirmed(opened(lines), lines);
    expect([desk.active, open(desk)]).toEqual(["total", ["total", "items[0].a", "items[0].b", "items[1].a"]]);
    desk = confirmed(confirmed(desk, lines), lines);
    // What does not hold is not waved through with its neighbours.
    expect([desk.active, open(desk)]).toEqual(["items[1].a", ["items[1].a"]]);
    desk = confirmed(desk, lines);
    expect(open(desk)).toEqual([]);
  });

  it("stops at the ends", () => {
    const paths = lines.map((one) => one.path);
    expect(moved({ ...opened(lines), active: "number" }, paths, -1, lines).active).toBe("number");
    expect(moved({ ...opened(lines), active: "items[1].a" }, paths, 1, lines).active).toBe("items[1].a");
    expect(moved(opened(lines), paths, 1, lines).active).toBe("total");
  });

  it("keeps what is typed, and knows what is no change", () => {
    const typing = typed(begun(opened(lines), at("date"), lines), " 2026-01-03 ");
    const desk = kept(typing, lines);
    expect(desk.drafts).toEqual({ date: "2026-01-03" });
    expect([desk.active, current(desk, at("date"))]).toEqual(["total", "2026-01-03"]);
    expect(undone(desk, "date").drafts).toEqual({});
    expect(kept(typed(begun(desk, at("date"), lines), "2026-01-02"), lines).drafts).toEqual({});
    expect(kept(typed(begun(desk, at("date"), lines), "  "), lines).drafts).toEqual({ date: null });
    expect(kept(typed(begun(opened(lines), at("total"), lines), ""), lines).drafts).toEqual({});
  });

  it("puts a value together from words of the page", () => {
    const words = ["Total", "6", "480", "euros"].map((text) => ({ text }));
    let desk = begun(opened(lines), at("number"), lines);
    desk = pickedWord(desk, words, 2);
    expect(desk.editing?.text).toBe("480");
    desk = pickedWord(desk, words, 1);
    expect(desk.editing?.text).toBe("6 480");
    expect(pickedWord(desk, words, 1).editing?.text).toBe("480");
    expect(pickedWord(desk, words, 3, true).editing?.text).toBe("6 480 euros");
    // Typing takes over.
    expect(pickedWord(typed(desk, "7"), words, 3).editing?.text).toBe("euros");
    expect(pickedWord(opened(lines), words, 1).editing).toBeNull();
    // Nothing chosen any more leaves the value as it is.
    expect(taken(pickedWord(pickedWord(begun(opened(lines), at("number"), lines), words, 2), words, 2), lines).drafts).toEqual({});
  });

  it("loses nothing that was typed, whatever comes before Enter", () => {
    const typing = typed(begun(opened(lines), at("number"), lines), "R2");
    // Accepting sends it.
    expect(taken(typing, lines).drafts).toEqual({ number: "R2" });
    // So does going elsewhere: by a click, by a key, or to edit another.
    expect(chosen(typing, "total", lines)).toMatchObject({ active: "total", editing: null, drafts: { number: "R2" } });
    expect(moved(typing, lines.map((one) => one.path), 1, lines)).toMatchObject({ active: "date", editing: null, drafts: { number: "R2" } });
    expect(begun(typing, at("date"), lines)).toMatchObject({ editing: { path: "date" }, drafts: { number: "R2" } });
    // The field itself stays in the hand, and Escape alone drops it.
    expect([chosen(typing, "number", lines).editing?.text, begun(typing, at("number"), lines).editing?.text]).toEqual(["R2", "R2"]);
    expect([dropped(typing).drafts, taken(dropped(typing), lines).drafts]).toEqual([{}, {}]);
    // What was only opened is no change, however the value is written.
    const padded = [line("note", " two\nlines ")];
    expect(chosen(begun(opened(padded), padded[0] as FieldLine, padded), "note", padded).drafts).toEqual({});
    expect(taken(begun(opened(padded), padded[0] as FieldLine, padded), padded)).toMatchObject({ editing: null, drafts: {} });
  });

  it("does not call a field right while another value is put together for it", () => {
    const words = ["Total", "6", "480"].map((text) => ({ text }));
    let desk = begun(opened(lines, {}, "total"), at("total"), lines);
    desk = pickedWord(pickedWord(desk, words, 1), words, 2);
    const after = confirmed(desk, lines);
    expect([after.drafts, [...after.checked], after.active]).toEqual([{ total: "6 480" }, [], "items[0].a"]);
    // With nothing doubtful left the same key would accept the record: not before the edit is kept and seen.
    const sure = [line("number", "R1")];
    const last = typed(begun(opened(sure), sure[0] as FieldLine, sure), "R2");
    expect(isSettled(last, sure)).toBe(false);
    expect([isSettled(confirmed(last, sure), sure), confirmed(last, sure).drafts]).toEqual([true, { number: "R2" }]);
  });
});

describe("the queue", () => {
  const now = Date.parse("2026-11-18T12:00:00Z");
  const review = (id: string, by: string | null = null, minutes = 5): ReviewLine =>
    ({ review_id: id, state: "open", locked_by: by, locked_until: by ? new Date(now + minutes * 60_000).toISOString() : null }) as ReviewLine;

  it("leads past what somebody else has, and from the end to the top", () => {
    const queue = [review("a"), review("b", "ben"), review("c", "ana"), review("d", "ben", -1)];
    const next = (id: string | null) => nextReview(queue, id, "ana", now)?.review_id ?? null;
    expect([next(null), next("a"), next("c"), next("d"), next("gone")]).toEqual(["a", "c", "d", "a", "a"]);
    expect(nextReview([review("a")], "a", "ana", now)).toBeNull();
    expect(nextReview([review("a"), { ...review("b"), state: "accepted" }], "a", "ana", now)).toBeNull();
    expect([isTaken(review("b", "ben"), "ana", now), isTaken(review("b", "ben"), "ben", now), isTaken(review("b", "ben", -1), "ana", now)]).toEqual([true, false, false]);
  });

  it("says who decided", () => {
    const history = [{ by: "ana", action: "corrected" }] as Decision[];
    expect(closedWords({ state: "corrected", history })).toBe("Corrected by ana");
    expect(closedWords({ state: "accepted", history: [] })).toBe("Accepted");
  });
});

it("an export asks for what was chosen, and for no more", () => {
  expect(exportAddress({ schema: "invoice", format: "csv", state: "", from: "2026-01-01", to: "" })).toBe("/v1/export?schema=invoice&format=csv&from=2026-01-01");
});
