/** What was decided about a record before: who, when, why, and what it changed. */
import type { Decision } from "../../api/types";
import { pathName } from "../../fields/names";
import { valueText } from "../../fields/lines";
import { shown } from "../../ui/format";
import { Time } from "../../ui/Time";
import { decisionWords } from "./words";

export function History({ history }: { history: Decision[] }) {
  if (history.length === 0) return null;
  return (
    <section aria-label="History" className="px-4 py-3">
      <h3 className="mb-2 text-xs font-semibold text-ink-3">History</h3>
      <ol className="flex flex-col gap-2.5 text-sm">
        {history.map((one, i) => (
          <li key={i} className="border-l-2 border-line pl-3">
            <p className="flex flex-wrap items-baseline gap-x-1.5">
              <span className="font-medium">{decisionWords(one.action)}</span> <span className="text-ink-2">by {shown(one.by)}</span>
              <Time at={one.at} className="ml-auto text-xs text-ink-3" />
            </p>
            {one.reason && <p className="break-words text-ink-2">“{shown(one.reason)}”</p>}
            {Object.entries(one.changes ?? {}).map(([path, { before, after }]) => (
              <p key={path} className="break-words text-ink-2">
                <span className="text-ink-3">{shown(pathName(path))}:</span> <del className="text-ink-3">{shown(valueText(before) ?? "nothing")}</del> → <ins className="font-medium text-ink no-underline">{shown(valueText(after) ?? "nothing")}</ins>
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}
