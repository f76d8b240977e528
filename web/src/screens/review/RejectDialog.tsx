import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";

/** What people reject records for; anything else can be typed. */
const REASONS = ["Not this kind of document", "Unreadable", "More than one document in it", "Not meant for us"];

export function RejectDialog({ schema, busy, onReject, onClose }: { schema: string; busy: boolean; onReject: (reason: string) => void; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (reason.trim()) onReject(reason.trim());
  };
  return (
    <Dialog title="Reject the record" onClose={onClose} className="w-[min(28rem,calc(100vw-2rem))]">
      <form onSubmit={submit} className="flex flex-col gap-3 p-4">
        <p className="text-sm text-ink-2">The document stays; what was found as {schema} is not used. The reason is kept with your name.</p>
        <label className="flex flex-col gap-1 text-sm text-ink-2">
          Reason
          <input data-focus required value={reason} onChange={(event) => setReason(event.target.value)} className="h-8 rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink" />
        </label>
        <div role="group" aria-label="Usual reasons" className="flex flex-wrap gap-1.5">
          {REASONS.map((one) => (
            <button key={one} type="button" aria-pressed={one === reason} onClick={() => setReason(one)} className="h-7 rounded-full border border-line px-2.5 text-sm text-ink-2 hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-ink">{one}</button>
          ))}
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger" busy={busy} disabled={!reason.trim()}>Reject</Button>
        </div>
      </form>
    </Dialog>
  );
}
