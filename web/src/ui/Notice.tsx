/** Empty and error states: what, why, what now. */
import { CircleAlert, Check, Copy } from "lucide-react";
import { type ReactNode, useState } from "react";
import { asRefusal } from "../api/http";
import { Button } from "./Button";
import { Said } from "./Said";
import { copyText } from "./plain";
import { useSay } from "./Toasts";

export function Empty({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-3 px-6 py-16 text-center">
      <div className="grid size-11 place-items-center rounded-lg border border-line bg-surface text-ink-3" aria-hidden>{icon}</div>
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="flex flex-col items-center gap-3 text-ink-2">{children}</div>
    </div>
  );
}

/** A command with a button that copies it. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const say = useSay();
  const copy = () => {
    copyText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), 1500);
      },
      (error: unknown) => say.failed("Not copied", error),
    );
  };
  return (
    <span className="inline-flex max-w-full items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2.5 font-mono text-xs text-ink">
      <code className="text-left break-all">{text}</code>
      <button type="button" onClick={copy} aria-label={copied ? "Copied" : `Copy the command ${text}`} className="grid size-6 place-items-center rounded text-ink-3 hover:bg-hover hover:text-ink">
        {copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
      </button>
    </span>
  );
}

/** An answer that did not come. */
export function Failure({ error, what, onRetry }: { error: unknown; what: string; onRetry?: () => void }) {
  const refusal = asRefusal(error);
  // What is not there will not be there the next time either.
  const settled = refusal.status >= 400 && refusal.status < 500 && !refusal.retryable;
  return (
    <div role="alert" className="m-4 flex items-start gap-3 rounded-lg border border-red-line bg-red-soft p-4">
      <CircleAlert size={18} className="mt-0.5 shrink-0 text-red" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{what}</p>
        <p className="text-ink-2"><Said text={refusal.message} /></p>
        {refusal.hint && <p className="mt-1 text-ink-2"><Said text={refusal.hint} /></p>}
        {refusal.requestId && <p className="mt-1 font-mono text-xs text-ink-3">request {refusal.requestId}</p>}
      </div>
      {onRetry && !settled && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
