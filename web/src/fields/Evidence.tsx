/** Where a value comes from, in a line: the words themselves, the page, and how it was found. */
import { shown } from "../ui/format";
import type { FieldLine } from "./lines";
import { methodWords } from "./names";

export function Evidence({ line, draft }: { line: FieldLine; draft: string | null | undefined }) {
  if (draft !== undefined) return <>· found: {line.value === null ? "nothing" : `“${shown(line.value)}”`}</>;
  if (line.value === null) return null;
  const [first] = line.evidence;
  const parts = [
    first?.span && first.span !== line.value ? `“${shown(first.span)}”` : null,
    first?.page ? `page ${first.page}` : first?.source === "embedded" ? "data inside the file" : first?.source === "metadata" ? "what the file says of itself" : null,
    line.method ? methodWords(shown(line.method)) : null,
  ];
  return <>{parts.filter(Boolean).map((part, i) => <span key={i}>{i > 0 && " · "}{part}</span>)}</>;
}
