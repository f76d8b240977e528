import { cx } from "./cx";

export interface Part { value: number; className: string; label: string }

/** A bar of parts of a whole. What it says stands in words for those who do not see it. */
export function Bar({ parts, total, label, active, className }: { parts: Part[]; total: number; label: string; active?: boolean; className?: string }) {
  const words = parts.filter((part) => part.value > 0).map((part) => `${part.value} ${part.label}`).join(", ");
  return (
    <div role="img" aria-label={`${label}: ${words || "nothing yet"} of ${total}`} className={cx("flex h-1.5 w-full gap-px overflow-hidden rounded-full bg-line", className)}>
      {parts.map((part) => part.value > 0 && (
        <div
          key={part.label}
          title={`${part.value} ${part.label}`}
          className={cx("h-full min-w-[3px] transition-[width] duration-150", part.className, active && "stripes")}
          style={{ width: `${(part.value / Math.max(total, 1)) * 100}%` }}
        />
      ))}
    </div>
  );
}
