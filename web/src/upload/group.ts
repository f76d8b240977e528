/** Files that were dropped together are one batch: opened before the first is sent, sealed when the last has ended. */
import { authorization, change } from "../api/http";
import type { Batch } from "../api/types";
import type { Found } from "./drop";

/** A moment on the clock of whoever drops the files, which is how he will look for it: 2026-11-19 14:05:09. */
function localMoment(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** What a batch of these files is called: the folder they share, or how many they are. */
export function groupName(files: Found[]): string {
  const tops = new Set(files.map(({ path }) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "")));
  const [top] = tops;
  const day = localMoment(new Date());
  return tops.size === 1 && top ? `${top}, ${day}` : `${files.length} files, ${day}`;
}

/** While the server is away, a batch that is complete waits so long before it is sealed again. */
const AGAIN_AFTER_MS = 3000;

export class Group {
  private readonly name: string;
  private opening: Promise<string> | null = null;
  private id: string | null = null;
  private left: number;
  private complete = false;
  private sealed = false;

  constructor(files: Found[]) {
    this.left = files.length;
    this.name = groupName(files);
  }

  /** The id that files are sent with. A batch that could not be opened is opened by the next that asks: the server may be back. */
  batch(): Promise<string> {
    this.opening ??= change<Batch>("POST", "/v1/batches", { name: this.name }).then(
      (batch) => {
        this.id = batch.batch_id;
        // Whoever waited for it may have given up meanwhile.
        if (this.complete) void this.seal();
        return batch.batch_id;
      },
      (error: unknown) => {
        this.opening = null;
        throw error;
      },
    );
    return this.opening;
  }

  /** One of its files has come in, or never will. */
  ended(): void {
    this.left -= 1;
    if (this.left <= 0) void this.seal();
  }

  /** Nothing more comes. The request outlives the page, because it may be the last thing the page does. */
  async seal(): Promise<void> {
    this.complete = true;
    if (this.sealed || this.id === null) return;
    this.sealed = true;
    const headers = { "Content-Type": "application/json", ...authorization() };
    const answer = await fetch(`/v1/batches/${this.id}`, { method: "PATCH", keepalive: true, headers, body: JSON.stringify({ sealed: true }) }).catch(() => null);
    if (answer && answer.status < 500 && answer.status !== 429) return;
    // The server is away or busy: an open batch would say for ever that more is to come.
    this.sealed = false;
    setTimeout(() => void this.seal(), AGAIN_AFTER_MS);
  }
}
