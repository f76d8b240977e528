/** Everything that happened to a document, every attempt of it, and how each page was read. */
import { FileText, FileX, ScanText } from "lucide-react";
import { useReading } from "../../api/queries";
import type { DocumentDetail, TimelineLine } from "../../api/types";
import { cx } from "../../ui/cx";
import { duration, exact, shown } from "../../ui/format";
import { Time } from "../../ui/Time";
import { pageChoices, pageRange, SOURCES } from "./choices";

const GOOD = new Set(["done", "completed", "received", "success", "reused"]);
const BAD = new Set(["dead", "failed", "error"]);

const WHAT: Record<string, string> = {
  received: "Came in", "intake-document": "Found out what it is", "unpack-document": "Took out its members",
  "extract-text": "Read the text", "extract-text-part": "Read the text of a part", "join-text": "Put the parts together",
  "transcribe-document": "Read the text", "classify-document": "Asked a model what it is", "extract-record": "Took its fields", completed: "Done", failed: "Failed", skipped: "Left out", cancelled: "Cancelled",
};

export function Timeline({ document, onPage }: { document: DocumentDetail; onPage: (page: number) => void }) {
  const lines = document.timeline;
  if (lines.length === 0) return <p className="p-4 text-ink-3">Nothing has happened yet.</p>;
  return (
    <>
      <ol className="flex flex-col p-4">
        {lines.map((line, i) => <Line key={i} line={line} last={i === lines.length - 1} />)}
      </ol>
      <Choices id={document.document_id} onPage={onPage} />
    </>
  );
}

function Line({ line, last }: { line: TimelineLine; last: boolean }) {
  const bad = BAD.has(line.outcome);
  const tone = bad ? "bg-red" : GOOD.has(line.outcome) ? "bg-accent" : "bg-amber";
  const outcome = line.outcome === line.what || line.outcome === "done" ? "" : line.outcome;
  const again = line.attempt > 1 || bad || line.outcome === "retry" ? `try ${Math.max(1, line.attempt)}` : "";
  return (
    <li className="relative flex gap-3 pb-4 last:pb-0">
      {!last && <span aria-hidden className="absolute top-4 bottom-0 left-[4.5px] w-px bg-line" />}
      <span aria-hidden className={cx("mt-1.5 size-2.5 shrink-0 rounded-full", tone)} />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{WHAT[line.what] ?? line.what}</span>
          <span className={cx("text-sm", bad ? "text-red" : "text-ink-2")}>{[outcome, again].filter(Boolean).join(" · ")}</span>
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
}

const ICONS = { native: FileText, ocr: ScanText, none: FileX };
const SHOWN = 100;

/** Which pages were taken from the file, which from the image, and the reason of the choice. */
function Choices({ id, onPage }: { id: string; onPage: (page: number) => void }) {
  const pages = useReading(id).data?.pages ?? [];
  const choices = pageChoices(pages);
  if (choices.length === 0 || choices.every((one) => !one.reason && one.source !== "ocr")) return null;
  return (
    <section aria-label="How the pages were read" className="border-t border-line p-4">
      <h3 className="mb-2 text-xs font-semibold text-ink-3">How the pages were read</h3>
      <ul className="flex flex-col gap-2 text-sm">
        {choices.slice(0, SHOWN).map((one) => {
          const Icon = ICONS[one.source];
          return (
            <li key={one.from} className="flex gap-2.5">
              <Icon size={15} aria-hidden className="mt-0.5 shrink-0 text-ink-3" />
              <div className="min-w-0 flex-1">
                <p><button type="button" className="font-medium hover:underline" onClick={() => onPage(one.from)}>{pageRange(one)}</button> {SOURCES[one.source]}</p>
                {one.reason && <p className="break-words text-ink-3">{shown(one.reason)}</p>}
              </div>
              {one.quality !== null && <span className="text-ink-2" title="How certain the text is, 100 % at best">{Math.round(one.quality * 100)} %</span>}
            </li>
          );
        })}
        {choices.length > SHOWN && <li className="text-ink-3">and more</li>}
      </ul>
    </section>
  );
}
