/** The text of a sheet as rows and cells. Pure. */

export type Stretch = { kind: "text"; text: string } | { kind: "rows"; rows: string[][] };

/** Media types whose lines are rows; elsewhere a tab may be anything. */
export const isSheet = (type: string | null): boolean => /spreadsheet|ms-excel|csv|tab-separated/.test(type ?? "");

/** More rows than these are too much for one table; what follows is shown as it stands. */
const MOST_ROWS = 2000;
const MOST_CELLS = 60;

/** Lines with tabs that follow each other are rows of one table; a sheet's name, notes and what is too wide stay text. */
export function stretches(text: string): Stretch[] {
  const found: Stretch[] = [];
  let rows = 0;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const cells = line.split("\t");
    const last = found.at(-1);
    if (cells.length > 1 && cells.length <= MOST_CELLS && rows < MOST_ROWS) {
      rows += 1;
      if (last?.kind === "rows") last.rows.push(cells);
      else found.push({ kind: "rows", rows: [cells] });
    } else if (last?.kind === "text") last.text += `\n${line}`;
    else found.push({ kind: "text", text: line });
  }
  return found;
}

/** Whether a cell is a number, which stands at the right. */
export const isNumber = (cell: string): boolean => /^[-+(]?[\p{Sc}]?\s?\d[\d.,' ]*\)?\s?[%\p{Sc}]?$/u.test(cell.trim());
