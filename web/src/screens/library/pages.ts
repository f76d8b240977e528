/** How pages of the library are brought up to date one by one, without losing the place. Pure. */
import type { DocumentLine, DocumentList } from "../../api/types";

export interface Pages { pages: DocumentList[]; pageParams: (string | null)[] }

/** All lines in order, each document once: while a page is renewed, a document may stand at the end of one and the start of the next. */
export function lines(pages: DocumentList[]): DocumentLine[] {
  const seen = new Set<string>();
  return pages.flatMap((page) => page.documents.filter((line) => !seen.has(line.document_id) && seen.add(line.document_id)));
}

/** The pages that hold the lines from `first` to `last`, or where these would stand: an empty list is looked at too. */
export function pagesOf(pages: DocumentList[], first: number, last: number): number[] {
  const found: number[] = [];
  let from = 0;
  pages.forEach((page, index) => {
    const to = from + page.documents.length;
    if (from <= last && (to > first || to === from)) found.push(index);
    from = to;
  });
  return found;
}

/**
 * One page anew. If its end moved, what follows no longer joins on: the pages behind it are left out and come again when
 * they are scrolled to.
 */
export function renewed(all: Pages, index: number, page: DocumentList): Pages {
  const joins = all.pages[index]?.next_cursor === page.next_cursor;
  const upTo = joins ? all.pages.length : index + 1;
  return {
    pages: all.pages.slice(0, upTo).map((old, i) => (i === index ? page : old)),
    pageParams: all.pageParams.slice(0, upTo),
  };
}
