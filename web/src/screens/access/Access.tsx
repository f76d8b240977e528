/** Keys to this server, and what was done with them. */
import { KeyRound, Plus, ShieldCheck, ShieldX } from "lucide-react";
import { useState } from "react";
import { useRevokeKey } from "../../api/actions";
import { useAuditLog, useKeyList, useMe } from "../../api/queries";
import type { AuditLog, Key } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { counted, shown } from "../../ui/format";
import { Page, Panel, Pending } from "../../ui/Page";
import { Badge } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { useSay } from "../../ui/Toasts";
import { NewKeyDialog } from "./NewKeyDialog";
import { summary } from "./summary";

export function Access() {
  const me = useMe();
  const admin = me.data?.role === "admin";
  const keys = useKeyList(admin);
  const [after, setAfter] = useState(0);
  const log = useAuditLog(after, admin);
  const [making, setMaking] = useState(false);
  return (
    <Page title="Access" note={me.data && `${shown(me.data.tenant)} · ${me.data.role}`}
      actions={admin && <Button kind="primary" icon={<Plus size={14} aria-hidden />} onClick={() => setMaking(true)}>New key</Button>}>
      {!me.data ? <Pending of={me} what="Your access could not be looked up" lines={6} />
        : (
          <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4 md:p-6">
            {!me.data.key_needed && (
              <p className="rounded-lg border border-line bg-surface px-4 py-3 text-ink-2">
                This server answers on this machine only and has no keys, so whoever uses this machine may do everything. The first key closes it: from then on every request needs one.
              </p>
            )}
            {!admin ? (
              <p className="rounded-lg border border-line bg-surface px-4 py-3 text-ink-2">Keys and the audit log are shown to those with the role <strong className="font-semibold">admin</strong>. Yours is <strong className="font-semibold">{me.data.role}</strong>.</p>
            ) : (
              <>
                <Panel title="Keys" aside={keys.data ? counted(keys.data.keys.length, "key") : null}>
                  {!keys.data ? <Pending of={keys} what="The keys could not be had" lines={3} />
                    : keys.data.keys.length === 0 ? <p className="flex items-center gap-2 p-4 text-ink-3"><KeyRound size={15} aria-hidden /> There are no keys.</p>
                    : <ul className="divide-y divide-line">{keys.data.keys.map((one) => <KeyLine key={one.key_id} one={one} />)}</ul>}
                </Panel>
                <Panel title="Audit log" aside={log.data && <Intact log={log.data} />}>
                  {!log.data ? <Pending of={log} what="The audit log could not be had" lines={4} /> : <Log log={log.data} />}
                  {log.data?.more && <div className="border-t border-line p-2 text-center"><Button onClick={() => setAfter(log.data.next)}>Later entries</Button></div>}
                </Panel>
              </>
            )}
          </div>
        )}
      {making && <NewKeyDialog first={!me.data?.key_needed} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function KeyLine({ one }: { one: Key }) {
  const revoke = useRevokeKey();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2"><span className="truncate font-medium">{shown(one.name)}</span><Badge tone={one.role === "admin" ? "amber" : "neutral"}>{one.role}</Badge></div>
        <div className="text-sm text-ink-3"><span className="font-mono text-xs">{one.shown}…</span> made <Time at={one.created_at} /></div>
      </div>
      {one.revoked_at ? <span className="text-sm text-ink-3">revoked <Time at={one.revoked_at} /></span> : <Button kind="danger" onClick={() => setAsking(true)}>Revoke</Button>}
      {asking && (
        <Confirm title={`Revoke “${shown(one.name)}”?`} action="Revoke" danger busy={revoke.isPending} onClose={() => setAsking(false)}
          onConfirm={() => revoke.mutate(one.key_id, { onSuccess: () => say.done("Key revoked"), onError: (error) => say.failed("Not revoked", error), onSettled: () => setAsking(false) })}>
          <p>Whatever uses this key is refused from now on. This cannot be taken back.</p>
        </Confirm>
      )}
    </li>
  );
}

const Intact = ({ log }: { log: AuditLog }) => log.intact
  ? <span className="flex items-center gap-1.5"><ShieldCheck size={14} aria-hidden className="text-accent" /> chain intact</span>
  : <span className="flex items-center gap-1.5 font-semibold text-red"><ShieldX size={14} aria-hidden /> chain broken: entries were changed</span>;

function Log({ log }: { log: AuditLog }) {
  if (log.entries.length === 0) return <p className="p-4 text-ink-3">Nothing was changed yet.</p>;
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Audit log">
      <table className="w-full min-w-2xl text-sm">
        <thead className="text-xs text-ink-3"><tr><th className="px-4 py-2">When</th><th className="px-2 py-2">Who</th><th className="px-2 py-2">Did</th><th className="px-4 py-2">To what</th></tr></thead>
        <tbody className="divide-y divide-line">
          {[...log.entries].reverse().map((entry) => (
            <tr key={entry.seq}>
              <td className="px-4 py-1.5 whitespace-nowrap text-ink-3"><Time at={entry.at} /></td>
              <td className="px-2 py-1.5 whitespace-nowrap">{shown(entry.actor)}</td>
              <td className="px-2 py-1.5 font-mono text-xs whitespace-nowrap">{shown(entry.action)}</td>
              <td className="w-full max-w-0 truncate px-4 py-1.5 text-ink-2" title={summary(entry)}>{summary(entry)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
