/** Files that were dropped together are one batch: opened before the first is sent, sealed when the last has ended. */
import { authorization, change } from "../api/http";
import type { Batch } from "../api/types";
import type { Found } from "./drop";

/** What a batch of these files is called: the folder they share, or how many they are. */
export function groupName(files: Found[]): string {
  const tops = new Set(files.map(({ path }) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "")));
  const [top] = tops;
  const day = new Date().toISOString().slice(0, 19).replace("T", " ");
  return tops.size === 1 && top ? `${top}, ${day}` : `${files.length} files, ${day}`;
}

export class Group {
  private readonly opened: Promise<string>;
  private id: string | null = null;
  private left: number;
  private sealed = false;

  constructor(files: Found[]) {
    this.left = files.length;
    this.opened = change<Batch>("POST", "/v1/batches", { name: groupName(files) }).then((batch) => (this.id = batch.batch_id));
  }

  /** The id that files are sent with. */
  batch(): Promise<string> {
    return this.opened;
  }

  /** One of its files has come in, or never will. */
  ended(): void {
    this.left -= 1;
    if (this.left <= 0) void this.seal();
  }

  /** Nothing more comes. The request outlives the page, because it may be the last thing the page does. */
  async seal(): Promise<void> {
    if (this.sealed || this.id === null) return;
    this.sealed = true;
    const headers = { "Content-Type": "application/json", ...authorization() };
    await fetch(`/v1/batches/${this.id}`, { method: "PATCH", keepalive: true, headers, body: JSON.stringify({ sealed: true }) }).catch(() => {
      // The server is away: the batch stays open for more, which the batch's page says.
      this.sealed = false;
    });
  }
}
