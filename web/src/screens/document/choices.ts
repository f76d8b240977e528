/** How the pages of a document were read, and why so: pages that have that in common are one line. Pure. */
import type { PageText } from "../../api/types";

export interface PageChoice { from: number; to: number; source: PageText["source"]; reason: string; /** The least of them. */ quality: number | null }

export function pageChoices(pages: PageText[]): PageChoice[] {
  const choices: PageChoice[] = [];
  for (const page of pages) {
    const last = choices.at(-1);
    if (last && last.to === page.number - 1 && last.source === page.source && last.reason === page.reason) {
      last.to = page.number;
      if (page.quality !== null) last.quality = Math.min(last.quality ?? 1, page.quality);
    } else {
      choices.push({ from: page.number, to: page.number, source: page.source, reason: page.reason, quality: page.quality });
    }
  }
  return choices;
}

export const SOURCES: Record<PageText["source"], string> = { native: "text of the file", ocr: "read from the image", none: "no text" };

/** "Page 3", "Pages 4–9". */
export const pageRange = ({ from, to }: PageChoice): string => (from === to ? `Page ${from}` : `Pages ${from}–${to}`);
