/** Server-sent events out of a stream of text. Pure, so that the cutting of messages can be tested. */

export interface Message { id: string | null; event: string; data: string }

/** Takes pieces of a stream as they come and gives the messages that are complete. */
export class MessageReader {
  private rest = "";
  private id: string | null = null;

  push(piece: string): Message[] {
    const messages: Message[] = [];
    this.rest = (this.rest + piece).replace(/\r\n/g, "\n");
    for (;;) {
      const end = this.rest.indexOf("\n\n");
      if (end < 0) return messages;
      const message = this.parse(this.rest.slice(0, end));
      this.rest = this.rest.slice(end + 2);
      if (message) messages.push(message);
    }
  }

  private parse(block: string): Message | null {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      // A line that begins with a colon is a comment: it only keeps the connection open.
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id") this.id = value;
    }
    return data.length > 0 ? { id: this.id, event, data: data.join("\n") } : null;
  }
}

/** How long to wait before the connection is tried again: soon at first, never longer than ten seconds. */
export function patience(failures: number): number {
  return Math.min(10_000, 250 * 2 ** Math.min(failures, 6));
}
