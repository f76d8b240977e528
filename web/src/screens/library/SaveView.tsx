import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { saveView } from "./views";

export function SaveView({ search, onClose }: { search: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saveView(name.trim(), search);
    onClose();
  };
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3 p-4">
        <label className="flex flex-col gap-1 text-sm">
          <span className="text-ink-2">Name</span>
          <input data-focus value={name} onChange={(event) => setName(event.target.value)} maxLength={60} className="h-8 rounded-md border border-line-strong bg-surface px-2.5" />
        </label>
        <p className="text-sm text-ink-3">Kept in this browser. The address of the page does the same for others.</p>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!name.trim()}>Save</Button>
        </div>
      </form>
    </Dialog>
  );
}
