/** What a reviewer has done with a record so far: where he is, what he edits, what he has changed and what he has looked at. Pure. */
import type { FieldLine } from "../../fields/lines";
import { pathOf } from "../../fields/names";

export type Drafts = Readonly<Record<string, string | null>>;

export interface Editing {
  path: string;
  text: string;
  /** What stood there when it began: the same again is no change. */
  before: string;
  /** Words of the page that make up the text; none once somebody typed. */
  picked: readonly number[];
}

export interface Desk {
  active: string | null;
  editing: Editing | null;
  /** New values; null takes a value away. */
  drafts: Drafts;
  /** Doubtful fields that were found right. */
  checked: ReadonlySet<string>;
}

/** Where to begin: at the first thing that is doubtful. */
export function opened(lines: FieldLine[], drafts: Drafts = {}, wanted: string | null = null): Desk {
  const known = new Set(lines.map((line) => line.path));
  const active = wanted !== null && known.has(wanted) ? wanted : (lines.find((line) => line.doubts.length > 0) ?? lines[0])?.path ?? null;
  return { active, editing: null, drafts, checked: new Set() };
}

/** Whether nobody has settled a doubtful field yet. */
export const isOpen = (desk: Desk, line: FieldLine): boolean =>
  line.doubts.length > 0 && !desk.checked.has(line.path) && !(line.path in desk.drafts);

export const openLines = (desk: Desk, lines: FieldLine[]): FieldLine[] => lines.filter((line) => isOpen(desk, line));

/** Nothing is open, and nothing is being edited: then the whole record is right. */
export const isSettled = (desk: Desk, lines: FieldLine[]): boolean => desk.editing === null && openLines(desk, lines).length === 0;

/** Another field is gone to. What was typed in this one is kept: only Escape drops it. */
export const chosen = (desk: Desk, path: string, lines: FieldLine[]): Desk =>
  ({ ...(desk.editing?.path === path ? desk : taken(desk, lines)), active: path });

/** One line on or back; it stops at the ends. */
export function moved(desk: Desk, paths: string[], by: 1 | -1, lines: FieldLine[]): Desk {
  const at = paths.indexOf(desk.active ?? "");
  const next = paths[Math.min(paths.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  return next === undefined ? desk : { ...taken(desk, lines), active: next };
}

/**
 * The field is right as it stands: on to the next doubtful one, from here and then from the top. Rows are looked at as a
 * whole, so one cell that is right stands for all that are only uncertain. What is being edited is kept instead: the value
 * that was found is not what the reviewer sees.
 */
export function confirmed(desk: Desk, lines: FieldLine[]): Desk {
  if (desk.editing) return kept(desk, lines);
  const checked = new Set(desk.checked);
  if (desk.active !== null) checked.add(desk.active);
  const { name, column } = pathOf(desk.active ?? "");
  if (column !== null) {
    const cells = lines.filter((line) => pathOf(line.path).name === name && line.doubts.every((doubt) => doubt.weight === "weak"));
    for (const cell of cells) checked.add(cell.path);
  }
  return toOpen({ ...desk, checked, editing: null }, lines);
}

function toOpen(desk: Desk, lines: FieldLine[]): Desk {
  const at = lines.findIndex((line) => line.path === desk.active);
  const next = [...lines.slice(at + 1), ...lines.slice(0, at + 1)].find((line) => isOpen(desk, line));
  return next ? { ...desk, active: next.path } : desk;
}

/** What a field has now: the new value where there is one. */
export const current = (desk: Desk, line: FieldLine): string | null => (line.path in desk.drafts ? desk.drafts[line.path] ?? null : line.value);

/** An edit begins, or goes on; one of another field is kept. */
export function begun(desk: Desk, line: FieldLine, lines: FieldLine[]): Desk {
  if (desk.editing?.path === line.path) return { ...desk, active: line.path };
  const text = current(desk, line) ?? "";
  return { ...taken(desk, lines), active: line.path, editing: { path: line.path, text, before: text, picked: [] } };
}

export const typed = (desk: Desk, text: string): Desk => (desk.editing ? { ...desk, editing: { ...desk.editing, text, picked: [] } } : desk);

/**
 * A word of the page was clicked: it makes up the value together with others that were. Once more takes it out again;
 * `range` takes everything from the last one on.
 */
export function pickedWord(desk: Desk, words: readonly { text: string }[], index: number, range = false): Desk {
  const { editing } = desk;
  if (!editing) return desk;
  const last = editing.picked.at(-1);
  let picked: number[];
  if (range && last !== undefined) {
    const [from, to] = [Math.min(last, index), Math.max(last, index)];
    picked = [...editing.picked.filter((one) => one < from || one > to), ...Array.from({ length: to - from + 1 }, (_, i) => from + i)];
  } else if (editing.picked.includes(index)) picked = editing.picked.filter((one) => one !== index);
  else picked = [...editing.picked, index];
  const text = [...picked].sort((a, b) => a - b).map((one) => words[one]?.text ?? "").join(" ");
  // With the last word taken out again nothing was chosen, which is not the same as no value.
  return { ...desk, editing: { ...editing, picked, text: picked.length > 0 ? text : editing.before } };
}

/**
 * What was typed becomes the new value, whether or not Enter was pressed. Nothing typed takes the value away; the old value
 * again is no change.
 */
export function taken(desk: Desk, lines: FieldLine[]): Desk {
  const { editing } = desk;
  if (!editing) return desk;
  if (editing.text === editing.before) return dropped(desk);
  const line = lines.find((one) => one.path === editing.path);
  const text = editing.text.trim();
  const value = text === "" ? null : text;
  const same = value === (line?.value ?? null);
  return { ...desk, editing: null, drafts: same ? without(desk.drafts, editing.path) : { ...desk.drafts, [editing.path]: value } };
}

/** The same, and on to what is doubtful. */
export function kept(desk: Desk, lines: FieldLine[]): Desk {
  const after = taken(desk, lines);
  return desk.editing && desk.editing.path in after.drafts ? toOpen(after, lines) : after;
}

export const dropped = (desk: Desk): Desk => ({ ...desk, editing: null });

/** Back to the value that was found. */
export const undone = (desk: Desk, path: string): Desk => ({ ...desk, drafts: without(desk.drafts, path) });

function without(drafts: Drafts, path: string): Drafts {
  const { [path]: _, ...rest } = drafts;
  return rest;
}
