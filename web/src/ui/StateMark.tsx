import type { ReactNode } from "react";
import type { DocumentLine, DocumentState, Stage } from "../api/types";
import { cx } from "./cx";
import { resultWords, stageName, stateWords, type Tone } from "./states";

const TONES: Record<Tone, string> = {
  quiet: "border-transparent text-ink-3",
  neutral: "border-line bg-sunken text-ink-2",
  amber: "border-amber-line bg-amber-soft text-amber",
  red: "border-red-line bg-red-soft text-red",
  blue: "border-blue-line bg-blue-soft text-blue",
  accent: "border-transparent bg-accent-soft text-accent-ink",
};

export function Badge({ tone, icon, children, title }: { tone: Tone; icon?: ReactNode; children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className={cx("inline-flex h-5 max-w-full items-center gap-1 rounded-full border px-2 text-xs font-medium whitespace-nowrap", TONES[tone])}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}

/** A state in words, icon and colour. `ready` is quiet: no badge. */
export function StateMark({ state, stage }: { state: DocumentState; stage?: Stage | null | undefined }) {
  const words = stateWords(state);
  const Icon = words.icon;
  const label = state === "processing" && stage ? stageName(stage) : words.label;
  if (state === "ready") return <span className="sr-only">{label}</span>;
  return (
    <Badge tone={words.tone} icon={<Icon size={12} aria-hidden className={state === "processing" ? "pulse shrink-0" : "shrink-0"} />}>
      {label}
    </Badge>
  );
}

/** What a document that is ready lacks all the same, in a word or two. */
export const shortfall = (line: Pick<DocumentLine, "state" | "result">): string | null =>
  line.state === "ready" && line.result ? resultWords(line.result) : null;

export function Shortfall({ line }: { line: Pick<DocumentLine, "state" | "result"> }) {
  const words = shortfall(line);
  return words ? <Badge tone="neutral">{words}</Badge> : null;
}
