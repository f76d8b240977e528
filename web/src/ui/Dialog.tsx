/** The browser's own dialog: it keeps the focus inside, gives it back, and needs no styles from a script. */
import { X } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Button } from "./Button";
import { cx } from "./cx";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  className?: string;
  /** The title is for screen readers only. */
  bare?: boolean;
}

export function Dialog({ title, onClose, children, footer, className, bare }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed before it is taken out of the page, so that the focus goes back to where it was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // The browser would begin at the first control, which is the one that closes; what asks for the focus was not shown before.
    dialog?.querySelector<HTMLElement>("[data-focus]")?.focus();
    return () => dialog?.close();
  }, []);
  // The browser would close it some time after the key; a key struck meanwhile would still go to the dialog.
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return (
    <dialog
      ref={ref}
      aria-labelledby={heading}
      // Told some time later: React's development mode closes and opens it again before anybody sees it.
      onClose={() => { if (!ref.current?.open) onClose(); }}
      onKeyDown={onKeyDown}
      onClick={(event) => { if (event.target === ref.current) onClose(); }}
      className={cx("w-[min(34rem,calc(100vw-2rem))] rounded-lg border border-line-strong bg-surface p-0", className)}
    >
      <div className="flex max-h-[inherit] flex-col">
        {bare ? (
          <h2 id={heading} className="sr-only">{title}</h2>
        ) : (
          <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
            <h2 id={heading} className="font-semibold">{title}</h2>
            <Button kind="quiet" square aria-label="Close" icon={<X size={16} aria-hidden />} onClick={onClose} />
          </div>
        )}
        {children}
        {footer && <div className="flex justify-end gap-2 border-t border-line px-4 py-3">{footer}</div>}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be taken back, or that concerns many. */
export function Confirm({ title, children, action, danger, busy, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button kind={danger ? "danger" : "primary"} busy={busy ?? false} onClick={onConfirm} data-focus>{action}</Button>
        </>
      }
    >
      <div className="px-4 py-4 text-ink-2">{children}</div>
    </Dialog>
  );
}
