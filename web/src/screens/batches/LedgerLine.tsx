import { Scale } from "lucide-react";
import type { Ledger } from "../../api/types";
import { cx } from "../../ui/cx";
import { count } from "../../ui/format";
import { ledgerLine } from "./figures";

/** "12,431 expected = 12,380 done + 31 failed + 20 skipped", and whether that is true. */
export function LedgerLine({ ledger }: { ledger: Ledger }) {
  const skipped = Object.values(ledger.skipped).reduce((sum, n) => sum + n, 0);
  const { expected, terms } = ledgerLine({ ...ledger, skipped });
  return (
    <p className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5">
      <Scale size={15} aria-hidden className={ledger.balanced ? "text-accent" : "text-red"} />
      <span><strong className="font-semibold">{count(expected)}</strong> expected</span>
      {terms.map(([value, name], i) => (
        <span key={name} className={cx(name === "failed" && "text-red")}>
          {i === 0 ? "= " : "+ "}<strong className="font-semibold">{count(value)}</strong> {name}
        </span>
      ))}
      <span className={ledger.balanced ? "text-ink-3" : "font-semibold text-red"}>
        · {ledger.balanced ? "balances" : "does not balance"}
      </span>
    </p>
  );
}
