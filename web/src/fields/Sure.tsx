/** How certain a value is: in words, with a mark where it is not certain enough, and as a bar that can be compared at a glance. */
import { TriangleAlert } from "lucide-react";
import { cx } from "../ui/cx";
import { SURE } from "./lines";

export function Sure({ value, className }: { value: number; className?: string }) {
  const share = Math.round(value * 100);
  const weak = value < SURE;
  return (
    <span className={cx("inline-flex items-center gap-1.5 text-xs whitespace-nowrap", weak ? "font-medium text-amber" : "text-ink-3", className)} title={weak ? `Only ${share} % sure` : `${share} % sure`}>
      {weak && <TriangleAlert size={12} aria-hidden className="shrink-0" />}
      <span className="text-right">{share} % sure</span>
      <span aria-hidden className="h-1 w-6 overflow-hidden rounded-full bg-line"><span className={cx("block h-full", weak ? "bg-amber" : "bg-accent")} style={{ width: `${share}%` }} /></span>
    </span>
  );
}
