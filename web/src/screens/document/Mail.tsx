/** A mail as one reads it: who wrote to whom, the words, and what came with them. Each of these is a document of its own too. */
import { Link } from "wouter";
import { useDocument } from "../../api/queries";
import type { DocumentDetail, FamilyLine } from "../../api/types";
import { counted, momentText, shown } from "../../ui/format";
import { Pending } from "../../ui/Page";
import { Members } from "./Family";
import type { LitWord } from "./lit";
import { TextView } from "./TextView";

/** What readers of mail call its words. */
const BODY = /^message\.(txt|rtf)$/;
const HEAD: [string, string][] = [["from", "From"], ["to", "To"], ["cc", "Cc"], ["bcc", "Bcc"], ["date", "Date"]];

/** The member that holds the words of a mail; null of what is no mail. */
export const mailBody = (document: Pick<DocumentDetail, "metadata" | "children">): FamilyLine | null =>
  "from" in document.metadata || "subject" in document.metadata ? document.children.find((line) => BODY.test(line.name)) ?? null : null;

export function Mail({ document, body, query, lit }: { document: DocumentDetail; body: FamilyLine; query: string; lit: LitWord }) {
  const words = useDocument(body.document_id ?? "", body.document_id !== null);
  const others = document.children.filter((line) => line !== body);
  const head = HEAD.filter(([name]) => document.metadata[name]);
  return (
    <article aria-label="Mail" className="mx-auto max-w-3xl pt-5">
      <dl className="mx-5 flex flex-col gap-1 border-b border-line pb-4 text-sm md:mx-6">
        {head.map(([name, label]) => (
          <div key={name} className="grid grid-cols-[3rem_minmax(0,1fr)] gap-3">
            <dt className="text-ink-3">{label}</dt>
            <dd className="break-words">{momentText(shown(String(document.metadata[name])))}</dd>
          </div>
        ))}
      </dl>
      {words.data ? <TextView document={words.data} page={null} query={query} lit={lit} onPage={() => undefined} /> : <Pending of={words} what="The words of the mail could not be had" lines={6} />}
      <section aria-label="Attachments" className="mx-5 border-t border-line py-4 text-sm md:mx-6">
        {others.length > 0 && (
          <>
            <h3 className="mb-2 text-xs font-semibold text-ink-3">{counted(others.length, "attachment")}</h3>
            <Members lines={others} />
          </>
        )}
        {body.document_id && <Link href={`/documents/${body.document_id}?tab=about`} className="mt-3 inline-block text-ink-3 hover:text-ink hover:underline">The words as a document</Link>}
      </section>
    </article>
  );
}
