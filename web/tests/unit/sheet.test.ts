import { describe, expect, it } from "vitest";
import { isNumber, isSheet, stretches } from "../../src/screens/document/sheet";

describe("sheets", () => {
  it("takes lines with tabs for rows, and leaves the name of the sheet and notes as text", () => {
    expect(stretches("Budget\nMonth\tSeeds\nJan\t12.5\nchecked by Tom\nFeb\t8\n")).toEqual([
      { kind: "text", text: "Budget" },
      { kind: "rows", rows: [["Month", "Seeds"], ["Jan", "12.5"]] },
      { kind: "text", text: "checked by Tom" },
      { kind: "rows", rows: [["Feb", "8"]] },
    ]);
  });

  it("loses nothing of a sheet that is too long or too wide for a table", () => {
    const long = Array.from({ length: 5000 }, (_, i) => `${i}\tx`).join("\n");
    const whole = (text: string) => stretches(text).map((part) => (part.kind === "text" ? part.text : part.rows.map((row) => row.join("\t")).join("\n"))).join("\n");
    expect(whole(long)).toBe(long);
    expect(stretches(Array.from({ length: 500 }, () => "x").join("\t")).map((part) => part.kind)).toEqual(["text"]);
  });

  it("knows sheets and numbers", () => {
    expect(["text/csv", "application/vnd.ms-excel", "application/vnd.oasis.opendocument.spreadsheet", "text/plain", null].map(isSheet)).toEqual([true, true, true, false, false]);
    expect(["12.5", "-3", "£1,200.00", "40 %", "2026-04-01", "A1", ""].map(isNumber)).toEqual([true, true, true, true, false, false, false]);
  });
});
