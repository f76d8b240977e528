import { type FormEvent, useState } from "react";
import { useCreateKey } from "../../api/actions";
import type { Role } from "../../api/types";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Command, Failure } from "../../ui/Notice";

const ROLES: [Role, string][] = [
  ["read", "sees everything of the tenant, changes nothing"],
  ["write", "brings documents in, retries, cancels, deletes"],
  ["admin", "also makes keys and reads the audit log"],
];

/** `first`: the server had no keys, so this browser must use the new one at once or be locked out. */
export function NewKeyDialog({ first, onClose }: { first: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>(first ? "admin" : "write");
  const create = useCreateKey();
  const adopted = create.variables?.adopt ?? false;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name: name.trim(), role, adopt: first });
  };
  if (create.data) {
    return (
      <Dialog title="The new key" onClose={onClose} footer={<Button kind="primary" onClick={onClose}>I have copied it</Button>}>
        <div className="flex flex-col gap-3 p-4">
          <p className="text-ink-2">It is shown once, now. The server keeps only a digest of it.</p>
          <Command text={create.data.key} />
          {adopted && <p className="text-sm text-ink-3">This tab uses it from now on.</p>}
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4 p-4">
        <label className="flex flex-col gap-1 text-sm">
          <span className="text-ink-2">What it is for</span>
          <input data-focus value={name} maxLength={100} onChange={(event) => setName(event.target.value)} placeholder="scanner in the hall" className="h-8 rounded-md border border-line-strong bg-surface px-2.5 placeholder:text-ink-3" />
        </label>
        <fieldset className="flex flex-col gap-1.5 text-sm">
          <legend className="mb-1 text-ink-2">Role</legend>
          {ROLES.map(([one, may]) => (
            <label key={one} className="flex items-baseline gap-2">
              <input type="radio" name="role" checked={role === one} onChange={() => setRole(one)} className="accent-[var(--accent)]" />
              <span><strong className="font-semibold">{one}</strong> <span className="text-ink-3">{may}</span></span>
            </label>
          ))}
        </fieldset>
        {create.error && <Failure error={create.error} what="No key was made" />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={create.isPending} disabled={!name.trim()}>Make the key</Button>
        </div>
      </form>
    </Dialog>
  );
}
