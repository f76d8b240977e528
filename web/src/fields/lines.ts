/** A record as lines that a person goes through: every field with its value, its place and what is doubtful about it. Pure. */
import type { DocumentRecord, FieldEvidence, RecordField, SchemaCheck, SchemaLine, Violation } from "../api/types";
import { fieldName, pathName, pathOf, spoken } from "./names";

/** From here on a value is taken without anybody looking, as in the gate of the server. */
export const SURE = 0.8;

export interface Doubt { /** `bad`: something does not hold. `weak`: it is not certain enough. */ weight: "bad" | "weak"; words: string }

export interface FieldLine {
  path: string;
  label: string;
  /** Null where nothing was found. */
  value: string | null;
  confidence: number | null;
  method: string | null;
  evidence: FieldEvidence[];
  critical: boolean;
  doubts: Doubt[];
}

export interface Source { fields: Record<string, RecordField>; violations: Violation[] }

/** A record of a document says what does not hold in the words of the gate. */
export const recordSource = (record: DocumentRecord): Source => ({ fields: record.fields, violations: record.violations.map(({ rule, ...rest }) => ({ ...rest, kind: rule })) });

/** A value as it is shown and edited. */
export const valueText = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);

/** What a violation is about where it names no field: the fields that its check compares. */
function meant(violation: Violation, checks: SchemaCheck[]): string[] {
  const check = checks.find((one) => one.name === violation.field);
  if (!check) return [violation.field];
  return [...(check.terms ?? []), check.total, check.before, check.after].filter((name) => name !== undefined);
}

/** `items[].net_amount` of a check stands for that column of every row. */
const covers = (pattern: string, path: string): boolean => pattern === path || pattern === path.replace(/\[\d+\]/, "[]");

const WORDS: Record<string, string> = {
  missing: "Not found, and needed",
  ungrounded: "Stands nowhere in the document",
};

function doubtsOf(path: string, field: RecordField | undefined, violations: Violation[], checks: SchemaCheck[]): Doubt[] {
  const bad = violations
    .filter((one) => meant(one, checks).some((pattern) => covers(pattern, path)))
    .map((one): Doubt => ({ weight: "bad", words: WORDS[one.kind] ?? spoken(one.message) }));
  const weak = field && field.confidence < SURE ? [{ weight: "weak" as const, words: `Only ${Math.round(field.confidence * 100)} % sure` }] : [];
  return [...bad, ...weak];
}

/** The columns of rows that are read in this order; the server tells them by their letters. */
const COLUMNS = ["description", "quantity", "unit_price", "net_amount", "tax_rate", "gross_amount"];
const rank = (column: string | null): number => (column === null ? -1 : (COLUMNS.indexOf(column) + 1 || COLUMNS.length + 1));

/** Every line in the order of the schema: what was found, and what was looked for in vain. */
export function fieldLines(source: Source, schema: SchemaLine | undefined, checks: SchemaCheck[] = []): FieldLine[] {
  const { violations } = source;
  const known = schema?.fields ?? [];
  const place = new Map(known.map((field, i) => [field.name, i]));
  const asked = known.filter((field) => !Object.keys(source.fields).some((path) => pathOf(path).name === field.name)).map((field) => field.name);
  // What is missing in a row, or of a schema that is gone, is known by its violation alone.
  const missed = violations.filter((one) => one.kind === "missing").map((one) => one.field);
  const paths = [...new Set([...Object.keys(source.fields), ...asked, ...missed])];
  const at = (path: string) => { const { name, row, column } = pathOf(path); return [place.get(name) ?? known.length, row ?? -1, rank(column)] as const; };
  paths.sort((a, b) => {
    const [one, other] = [at(a), at(b)];
    return one[0] - other[0] || pathOf(a).name.localeCompare(pathOf(b).name) || one[1] - other[1] || one[2] - other[2] || a.localeCompare(b);
  });
  return paths.map((path) => {
    const field = source.fields[path];
    const rule = known[place.get(pathOf(path).name) ?? -1];
    return {
      path,
      label: pathName(path),
      value: valueText(field?.value),
      confidence: field?.confidence ?? null,
      method: field?.method ?? null,
      evidence: field?.evidence ?? [],
      critical: rule?.critical ?? false,
      doubts: doubtsOf(path, field, violations, checks),
    };
  });
}

/** What does not hold and belongs to no line. */
export function wholeDoubts(source: Source, lines: FieldLine[], checks: SchemaCheck[] = []): string[] {
  return source.violations
    .filter((one) => !meant(one, checks).some((pattern) => lines.some((line) => covers(pattern, line.path))))
    .map((one) => spoken(one.message));
}

export interface Table { name: string; columns: { name: string; label: string }[]; rows: (FieldLine | null)[][] }
export type Block = { kind: "field"; line: FieldLine } | { kind: "table"; table: Table } | { kind: "absent"; lines: FieldLine[] };

/** Lines as they are drawn: single fields, rows as tables, and together at the end what was optional and is not there. */
export function blocksOf(lines: FieldLine[]): Block[] {
  const blocks: Block[] = [];
  const tables = new Map<string, FieldLine[]>();
  const absent: FieldLine[] = [];
  for (const line of lines) {
    const { name, column } = pathOf(line.path);
    if (line.value === null && line.doubts.length === 0) absent.push(line);
    else if (column === null) blocks.push({ kind: "field", line });
    else {
      const cells = tables.get(name);
      if (cells) cells.push(line);
      else {
        const first = [line];
        tables.set(name, first);
        blocks.push({ kind: "table", table: { name, columns: [], rows: [] } });
      }
    }
  }
  for (const block of blocks) if (block.kind === "table") block.table = tableOf(block.table.name, tables.get(block.table.name) ?? []);
  if (absent.length > 0) blocks.push({ kind: "absent", lines: absent });
  return blocks;
}

function tableOf(name: string, cells: FieldLine[]): Table {
  const names = [...new Set(cells.map((cell) => pathOf(cell.path).column ?? ""))].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const rows = [...new Set(cells.map((cell) => pathOf(cell.path).row))];
  return {
    name: fieldName(name),
    columns: names.map((column) => ({ name: column, label: fieldName(column) })),
    rows: rows.map((row) => names.map((column) => cells.find((cell) => { const path = pathOf(cell.path); return path.row === row && path.column === column; }) ?? null)),
  };
}

export interface FieldBox { path: string; label: string; tone: "bad" | "weak" | "good"; box: [number, number, number, number] }

/** The boxes of fields on a page. */
export function boxesOn(lines: FieldLine[], page: number): FieldBox[] {
  return lines.flatMap((line) =>
    line.evidence
      .filter((one) => one.page === page && one.box !== null)
      .map((one) => ({ path: line.path, label: line.label, tone: line.doubts[0]?.weight ?? ("good" as const), box: one.box as FieldBox["box"] })));
}

/** The page where a value stands. */
export const pageOf = (line: FieldLine | undefined): number | null => line?.evidence.find((one) => one.page !== null && one.box !== null)?.page ?? null;
