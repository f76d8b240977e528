/** One field: a button that the keyboard walks over, or the place where its new value is typed. */
import { Check, CircleAlert, Pencil, TriangleAlert, Undo2 } from "lucide-react";
import { cx } from "../ui/cx";
import { shown } from "../ui/format";
import { Evidence } from "./Evidence";
import type { FieldProps, Work } from "./FieldList";
import type { Doubt, FieldLine } from "./lines";
import { Sure } from "./Sure";

/** Enter says that the field is right; on a button it would only press it. */
const onEnter = (work: Work | undefined) => (event: React.KeyboardEvent) => {
  if (event.key !== "Enter" || !work) return;
  event.preventDefault();
  work.confirm();
};

export function FieldRow({ line, active, lit, onActive, onHover, work }: FieldProps & { line: FieldLine }) {
  const on = line.path === active;
  const draft = work?.drafts[line.path];
  const settled = draft !== undefined || (work?.checked.has(line.path) ?? false);
  return (
    <li
      onPointerEnter={() => onHover(line.path)}
      onPointerLeave={() => onHover(null)}
      className={cx("group relative border-line not-first:border-t", on ? "bg-hover shadow-[inset_3px_0_0_var(--accent)]" : line.path === lit && "bg-hover")}
    >
      {work?.editing?.path === line.path ? <Edit line={line} work={work} text={work.editing.text} /> : (
        <>
          <button
            type="button"
            data-field={line.path}
            aria-current={on || undefined}
            onClick={() => onActive(line.path)}
            onDoubleClick={() => work?.edit(line)}
            onKeyDown={onEnter(work)}
            className={cx("grid w-full grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-3 py-2 pl-4 text-left outline-offset-[-2px] @md:grid-cols-[9rem_minmax(0,1fr)_auto]", work ? "pr-12" : "pr-4")}
          >
            <span className="text-sm text-ink-3">{shown(line.label)}</span>
            <Value line={line} draft={draft} />
            <span className="flex items-center gap-1.5 @max-md:col-start-2 @max-md:row-start-1">
              {draft !== undefined ? <span className="text-xs font-medium text-accent-ink">corrected</span>
                : settled ? <span className="flex items-center gap-1 text-xs text-accent-ink"><Check size={13} aria-hidden /> looked at</span>
                : line.confidence !== null && <Sure value={line.confidence} />}
            </span>
            {!settled && line.doubts.filter((doubt) => doubt.weight === "bad").map((doubt) => <DoubtLine key={doubt.words} doubt={doubt} />)}
            {on && (line.value !== null || draft !== undefined) && <span className="col-span-full text-xs break-words text-ink-3 @md:col-start-2"><Evidence line={line} draft={draft} /></span>}
          </button>
          {work && (
            <span className={cx("absolute top-1 right-2.5 group-focus-within:block group-hover:block", !on && "hidden")}>
              {draft !== undefined
                ? <Small label={`Take back the change of ${line.label}`} onClick={() => work.undo(line.path)}><Undo2 size={14} aria-hidden /></Small>
                : <Small label={`Edit ${line.label}`} onClick={() => work.edit(line)}><Pencil size={14} aria-hidden /></Small>}
            </span>
          )}
        </>
      )}
    </li>
  );
}

/** The same inside a table, where there is less room. */
export function FieldCell({ line, end, active, lit, onActive, onHover, work }: FieldProps & { line: FieldLine; end: boolean }) {
  const draft = work?.drafts[line.path];
  const settled = draft !== undefined || (work?.checked.has(line.path) ?? false);
  const doubt = settled ? undefined : line.doubts[0];
  if (work?.editing?.path === line.path) return <div className="min-w-44 p-1"><Input line={line} work={work} text={work.editing.text} /></div>;
  const now = draft === undefined ? line.value : draft;
  return (
    <button
      type="button"
      data-field={line.path}
      aria-current={line.path === active || undefined}
      aria-label={`${line.label}: ${now ?? "nothing"}${doubt ? `. ${doubt.words}` : ""}`}
      title={doubt?.words}
      onClick={() => onActive(line.path)}
      onDoubleClick={() => work?.edit(line)}
      onKeyDown={onEnter(work)}
      onPointerEnter={() => onHover(line.path)}
      onPointerLeave={() => onHover(null)}
      className={cx(
        "block w-full rounded px-2 py-1 break-words", end ? "text-right whitespace-nowrap" : "text-left",
        line.path === active ? "bg-accent-soft ring-1 ring-accent" : line.path === lit && "bg-hover",
        draft !== undefined && "font-medium text-accent-ink",
      )}
    >
      {doubt?.weight === "bad" && <TriangleAlert size={11} aria-hidden className="mr-1 inline text-red" />}
      <span className={cx(doubt && "underline decoration-2 underline-offset-3", doubt?.weight === "bad" ? "decoration-red" : "decoration-amber decoration-dotted")}>{now === null ? "–" : shown(now)}</span>
    </button>
  );
}

function Value({ line, draft }: { line: FieldLine; draft: string | null | undefined }) {
  const now = draft === undefined ? line.value : draft;
  if (now === null) return <span className={cx("@max-md:col-span-full", "text-ink-3", draft === null && "text-accent-ink")}>{draft === null ? "Not on the document" : "–"}</span>;
  return <span className={cx("font-medium break-words @max-md:col-span-full whitespace-pre-line", draft !== undefined && "text-accent-ink")}>{shown(now.replace(/\r?\n/g, "\u2028")).replace(/\u2028/g, "\n")}</span>;
}

/** What does not hold. That a value is only uncertain, its number says. */
function DoubtLine({ doubt }: { doubt: Doubt }) {
  return (
    <span className="col-span-full flex items-start gap-1.5 text-xs text-red @md:col-start-2">
      <CircleAlert size={13} aria-hidden className="mt-0.5 shrink-0" /> <span className="min-w-0 break-words">{shown(doubt.words)}</span>
    </span>
  );
}

function Edit({ line, work, text }: { line: FieldLine; work: Work; text: string }) {
  return (
    <div className="grid items-center gap-x-3 gap-y-1 px-4 py-1.5 @md:grid-cols-[9rem_minmax(0,1fr)]">
      <span className="text-sm text-ink-3">{shown(line.label)}</span>
      <Input line={line} work={work} text={text} />
      <span className="flex flex-wrap @md:col-start-2 items-center gap-x-3 gap-y-1 text-xs text-ink-3">
        <span><kbd>Enter</kbd> keeps</span><span><kbd>Esc</kbd> leaves it</span><span className="max-lg:hidden">or click the words on the page</span>
      </span>
    </div>
  );
}

function Input({ line, work, text }: { line: FieldLine; work: Work; text: string }) {
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "Enter") work.keep();
    else if (event.key === "Escape") work.drop();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <input
      autoFocus
      value={text}
      aria-label={`${line.label}, new value`}
      placeholder="Not on the document"
      onChange={(event) => work.type(event.target.value)}
      onFocus={(event) => event.target.select()}
      onKeyDown={onKeyDown}
      className="h-8 w-full rounded-md border border-accent bg-surface px-2 text-sm placeholder:text-ink-3"
    />
  );
}

const Small = ({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) => (
  <button type="button" tabIndex={-1} aria-label={label} title={label} onClick={onClick} className="grid size-7 place-items-center rounded-md border border-line bg-surface text-ink-2 hover:border-line-strong hover:text-ink">{children}</button>
);
