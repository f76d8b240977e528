import { ListChecks, RotateCw, TriangleAlert } from "lucide-react";
import { Link } from "wouter";
import type { DocumentDetail, Why } from "../../api/types";
import { Bar } from "../../ui/Bar";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { Said } from "../../ui/Said";
import { stageShare, stateWords } from "../../ui/states";
import { useNow } from "../../ui/Time";
import { sentence } from "./sentence";

const TONES: Record<string, string> = {
  amber: "border-amber-line bg-amber-soft", red: "border-red-line bg-red-soft", blue: "border-blue-line bg-blue-soft",
};
const INK: Record<string, string> = { amber: "text-amber", red: "text-red", blue: "text-blue" };

export function Banner({ document, why, busy, onRetry }: { document: DocumentDetail; why: Why | undefined; busy: boolean; onRetry: () => void }) {
  const now = useNow();
  const words = sentence(document, why, now);
  if (!words) return null;
  // A document that is ready has a sentence only if something is missing.
  const Icon = document.state === "ready" ? TriangleAlert : stateWords(document.state).icon;
  return (
    <div role="status" className={cx("border-b px-4 py-2.5 md:px-6", TONES[words.tone] ?? "border-line bg-sunken")}>
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <Icon size={16} aria-hidden className={cx("mt-0.5 shrink-0", INK[words.tone] ?? "text-ink-2", document.state === "processing" && "pulse")} />
        <div className="min-w-0 flex-1 basis-60">
          <p className="font-medium">{words.what}</p>
          {words.detail && <p className="text-sm break-words text-ink-2"><Said text={words.detail} /></p>}
        </div>
        {document.review_id && (
          <Link href={`/reviews/${document.review_id}`} className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent px-2.5 text-sm font-medium text-on-accent hover:opacity-90"><ListChecks size={14} aria-hidden /> Review</Link>
        )}
        {words.action && !document.review_id && <Button busy={busy} icon={<RotateCw size={14} aria-hidden />} onClick={onRetry}>{words.action}</Button>}
      </div>
      {document.state === "processing" && (
        <Bar className="mt-2" active label="Way through the stages" total={100} parts={[{ value: Math.round(stageShare(document.status) * 100), className: "bg-accent", label: "percent" }]} />
      )}
    </div>
  );
}
