/**
 * One connection to the event stream, for as long as the page is open. It survives restarts of the server: it asks for
 * what came after the last event it saw, so nothing is missed, and tells listeners whether it is connected. If the log
 * is another one when the server is back (a restored backup, a new data directory), everything is asked for anew.
 */
import { asRefusal, authorization, get, refusal } from "./http";
import { type Message, MessageReader, patience } from "./sse";
import type { ServerEvent, Status } from "./types";

export type Link = "connecting" | "live" | "lost" | "locked";

/** The first message of a stream that was asked to go on behind an event that its log does not have. */
const RESET = "RESET";

/** Without even a comment for so long, the connection is taken for dead. */
const SILENCE_MS = 45_000;

export class LiveFeed {
  link: Link = "connecting";
  private last: string | null = null;
  private failures = 0;
  private stopped = false;
  private current: AbortController | null = null;
  private wake: (() => void) | null = null;

  constructor(
    private readonly onEvents: (events: ServerEvent[]) => void,
    private readonly onLink: (link: Link, again: boolean) => void,
    private readonly onReset: () => void,
  ) {}

  start(): void {
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    this.current?.abort();
    this.wake?.();
  }

  /** Tries again at once, for example when a key was given. */
  retry(): void {
    this.failures = 0;
    this.current?.abort();
    this.wake?.();
  }

  private say(link: Link): void {
    if (this.link === link) return;
    const again = this.link === "lost" && link === "live";
    this.link = link;
    this.onLink(link, again);
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.connect();
      } catch (error) {
        if (this.stopped) return;
        const status = asRefusal(error).status;
        // The place in the log is gone, or the log is another one: begin anew, and let the screens ask for everything.
        if (status === 400 || status === 404 || status === 410) this.last = null;
        this.say(status === 401 || status === 403 ? "locked" : "lost");
      }
      if (this.stopped) return;
      const pause = patience(this.failures++);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        this.wake = () => { clearTimeout(timer); resolve(); };
      });
    }
  }

  private async connect(): Promise<void> {
    const control = new AbortController();
    this.current = control;
    let silence = setTimeout(() => control.abort(), SILENCE_MS);
    try {
      // Without an event to go on from, only what happens from now on is wanted: the screens ask for the rest.
      this.last ??= String((await get<Status>("/v1/status", {}, control.signal)).last_event);
      const headers = { Accept: "text/event-stream", "Last-Event-ID": this.last, ...authorization() };
      const answer = await fetch("/v1/events/stream", { headers, cache: "no-store", signal: control.signal });
      if (!answer.ok || !answer.body) throw refusal(answer.status, await answer.text(), null);
      this.failures = 0;
      this.say("live");
      const reader = new MessageReader();
      const decoder = new TextDecoder();
      const body = answer.body.getReader();
      for (;;) {
        const { done, value } = await body.read();
        if (done) break;
        clearTimeout(silence);
        silence = setTimeout(() => control.abort(), SILENCE_MS);
        this.take(reader.push(decoder.decode(value, { stream: true })));
      }
      this.say("lost");
    } finally {
      clearTimeout(silence);
    }
  }

  private take(messages: Message[]): void {
    const events: ServerEvent[] = [];
    for (const message of messages) {
      if (message.id !== null) this.last = message.id;
      if (message.event === RESET) {
        this.onReset();
        continue;
      }
      events.push(JSON.parse(message.data) as ServerEvent);
    }
    if (events.length > 0) this.onEvents(events);
  }
}
