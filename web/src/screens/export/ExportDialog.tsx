/** Records of a schema as a file. */
import { type FormEvent, useState } from "react";
import { address } from "../../api/http";
import { useSchemas } from "../../api/reviews";
import { fieldName } from "../../fields/names";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { useSave } from "../../ui/download";
import { cx } from "../../ui/cx";

const FORMATS = [
  { id: "csv", name: "CSV", hint: "one line a record" },
  { id: "xlsx", name: "Excel", hint: "one sheet" },
  { id: "jsonl", name: "JSON lines", hint: "with rows and evidence" },
] as const;

const STATES = [["", "All but rejected ones"], ["passed", "Those that passed by themselves"], ["accepted", "Those that were accepted"], ["corrected", "Those that were corrected"], ["open", "Those that wait for review"], ["rejected", "Those that were rejected"]] as const;

export interface ExportChoice { schema: string; format: string; state: string; from: string; to: string }

/** Where the file is. */
export const exportAddress = ({ schema, format, state, from, to }: ExportChoice): string => address("/v1/export", { schema, format, state, from, to });

export function ExportDialog({ schema, onClose }: { schema: string | null; onClose: () => void }) {
  const schemas = useSchemas();
  const save = useSave();
  const [choice, setChoice] = useState<ExportChoice>({ schema: schema ?? "", format: "csv", state: "", from: "", to: "" });
  const [busy, setBusy] = useState(false);
  const chosen = choice.schema || schemas?.[0]?.name || "";
  const change = (part: Partial<ExportChoice>) => setChoice((now) => ({ ...now, ...part }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    void save(exportAddress({ ...choice, schema: chosen }), `${chosen}.${choice.format}`).finally(onClose);
  };
  const field = "h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink";
  return (
    <Dialog title="Export records" onClose={onClose} className="w-[min(30rem,calc(100vw-2rem))]">
      <form onSubmit={submit} className="flex flex-col gap-4 p-4">
        <label className="flex flex-col gap-1 text-sm text-ink-2">
          Schema
          <select data-focus value={chosen} onChange={(event) => change({ schema: event.target.value })} className={field}>
            {schemas?.map((one) => <option key={one.name} value={one.name}>{fieldName(one.name)}</option>)}
          </select>
        </label>
        <fieldset>
          <legend className="mb-1 text-sm text-ink-2">Format</legend>
          <div className="grid grid-cols-3 gap-2">
            {FORMATS.map(({ id, name, hint }) => (
              <label key={id} className={cx("cursor-pointer rounded-md border px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent", choice.format === id ? "border-accent bg-accent-soft" : "border-line-strong hover:bg-hover")}>
                <input type="radio" name="format" value={id} checked={choice.format === id} onChange={() => change({ format: id })} className="sr-only" />
                <span className="block text-sm font-medium">{name}</span>
                <span className="block text-xs text-ink-2">{hint}</span>
              </label>
            ))}
          </div>
        </fieldset>
        <label className="flex flex-col gap-1 text-sm text-ink-2">
          Which
          <select value={choice.state} onChange={(event) => change({ state: event.target.value })} className={field}>
            {STATES.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
          </select>
        </label>
        <div className="grid grid-cols-2 gap-3">
          <label className="flex flex-col gap-1 text-sm text-ink-2">Came in from<input type="date" value={choice.from} max={choice.to || undefined} onChange={(event) => change({ from: event.target.value })} className={field} /></label>
          <label className="flex flex-col gap-1 text-sm text-ink-2">to<input type="date" value={choice.to} min={choice.from || undefined} onChange={(event) => change({ to: event.target.value })} className={field} /></label>
        </div>
        <p className="text-xs text-ink-3">Cells that a spreadsheet would take for formulas are made harmless.</p>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={!chosen}>Export</Button>
        </div>
      </form>
    </Dialog>
  );
}
