/** A sheet as a table. Its cells are text, whatever they look like. */
import { Fragment, memo, useMemo } from "react";
import { cx } from "../../ui/cx";
import { blocks, markWords } from "../../ui/highlight";
import { Marked } from "../../ui/Marked";
import { isNumber, stretches } from "./sheet";

export const SheetBody = memo(function SheetBody({ text, wanted }: { text: string; wanted: string[] }) {
  const parts = useMemo(() => stretches(text), [text]);
  return parts.map((part, at) =>
    part.kind === "text" ? (
      <Fragment key={at}>
        {blocks(part.text).map((block, i) => (
          <pre key={i} className="py-1 font-sans text-base leading-relaxed break-words whitespace-pre-wrap [contain-intrinsic-size:auto_40rem] [content-visibility:auto]"><Marked pieces={markWords(block, wanted)} /></pre>
        ))}
      </Fragment>
    ) : (
      <div key={at} className="overflow-x-auto" tabIndex={0} role="group" aria-label="Rows">
        <table className="border-collapse text-sm">
          <tbody>
            {part.rows.map((row, i) => (
              <tr key={i}>
                {row.map((cell, column) => (
                  <td key={column} className={cx("max-w-80 border border-line px-2 py-1 align-top break-words whitespace-pre-wrap", isNumber(cell) && "text-right")}><Marked pieces={markWords(cell, wanted)} /></td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    ));
});
