/** The files on their way in: some at a time, again where that can help, and remembered over a reload. */
import { asRefusal, get } from "../api/http";
import type { DocumentDetail, ServerEvent } from "../api/types";
import { randomId } from "../ui/plain";
import type { Found } from "./drop";
import { Group } from "./group";
import { afterReload, fresh, settled, type Upload } from "./item";
import { send, type Sending } from "./send";

const AT_ONCE = 4;
const REMEMBERED = 500;
const KEY = "docmill.uploads";
const AGAIN_AFTER_MS = 3000;

export class UploadQueue {
  private items: Upload[] = load();
  private readonly bytes = new Map<string, { found: Found; group: Group | null }>();
  private readonly sending = new Map<string, Pick<Sending, "stop">>();
  private readonly listeners = new Set<() => void>();
  /** What ended before the answer to its upload was here: small files are read faster than they are acknowledged. */
  private readonly early = new Map<string, ServerEvent>();
  private asking = false;
  private told = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  };
  readonly snapshot = (): Upload[] => this.items;

  constructor() {
    window.addEventListener("pagehide", () => {
      for (const group of new Set([...this.bytes.values()].map((kept) => kept.group))) void group?.seal();
    });
  }

  add(files: Found[]): void {
    const group = files.length > 1 ? new Group(files) : null;
    const added = files.map((found) => {
      const item = fresh(randomId(), found.path, found.file.size);
      this.bytes.set(item.id, { found, group });
      return item;
    });
    this.items = [...this.items, ...added];
    this.tell();
    this.next();
  }

  /** Sends again what failed on the way. */
  retry(id: string): void {
    const kept = this.bytes.get(id);
    if (!kept) return;
    // Its batch may have been sealed since.
    this.bytes.set(id, { ...kept, group: null });
    this.change(id, { state: "waiting", note: null, sent: 0 });
    this.next();
  }

  clear(): void {
    for (const one of this.sending.values()) one.stop();
    for (const group of new Set([...this.bytes.values()].map((kept) => kept.group))) void group?.seal();
    this.bytes.clear();
    this.items = [];
    this.tell();
  }

  canRetry(id: string): boolean {
    return this.bytes.has(id);
  }

  /** What became of documents that were sent from here. No events at all: the connection is new, and some may have been missed. */
  hear(events: ServerEvent[]): void {
    if (events.length === 0) return void this.askAfter();
    const ended = events.filter((event) => event.type === "DOCUMENT_PROCESSED" || event.type === "ERROR");
    for (const event of ended) {
      const item = this.items.find((one) => one.state === "reading" && one.ingestionId === event.ingestion_id);
      if (item) this.change(item.id, outcome(event));
      else if (event.ingestion_id && this.sending.size > 0) this.early.set(event.ingestion_id, event);
    }
  }

  /** Asks what became of documents whose end nobody heard: it came while the page was being loaded, or the server was away. */
  async askAfter(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      for (const item of this.items) if (item.state === "reading" && item.documentId) await this.ask(item.id, item.documentId);
    } catch {
      // The server is away again: it is asked when it is back.
    } finally {
      this.asking = false;
    }
  }

  private async ask(id: string, document: string): Promise<void> {
    const found = await get<DocumentDetail>(`/v1/documents/${encodeURIComponent(document)}`).catch((error: unknown) => {
      if (asRefusal(error).status === 404) return null;
      throw error;
    });
    const item = this.items.find((one) => one.id === id);
    // An event may have been faster.
    if (item?.state !== "reading") return;
    const now = found?.ingestions.find((one) => one.ingestion_id === item.ingestionId);
    if (!found) this.change(id, { state: "done", note: "deleted since", documentId: null });
    else if (now?.status === "failed" || now?.status === "cancelled") this.change(id, { state: "failed", note: now.error?.message ?? now.status });
    else if (now && now.status !== "in_progress") this.change(id, settled(now.result));
  }

  private next(): void {
    for (const item of this.items) {
      if (this.sending.size >= AT_ONCE) return;
      if (item.state === "waiting" && item.note === null && !this.sending.has(item.id)) this.begin(item);
    }
  }

  private begin(item: Upload): void {
    const kept = this.bytes.get(item.id);
    if (!kept) return;
    this.change(item.id, { state: "sending", note: null });
    let stopped = false;
    this.sending.set(item.id, { stop: () => { stopped = true; } });
    const begun = async () => {
      const batch = kept.group ? await kept.group.batch() : null;
      if (stopped) return;
      const sending = send(kept.found.file, kept.found.path, item.id, batch, (sent) => this.change(item.id, { sent }));
      this.sending.set(item.id, sending);
      const stored = await sending.done;
      this.bytes.delete(item.id);
      this.change(item.id, {
        state: "reading", sent: item.bytes, duplicate: stored.duplicate, documentId: stored.document_id, ingestionId: stored.ingestion_id,
      });
      const event = this.early.get(stored.ingestion_id);
      if (event) this.change(item.id, outcome(event));
      kept.group?.ended();
    };
    begun()
      .catch((error: unknown) => this.failed(item.id, error))
      .finally(() => {
        this.sending.delete(item.id);
        if (this.sending.size === 0) this.early.clear();
        this.next();
      });
  }

  private failed(id: string, error: unknown): void {
    const refusal = asRefusal(error);
    if (refusal.retryable) {
      const pause = refusal.retryAfterSeconds === null ? AGAIN_AFTER_MS : refusal.retryAfterSeconds * 1000;
      this.change(id, { state: "waiting", sent: 0, note: `${refusal.message}; tried again in ${Math.ceil(pause / 1000)} s` });
      setTimeout(() => {
        if (!this.bytes.has(id)) return;
        this.change(id, { note: null });
        this.next();
      }, pause);
    } else {
      this.bytes.get(id)?.group?.ended();
      this.change(id, { state: "failed", note: refusal.hint ? `${refusal.message}; ${refusal.hint}` : refusal.message });
    }
  }

  private change(id: string, changes: Partial<Upload>): void {
    this.items = this.items.map((item) => (item.id === id ? { ...item, ...changes } : item));
    this.tell();
  }

  /** Progress comes often; listeners hear of it once a frame. */
  private tell(): void {
    if (this.told) return;
    this.told = true;
    setTimeout(() => {
      this.told = false;
      save(this.items);
      for (const listener of this.listeners) listener();
    }, 50);
  }
}

const outcome = (event: ServerEvent): Partial<Upload> =>
  event.status === "SUCCESS" ? settled((event.detail as { result?: unknown } | null)?.result) : { state: "failed", note: reason(event) };

/** The words of an event about a failure. */
function reason(event: ServerEvent): string {
  const detail = event.detail as { error?: { message?: unknown }; message?: unknown } | null;
  const words = detail?.error?.message ?? detail?.message;
  return typeof words === "string" ? words : "could not be read; open it to see why";
}

function load(): Upload[] {
  try {
    return afterReload(JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as Upload[]);
  } catch {
    // Written by an older version of this page: what it says is not worth a broken tray.
    return [];
  }
}

function save(items: Upload[]): void {
  if (items.length === 0) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, JSON.stringify(items.slice(-REMEMBERED)));
}
