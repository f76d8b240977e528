/** Everything that happened to a document, every attempt of it. */
import type { TimelineLine } from "../../api/types";
import { cx } from "../../ui/cx";
import { duration, exact, shown } from "../../ui/format";
import { Time } from "../../ui/Time";

const GOOD = new Set(["done", "completed", "received", "success", "reused"]);
const BAD = new Set(["dead", "failed", "error"]);

const WHAT: Record<string, string> = {
  received: "Came in", "intake-document": "Found out what it is", "unpack-document": "Took out its members",
  "extract-text": "Read the text", "transcribe-document": "Read the text", completed: "Done", failed: "Failed",
  skipped: "Left out", cancelled: "Cancelled",
};

export function Timeline({ lines }: { lines: TimelineLine[] }) {
  if (lines.length === 0) return <p className="p-4 text-ink-3">Nothing has happened yet.</p>;
  return (
    <ol className="flex flex-col p-4">
      {lines.map((line, i) => {
        const tone = BAD.has(line.outcome) ? "bg-red" : GOOD.has(line.outcome) ? "bg-accent" : "bg-amber";
        return (
          <li key={i} className="relative flex gap-3 pb-4 last:pb-0">
            {i < lines.length - 1 && <span aria-hidden className="absolute top-4 bottom-0 left-[4.5px] w-px bg-line" />}
            <span aria-hidden className={cx("mt-1.5 size-2.5 shrink-0 rounded-full", tone)} />
            <div className="min-w-0 flex-1">
              <div className="flex flex-wrap items-baseline gap-x-2">
                <span className="font-medium">{WHAT[line.what] ?? line.what}</span>
                <span className={cx("text-sm", BAD.has(line.outcome) ? "text-red" : "text-ink-2")}>
                  {line.outcome === line.what || line.outcome === "done" ? "" : line.outcome}{line.attempt > 1 || BAD.has(line.outcome) || line.outcome === "retry" ? ` · try ${Math.max(1, line.attempt)}` : ""}
                </span>
                <span className="ml-auto text-xs whitespace-nowrap text-ink-3" title={exact(line.at)}>
                  {line.duration_ms !== null && <span className="mr-2 text-ink-2">{duration(line.duration_ms)}</span>}
                  <Time at={line.at} />
                </span>
              </div>
              {line.detail && <p className="text-sm break-words text-ink-2">{shown(line.detail)}</p>}
              {line.what.includes("-") && <p className="font-mono text-xs text-ink-3">{line.what}</p>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
