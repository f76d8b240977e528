/** A check box that knows whether Shift was held. */
export function Checkbox({ on, label, onChange }: { on: boolean; label: string; onChange: (range: boolean) => void }) {
  return (
    <input
      type="checkbox"
      checked={on}
      aria-label={label}
      onChange={() => undefined}
      onClick={(event) => onChange(event.shiftKey)}
      className="size-3.5 cursor-pointer accent-[var(--accent)]"
    />
  );
}
