import type { ButtonHTMLAttributes, ReactNode } from "react";
import { cx } from "./cx";

/** `chosen` is a plain one that stands for a choice that was made. */
type Kind = "plain" | "chosen" | "primary" | "quiet" | "danger";

const KINDS: Record<Kind, string> = {
  plain: "border border-line-strong bg-surface text-ink hover:bg-hover",
  chosen: "border border-accent bg-accent-soft text-accent-ink hover:opacity-90",
  primary: "border border-transparent bg-accent text-on-accent hover:opacity-90",
  quiet: "border border-transparent text-ink-2 hover:bg-hover hover:text-ink",
  danger: "border border-red-line bg-surface text-red hover:bg-red-soft",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind;
  icon?: ReactNode;
  busy?: boolean;
  /** Only the icon is seen; `aria-label` says what it does. */
  square?: boolean;
}

export function Button({ kind = "plain", icon, busy, square, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      title={rest.title ?? (square ? rest["aria-label"] : undefined)}
      className={cx(
        "inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md text-sm font-medium whitespace-nowrap transition-colors duration-100 disabled:opacity-50",
        square ? "w-8" : "px-2.5",
        KINDS[kind],
        className,
      )}
    >
      {icon}
      {children}
    </button>
  );
}
