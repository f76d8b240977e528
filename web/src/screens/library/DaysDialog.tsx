import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";

interface Props { since: string | null; until: string | null; onChoose: (since: string | null, until: string | null) => void; onClose: () => void }

/** From which day to which; either may be left open. */
export function DaysDialog({ since, until, onChoose, onClose }: Props) {
  const [from, setFrom] = useState(since ?? "");
  const [to, setTo] = useState(until ?? "");
  const submit = (event: FormEvent) => { event.preventDefault(); onChoose(from || null, to || null); };
  const field = "h-8 rounded-md border border-line-strong bg-surface px-2.5 text-sm";
  return (
    <Dialog title="Came in" onClose={onClose} className="w-[min(24rem,calc(100vw-2rem))]">
      <form onSubmit={submit} className="flex flex-col gap-4 p-4">
        <div className="grid grid-cols-2 gap-3">
          <label className="flex flex-col gap-1 text-sm text-ink-2">From<input data-focus type="date" value={from} max={to || undefined} onChange={(event) => setFrom(event.target.value)} className={field} /></label>
          <label className="flex flex-col gap-1 text-sm text-ink-2">To<input type="date" value={to} min={from || undefined} onChange={(event) => setTo(event.target.value)} className={field} /></label>
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!from && !to}>Show</Button>
        </div>
      </form>
    </Dialog>
  );
}
