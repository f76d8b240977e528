/** What every screen has: a heading, its actions, and room below that scrolls. */
import { type ReactNode, type UIEvent, useEffect, useLayoutEffect, useRef } from "react";
import { usePlace } from "../app/places";
import { cx } from "./cx";
import { Failure } from "./Notice";

interface Props { title: string; note?: ReactNode; actions?: ReactNode; children: ReactNode; fill?: boolean }

export function Page({ title, note, actions, children, fill }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const view = useRef<HTMLDivElement>(null);
  const [left, keep] = usePlace<number>("page");
  useLayoutEffect(() => { if (view.current && left) view.current.scrollTop = left; }, [left]);
  useEffect(() => {
    document.title = `${title} · docmill`;
  }, [title]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex min-h-13 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-2 md:px-6">
        <h1 ref={heading} tabIndex={-1} title={title} className="line-clamp-2 min-w-0 text-lg font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {note && <div className="text-sm text-ink-3">{note}</div>}
        {actions && <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      <div ref={view} className={cx("min-h-0 flex-1", fill ? "flex flex-col" : "overflow-y-auto")} {...(fill ? {} : { tabIndex: 0, role: "region", "aria-label": `${title}, content`, onScroll: (event: UIEvent<HTMLElement>) => keep(event.currentTarget.scrollTop) })}>
        {children}
      </div>
    </div>
  );
}

/** A titled box. */
export function Panel({ title, aside, children, className }: { title: string; aside?: ReactNode; children: ReactNode; className?: string }) {
  return (
    <section aria-label={title} className={cx("overflow-hidden rounded-lg border border-line bg-surface", className)}>
      <div className="flex min-h-10 items-center justify-between gap-2 border-b border-line px-4">
        <h2 className="text-sm font-semibold">{title}</h2>
        {aside && <div className="text-sm text-ink-3">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

interface Answer { error: unknown; refetch: () => unknown }

/**
 * In the place of an answer that is not there: lines while it is on its way, else why it did not come. One that was there
 * stays in view while the server is away, which the pulse says.
 */
export function Pending({ of, what, lines, className }: { of: Answer; what: string; lines: number; className?: string }) {
  if (of.error) return <Failure error={of.error} what={what} onRetry={() => void of.refetch()} />;
  return <Skeletons lines={lines} {...(className ? { className } : {})} />;
}

/** Lines where an answer is on its way. */
export function Skeletons({ lines, className }: { lines: number; className?: string }) {
  return (
    <div role="status" aria-label="Loading" className={cx("flex flex-col gap-3 p-4", className)}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className="skeleton h-4" style={{ width: `${92 - ((i * 37) % 45)}%` }} />
      ))}
    </div>
  );
}
