import { expect, it } from "vitest";
import { filterOf, isFiltered, languageName, timeWords } from "../../src/screens/library/filter";
import { stages, stageWords } from "../../src/screens/batches/figures";
import { pageChoices, pageRange } from "../../src/screens/document/choices";

const now = new Date(2026, 10, 17, 15, 30);
const asked = (search: string) => filterOf(new URLSearchParams(search), now);

it("reads the filter out of the address, with whole days where the user is", () => {
  expect(asked("came=today").since).toBe(new Date(2026, 10, 17).toISOString());
  expect(asked("came=week").since).toBe(new Date(2026, 10, 11).toISOString());
  expect(asked("since=2026-11-01&until=2026-11-03")).toMatchObject({ since: new Date(2026, 10, 1).toISOString(), until: new Date(2026, 10, 4).toISOString() });
  expect(asked("lang=deu&batch=b1&type=text/plain&state=ready&q=lamp")).toMatchObject({ language: "deu", batch_id: "b1", type: "text/plain", state: "ready", q: "lamp" });
  expect(asked("kind=invoice&q=lamp")).toMatchObject({ type: "invoice", q: "lamp" });
  // With a format beside it, the index is asked what a document is, together with the words, and before what might swallow it.
  const both = (search: string) => asked(`type=application/pdf&${search}`);
  expect(both("kind=invoice").type).toBe("application/pdf");
  expect([both("kind=invoice").q, both("kind=bank_statement&q=lamp").q, both("kind=a%22b&q=%22open").q, both("kind=letter&q=OR lamp").q])
    .toEqual(['type:"invoice"', 'type:"bank_statement" lamp', 'type:"ab" "open', 'type:"letter" lamp']);
  // An address may hold anything.
  expect(asked("since=yesterday&until=2026-99-99&came=never")).toMatchObject({ since: undefined, until: undefined });
});

it("knows what filters, and says the time in words", () => {
  expect([isFiltered(new URLSearchParams("view=grid")), isFiltered(new URLSearchParams("view=grid&lang=fra"))]).toEqual([false, true]);
  expect(timeWords(new URLSearchParams("came=month"))).toBe("Last 30 days");
  expect(timeWords(new URLSearchParams("since=2026-11-01"))).toBe("since 2026-11-01");
  expect(timeWords(new URLSearchParams())).toBeNull();
  expect([languageName("deu"), languageName("not a tag!")]).toEqual(["German", "not a tag!"]);
});

it("adds tasks up by stage, in flow order", () => {
  const rows = stages([
    { kind: "extract-text", stage: "transcribing", state: "done", count: 7 }, { kind: "extract-text-part", stage: "transcribing", state: "queued", count: 2 },
    { kind: "extract-text", stage: "transcribing", state: "dead", count: 1 }, { kind: "intake-document", stage: "intake", state: "running", count: 3 },
  ]);
  expect(rows.map((row) => [row.stage, row.done, row.all])).toEqual([["intake", 0, 3], ["transcribing", 7, 10]]);
  expect(stageWords(rows)).toBe("2 waiting, 3 running, 1 given up");
  expect(stageWords([])).toBe("nothing is left to do");
});

it("joins pages that were read the same way, and keeps the least certain", () => {
  const page = (number: number, source: "native" | "ocr", reason: string, quality: number | null) => ({ number, source, reason, quality, text: "" });
  const choices = pageChoices([page(1, "native", "text layer", 1), page(2, "native", "text layer", 0.8), page(3, "ocr", "unmapped", 0.6), page(4, "native", "text layer", null)]);
  expect(choices.map((one) => [pageRange(one), one.source, one.quality])).toEqual([["Pages 1–2", "native", 0.8], ["Page 3", "ocr", 0.6], ["Page 4", "native", null]]);
});
