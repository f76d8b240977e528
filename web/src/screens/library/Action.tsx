/** The one click that a state asks for: again, or to its review. */
import { ListChecks, RotateCw } from "lucide-react";
import type { DocumentLine } from "../../api/types";
import { Button, type ButtonProps } from "../../ui/Button";
import { stateWords } from "../../ui/states";

interface Props extends Pick<ButtonProps, "kind" | "className"> { line: DocumentLine; /** The words may be hidden where there is no room. */ wordsClass?: string; onRetry: () => void; onReview: () => void }

export function Action({ line, wordsClass, onRetry, onReview, ...look }: Props) {
  const { action } = stateWords(line.state);
  if (!action) return null;
  const review = line.state === "needs_review";
  const Icon = review ? ListChecks : RotateCw;
  return <Button {...look} aria-label={action} title={action} icon={<Icon size={13} aria-hidden />} onClick={review ? onReview : onRetry}><span className={wordsClass}>{action}</span></Button>;
}
