/** Joins the event stream and the query cache: an event makes the answers it concerns old, at a pace a screen can follow. */
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { type Link, LiveFeed } from "./live";
import { Pace } from "./pace";
import type { ServerEvent } from "./types";

/** Under load there are hundreds of events a second; the screen is brought up to date at most so often. */
const PACE_MS = 500;
/** What the server has to add up over everything is asked for less often. */
const COSTLY_MS = 2000;
const COSTLY = new Set(["ledger", "problems", "facets", "work", "tags"]);

type Listener = (events: ServerEvent[]) => void;

interface Live {
  link: Link;
  /** Hears of events, some at a time. */
  listen: (listener: Listener) => () => void;
  retry: () => void;
}

const Context = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(Context);
  if (!live) throw new Error("useLive outside of LiveProvider");
  return live;
}

/** Calls `listener` with events for as long as the caller is shown, and with none when the connection is back. */
export function useEvents(listener: Listener): void {
  const { listen } = useLive();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => listen((events) => latest.current(events)), [listen]);
}

/** The answers that an event makes old, by the first word of their key, apart from single documents and batches. */
export function concerned(events: ServerEvent[]): Set<string> {
  const names = new Set<string>(["status"]);
  if (events.some((event) => event.document_id)) names.add("latest").add("facets").add("work");
  for (const event of events) {
    if (event.batch_id) names.add("batches").add("batch").add("ledger");
    if (event.type === "DOCUMENT_PROCESSED" || event.type === "ERROR") names.add("problems").add("dead").add("ledger").add("reviews").add("tags");
    if (event.type.startsWith("WORKER_")) names.add("workers");
  }
  return names;
}

export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [link, setLink] = useState<Link>("connecting");
  const listeners = useRef(new Set<Listener>());
  const feed = useRef<LiveFeed | null>(null);

  useEffect(() => {
    const makeOld = (names: string[]) => { for (const name of names) void client.invalidateQueries({ queryKey: [name] }); };
    const costly = new Pace<string>(COSTLY_MS, makeOld);
    const pace = new Pace<ServerEvent>(PACE_MS, (events) => {
      const names = [...concerned(events)];
      makeOld(names.filter((name) => !COSTLY.has(name)));
      costly.add(names.filter((name) => COSTLY.has(name)));
      for (const id of new Set(events.map((event) => event.document_id))) {
        if (!id) continue;
        for (const name of ["document", "why", "text", "words"]) void client.invalidateQueries({ queryKey: [name, id] });
      }
      for (const listener of listeners.current) listener(events);
    });
    const made = new LiveFeed(
      (events) => pace.add(events),
      (now, again) => {
        setLink(now);
        // What happened meanwhile arrives as events; what never was an event (a worker that died) does not.
        if (!again) return;
        void client.invalidateQueries({ predicate: (query) => query.queryKey[0] !== "documents" });
        for (const listener of listeners.current) listener([]);
      },
      () => {
        void client.invalidateQueries();
        for (const listener of listeners.current) listener([]);
      },
    );
    feed.current = made;
    made.start();
    return () => {
      made.stop();
      pace.stop();
      costly.stop();
    };
  }, [client]);

  const live = useMemo<Live>(
    () => ({
      link,
      listen: (listener) => {
        listeners.current.add(listener);
        return () => { listeners.current.delete(listener); };
      },
      retry: () => feed.current?.retry(),
    }),
    [link],
  );
  return <Context value={live}>{children}</Context>;
}
