/** The fields of a record, to look at or to go through: one line each, rows as tables, with what is doubtful in words. */
import { useEffect, useMemo, useRef, useState } from "react";
import { ChevronRight } from "lucide-react";
import { cx } from "../ui/cx";
import { counted } from "../ui/format";
import { reveal } from "../ui/scroll";
import { FieldCell, FieldRow } from "./FieldRow";
import { type Block, blocksOf, type FieldLine, type Table } from "./lines";
import { pathOf } from "./names";
import { Evidence } from "./Evidence";

/** What a reviewer can do with fields. Without it they are only shown. */
export interface Work {
  editing: { path: string; text: string } | null;
  drafts: Readonly<Record<string, string | null>>;
  checked: ReadonlySet<string>;
  edit: (line: FieldLine) => void;
  type: (text: string) => void;
  keep: () => void;
  drop: () => void;
  undo: (path: string) => void;
  confirm: () => void;
}

export interface FieldProps {
  active: string | null;
  lit: string | null;
  onActive: (path: string) => void;
  onHover: (path: string | null) => void;
  work?: Work | undefined;
}

/** The paths that can be gone to, in the order in which they stand. */
export const pathsShown = (blocks: Block[], absent: boolean): string[] =>
  blocks.flatMap((block) => {
    if (block.kind === "field") return [block.line.path];
    if (block.kind === "absent") return absent ? block.lines.map((line) => line.path) : [];
    return block.table.rows.flatMap((row) => row.flatMap((cell) => (cell ? [cell.path] : [])));
  });

export function FieldList({ lines, onMove, ...field }: FieldProps & { lines: FieldLine[]; /** From one field to the next, by arrow keys. */ onMove?: (by: 1 | -1, paths: string[]) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const blocks = useMemo(() => blocksOf(lines), [lines]);
  const [all, setAll] = useState(false);
  const { active, work } = field;
  const hidden = !all && blocks.some((block) => block.kind === "absent" && block.lines.some((line) => line.path === active));
  const open = all || hidden;
  const editing = work?.editing ?? null;
  // The keyboard follows what is active; while something is typed it stays there.
  useEffect(() => {
    if (active === null || editing) return;
    const found = box.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(active)}"]`);
    if (!found) return;
    if (work) found.focus({ preventScroll: true });
    reveal(found, 40);
  }, [active, editing, work === undefined]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0 || !onMove || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    onMove(by, pathsShown(blocks, open));
  };
  return (
    <div ref={box} onKeyDown={onKeyDown} data-absent={open || undefined} className="@container">
      {blocks.map((block) =>
        block.kind === "field" ? <ul key={block.line.path} className="border-b border-line"><FieldRow line={block.line} {...field} /></ul>
        : block.kind === "table" ? <Rows key={block.table.name} table={block.table} {...field} />
        : (
          <section key="absent" aria-label="Not found">
            <button type="button" aria-expanded={open} onClick={() => setAll(!open)} className="flex h-9 w-full items-center gap-1.5 border-b border-line px-4 text-left text-sm text-ink-3 hover:bg-hover hover:text-ink">
              <ChevronRight size={14} aria-hidden className={cx("transition-transform duration-100", open && "rotate-90")} />
              {counted(block.lines.length, "more field")} not on the document
            </button>
            {open && <ul className="border-b border-line">{block.lines.map((line) => <FieldRow key={line.path} line={line} {...field} />)}</ul>}
          </section>
        ))}
    </div>
  );
}

function Rows({ table, ...field }: FieldProps & { table: Table }) {
  const chosen = table.rows.flat().find((cell) => cell !== null && cell.path === field.active) ?? null;
  return (
    <section aria-label={table.name} className="border-b border-line">
      <h3 className="px-4 pt-2.5 text-sm text-ink-3">{table.name} <span className="text-xs">{table.rows.length}</span></h3>
      <div className="overflow-x-auto px-2 pb-2">
        <table className="w-full border-collapse text-sm">
          <thead><tr>{table.columns.map((column, i) => <th key={column.name} scope="col" className={cx("px-2 py-1 text-xs font-medium whitespace-nowrap text-ink-3", i > 0 && "text-right")}>{column.label}</th>)}</tr></thead>
          <tbody>
            {table.rows.map((row, i) => (
              <tr key={row.find((cell) => cell !== null)?.path ?? i} className="border-t border-line align-top">
                {row.map((cell, at) => (
                  <td key={table.columns[at]?.name} className={cx("p-0", at > 0 ? "text-right" : "min-w-28")}>
                    {cell ? <FieldCell line={cell} end={at > 0} {...field} /> : <span className="block px-2 py-1 text-ink-3">–</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {chosen && (
          <p className="px-2 pt-1 text-xs text-ink-3">
            <span className="font-medium text-ink-2">Row {(pathOf(chosen.path).row ?? 0) + 1}, {chosen.label.split(", ")[1]}</span> <Evidence line={chosen} draft={field.work?.drafts[chosen.path]} />
          </p>
        )}
      </div>
    </section>
  );
}
