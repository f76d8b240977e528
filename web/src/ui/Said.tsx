/** Words of the server: what it puts between backticks is shown as what one types or reads in a terminal. */
import { Fragment } from "react";
import { shown } from "./format";

export function Said({ text }: { text: string }) {
  const parts = shown(text).split("`");
  // One without its partner is only a character.
  if (parts.length % 2 === 0) return <>{parts.join("`")}</>;
  return <>{parts.map((part, i) => (i % 2 === 1 ? <code key={i} className="rounded border border-line bg-sunken px-1 box-decoration-clone font-mono text-xs wrap-anywhere text-ink-2">{part}</code> : <Fragment key={i}>{part}</Fragment>))}</>;
}
