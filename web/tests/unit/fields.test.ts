import { describe, expect, it } from "vitest";
import type { RecordField, SchemaLine } from "../../src/api/types";
import { blocksOf, boxesOn, fieldLines, pageOf, wholeDoubts } from "../../src/fields/lines";
import { fieldName, pathName, pathOf, spoken } from "../../src/fields/names";

const field = (value: unknown, confidence = 0.95, page: number | null = 1): RecordField => ({
  value, confidence, method: "label", evidence: [{ source: "page", page, span: String(value), box: page ? [0.1, 0.2, 0.3, 0.04] : null, path: null }],
});
const rule = (name: string, critical = false, type: "text" | "rows" = "text") => ({ name, type, critical, normalise: null });
const schema: SchemaLine = {
  name: "invoice", version: 1, title: null, built_in: true,
  fields: [rule("invoice_number", true), rule("due_date"), rule("net"), rule("tax"), rule("total", true), rule("items", false, "rows")],
};
const checks = [{ name: "adds_up", terms: ["net", "tax"], total: "total" }];

describe("names", () => {
  it("says paths as people do", () => {
    expect([fieldName("seller_tax_id"), fieldName("iban"), pathName("party[1]"), pathName("items[0].unit_price")]).toEqual(["Seller tax ID", "IBAN", "Party 2", "Items 1, unit price"]);
    expect(pathOf("items[12].net_amount")).toEqual({ name: "items", row: 12, column: "net_amount" });
  });

  it("puts names into the server's words, and leaves values alone", () => {
    expect(spoken("`total_amount` was not found")).toBe("“Total amount” was not found");
    expect(spoken("tax_basis_total and tax_total together are 100.00, not 119.00")).toBe("“Tax basis total” and “Tax total” together are 100.00, not 119.00");
    expect(spoken("`ACME GmbH` stands nowhere")).toBe("“ACME GmbH” stands nowhere");
  });
});

describe("lines", () => {
  it("keep the order of the schema, with what was looked for in vain", () => {
    const lines = fieldLines({ fields: { total: field("9"), "items[1].description": field("b"), "items[0].net_amount": field("1"), "items[0].description": field("a"), invoice_number: field("R1") }, violations: [] }, schema);
    expect(lines.map((line) => line.path)).toEqual(["invoice_number", "due_date", "net", "tax", "total", "items[0].description", "items[0].net_amount", "items[1].description"]);
    expect(lines[1]).toMatchObject({ value: null, confidence: null, doubts: [] });
  });

  it("say in words what is doubtful about which field", () => {
    const lines = fieldLines({
      fields: { net: field("90"), tax: field("9", 0.6), total: field("100") },
      violations: [
        { field: "invoice_number", kind: "missing", message: "`invoice_number` was not found" },
        { field: "adds_up", kind: "check", message: "net and tax together are 99, not 100" },
      ],
    }, schema, checks);
    const of = (path: string) => lines.find((line) => line.path === path)?.doubts.map((doubt) => `${doubt.weight}: ${doubt.words}`);
    expect(of("invoice_number")).toEqual(["bad: Not found, and needed"]);
    expect(of("net")).toEqual(["bad: net and tax together are 99, not 100"]);
    expect(of("tax")).toEqual(["bad: net and tax together are 99, not 100", "weak: Only 60 % sure"]);
    expect(of("due_date")).toEqual([]);
  });

  it("tell what belongs to no field apart", () => {
    const source = { fields: { total: field("1") }, violations: [{ field: "elsewhere", kind: "check", message: "due_date is before" }] };
    expect(wholeDoubts(source, fieldLines(source, schema), checks)).toEqual(["“Due date” is before"]);
    expect(wholeDoubts({ ...source, violations: [{ field: "total", kind: "misfit", message: "no" }] }, fieldLines(source, schema))).toEqual([]);
  });

  it("do without a schema that is gone", () => {
    expect(fieldLines({ fields: { b: field("2"), a: field("1") }, violations: [{ field: "c", kind: "missing", message: "" }] }, undefined).map((line) => line.path)).toEqual(["a", "b", "c"]);
  });

  it("are drawn as fields, as tables, and together where they are not there", () => {
    const blocks = blocksOf(fieldLines({ fields: { total: field("9"), "items[0].net_amount": field("1"), "items[2].description": field("b") }, violations: [] }, schema));
    expect(blocks.map((block) => block.kind)).toEqual(["field", "table", "absent"]);
    const table = blocks[1];
    if (table?.kind !== "table") throw new Error("no table");
    expect(table.table.columns.map((column) => column.name)).toEqual(["description", "net_amount"]);
    expect(table.table.rows.map((row) => row.map((cell) => cell?.value ?? null))).toEqual([[null, "1"], ["b", null]]);
  });

  it("have boxes on their pages only", () => {
    const lines = fieldLines({ fields: { net: field("1", 0.9, 2), tax: field("2", 0.5), total: field("3", 0.9, null) }, violations: [] }, schema);
    expect(boxesOn(lines, 1).map(({ path, tone }) => [path, tone])).toEqual([["tax", "weak"]]);
    expect(boxesOn(lines, 2).map(({ path, tone }) => [path, tone])).toEqual([["net", "good"]]);
    expect(lines.map(pageOf)).toContain(2);
    expect(pageOf(lines.find((line) => line.path === "total"))).toBeNull();
  });
});
