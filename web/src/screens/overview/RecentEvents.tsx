/** The last events, as they come. */
import { useState } from "react";
import { Link } from "wouter";
import { useEvents } from "../../api/LiveProvider";
import { useRecentEvents } from "../../api/queries";
import type { ServerEvent } from "../../api/types";
import { cx } from "../../ui/cx";
import { shown } from "../../ui/format";
import { Skeletons } from "../../ui/Page";
import { Time } from "../../ui/Time";

const KEPT = 12;

const WORDS: Record<string, string> = {
  JOB_QUEUED: "Batch opened", JOB_STARTED: "Batch began", JOB_FINISHED: "Batch finished", DOCUMENT_ADDED: "Came in",
  DOCUMENT_PROCESSED: "Done", TASK_ADDED: "Task queued", TASK_FINISHED: "Task ended", WORKER_STARTED: "Worker started",
  WORKER_FINISHED: "Worker ended", ERROR: "Failed", WARNING: "Warning", NOTIFICATION: "Note", IMPORT_CANCELLED: "Batch cancelled",
};

export function RecentEvents({ last }: { last: number }) {
  // Where the page began; later ones come by the feed.
  const [start] = useState(last);
  const before = useRecentEvents(start, 60);
  const [since, setSince] = useState<ServerEvent[]>([]);
  useEvents((events) => setSince((all) => [...all, ...events].slice(-60)));
  if (before.isPending) return <Skeletons lines={4} />;
  const seen = new Map([...(before.data?.events ?? []), ...since].map((event) => [event.id, event]));
  const events = [...seen.values()].filter((event) => !event.type.startsWith("TASK_")).slice(-KEPT).reverse();
  if (events.length === 0) return <p className="p-4 text-ink-3">No events yet.</p>;
  return (
    <ol className="divide-y divide-line text-sm">
      {events.map((event) => <Line key={event.id} event={event} />)}
    </ol>
  );
}

function Line({ event }: { event: ServerEvent }) {
  const name = event.detail["name"];
  const about = typeof name === "string" ? shown(name) : event.document_id ?? event.batch_id ?? "";
  const bad = event.status === "ERROR";
  const href = event.document_id ? `/documents/${event.document_id}` : event.batch_id ? `/batches/${event.batch_id}` : null;
  return (
    <li className="grid grid-cols-[8rem_minmax(0,1fr)_auto] items-baseline gap-3 px-4 py-1.5">
      <span className={cx("font-medium", bad ? "text-red" : "text-ink-2")}>{bad && event.type !== "ERROR" ? `${WORDS[event.type] ?? event.type}, failed` : WORDS[event.type] ?? event.type}</span>
      <span className="truncate">{href ? <Link href={href} className="hover:underline">{about}</Link> : about}</span>
      <Time at={event.time} className="text-ink-3" />
    </li>
  );
}
