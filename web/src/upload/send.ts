/** Sends one file. Only `XMLHttpRequest` tells how much has been sent. */
import { authorization, Refusal, refusal } from "../api/http";

export interface Stored { document_id: string; ingestion_id: string; status: string; duplicate: boolean }

export interface Sending { done: Promise<Stored>; stop: () => void }

export function send(file: File, path: string, key: string, batch: string | null, onProgress: (sent: number) => void): Sending {
  const request = new XMLHttpRequest();
  const done = new Promise<Stored>((resolve, reject) => {
    request.open("POST", "/v1/documents");
    for (const [name, value] of Object.entries({ ...authorization(), "Idempotency-Key": key })) {
      request.setRequestHeader(name, value);
    }
    request.upload.onprogress = (event) => onProgress(Math.min(event.loaded, file.size));
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) {
        const answer = JSON.parse(request.responseText) as Stored | { items: Stored[] };
        const stored = "items" in answer ? answer.items[0] : answer;
        // Sent again because the first answer got lost: that it is here already is no news.
        const replayed = request.getResponseHeader("Idempotency-Replayed") === "true";
        if (stored) resolve(replayed ? { ...stored, duplicate: false } : stored);
        else reject(new Refusal("the server stored nothing", request.status, "unknown", false, null, null));
      } else {
        reject(refusal(request.status, request.responseText, request.getResponseHeader("Retry-After")));
      }
    };
    request.onerror = () => reject(new Refusal("docmill does not answer", 0, "offline", true, null, null));
    request.onabort = () => reject(new Refusal("stopped", 0, "stopped", false, null, null));
    const form = new FormData();
    // Fields come before the file: the server reads the body once, from the front.
    if (batch) form.append("batch_id", batch);
    form.append("file", file, path);
    request.send(form);
  });
  return { done, stop: () => request.abort() };
}
