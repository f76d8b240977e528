/** What is known about a document. */
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useReading } from "../../api/queries";
import type { DocumentDetail, Evidence, IngestionLine } from "../../api/types";
import { bytes, capital, count, exact, momentText, shown, typeName } from "../../ui/format";
import { Said } from "../../ui/Said";
import { TagChip } from "../../ui/TagChip";
import { Time } from "../../ui/Time";
import { languageName } from "../library/filter";

export function Facts({ document }: { document: DocumentDetail }) {
  const own = Object.entries(useReading(document.document_id).data?.metadata ?? {});
  return (
    <div className="flex flex-col gap-6 p-4">
      {document.problems.length > 0 && (
        <Section title="What could not be read">
          <ul className="flex flex-col gap-2">
            {document.problems.map((problem, i) => (
              <li key={i} className="rounded-md border border-amber-line bg-amber-soft px-3 py-2 text-sm break-words">
                {problem.page ? <span className="font-medium">Page {problem.page}: </span> : null}<Said text={problem.message} />
                <span className="ml-1.5 font-mono text-xs text-ink-3">{problem.kind}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Document">
        <List>
          <Fact name="File name">{shown(document.name)}</Fact>
          {document.title && <Fact name="Title" how={document.evidence["title"]}>{shown(document.title)}</Fact>}
          {document.type && <Fact name="Type" how={document.evidence["type"]}>{capital(shown(document.type))}</Fact>}
          {document.date && <Fact name="Date" how={document.evidence["date"]}>{shown(document.date)}</Fact>}
          {document.summary && <Fact name="Summary" how={document.evidence["summary"]}>{shown(document.summary)}</Fact>}
          {document.tags.length > 0 && <Fact name="Tags" how={document.evidence["tags"]}><span className="flex flex-wrap gap-1">{document.tags.map((tag) => <TagChip key={tag} tag={tag} />)}</span></Fact>}
          {Object.entries(document.labels).map(([set, said]) => said.labels.length > 0 && (
            <Fact key={set} name={capital(shown(set))} how={said}>{said.labels.map(shown).join(", ")}</Fact>
          ))}
          <Fact name="Format"><span title={document.media_type ?? undefined}>{typeName(document.media_type)}</span></Fact>
          <Fact name="Size"><span title={`${count(document.bytes)} bytes`}>{bytes(document.bytes)}</span></Fact>
          {document.page_count !== null && <Fact name="Pages">{count(document.page_count)}</Fact>}
          {document.word_count !== null && <Fact name="Words">{count(document.word_count)}</Fact>}
          {document.language && <Fact name="Language">{languageName(document.language)}</Fact>}
          {document.quality !== null && <Fact name="Text quality">{Math.round(document.quality * 100)} %</Fact>}
          <Fact name="SHA-256"><span className="font-mono text-xs break-all">{document.content_hash}</span></Fact>
          <Fact name="Id"><span className="font-mono text-xs break-all">{document.document_id}</span></Fact>
        </List>
      </Section>
      {own.length > 0 && (
        <Section title="What the file says of itself">
          <List>{own.map(([name, value]) => <Fact key={name} name={capital(shown(name))}>{momentText(shown(String(value)))}</Fact>)}</List>
        </Section>
      )}
      <Section title={document.ingestions.length > 1 ? `Came in ${document.ingestions.length} times` : "Came in"}>
        <ul className="flex flex-col gap-2">{document.ingestions.slice(0, 50).map((one) => <Receipt key={one.ingestion_id} one={one} />)}</ul>
      </Section>
      {document.artifacts.length > 0 && (
        <Section title="Made from it">
          <List>{document.artifacts.map((one) => <Fact key={one.name + one.key} name={one.name}>{bytes(one.bytes)} · {one.media_type}</Fact>)}</List>
        </Section>
      )}
    </div>
  );
}

function Receipt({ one }: { one: IngestionLine }) {
  return (
    <li className="rounded-md border border-line px-3 py-2 text-sm">
      <div className="flex justify-between gap-2">
        <span className="truncate font-medium" title={shown(one.origin)}>{shown(one.origin || one.name)}</span>
        <Time at={one.created_at} className="whitespace-nowrap text-ink-3" />
      </div>
      <div className="text-ink-3" title={exact(one.created_at)}>
        {one.status.replace("_", " ")}{one.duplicate && " · duplicate: the same content was here before"}
        {one.skip_reason && ` · ${one.skip_reason}`}
        {one.batch_id && <> · <Link href={`/batches/${one.batch_id}`} className="underline">batch</Link></>}
      </div>
    </li>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title}>
    <h3 className="mb-2 text-xs font-semibold text-ink-3">{title}</h3>
    {children}
  </section>
);
const List = ({ children }: { children: ReactNode }) => <dl className="flex flex-col gap-1.5 text-sm">{children}</dl>;
/** A fact, and how it was found where it was not simply read. */
const Fact = ({ name, how, children }: { name: string; how?: Evidence | undefined; children: ReactNode }) => (
  <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] gap-3">
    <dt className="break-words text-ink-3">{name}</dt>
    <dd className="break-words" title={how && `By ${how.method}, ${Math.round(how.confidence * 100)} % sure`}>{children}</dd>
  </div>
);
