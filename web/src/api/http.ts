/** The one place that talks to the server. An answer that is no success becomes a `Refusal`, with the server's own words. */
import type { ProblemJson } from "./types";

const KEY = "docmill.key";

/** Why a request did not succeed: what happened, whether trying again can help, and what to do. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** 0 if the server did not answer at all. */
    readonly status: number,
    readonly code: string,
    readonly retryable: boolean,
    readonly hint: string | null,
    readonly requestId: string | null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }

  /** The server could not be reached. */
  get offline(): boolean {
    return this.status === 0;
  }
}

/** Whatever was thrown, as a `Refusal`. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new Refusal(words, 0, "unknown", false, null, null);
}

export function accessKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function setAccessKey(key: string | null): void {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

export function authorization(): Record<string, string> {
  const key = accessKey();
  return key ? { Authorization: `Bearer ${key}` } : {};
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** A path with the parameters that have a value. */
export function address(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

/** The words of an answer that is no success. */
export function refusal(status: number, body: string, retryAfter: string | null): Refusal {
  const seconds = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  try {
    const problem = JSON.parse(body) as Partial<ProblemJson>;
    if (typeof problem.detail === "string") {
      return new Refusal(
        problem.detail, status, problem.code ?? "unknown", problem.retryable ?? false,
        problem.hint ?? null, problem.request_id ?? null, seconds,
      );
    }
  } catch {
    // Not JSON, for example the answer of a proxy: its status is all there is to say.
  }
  return new Refusal(`the server answered ${status}`, status, "unknown", status >= 500, null, null, seconds);
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers: { ...authorization(), ...init.headers } });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal(
      "docmill does not answer", 0, "offline", true,
      "look whether `docmill serve` still runs; this page goes on by itself when it is back", null,
    );
  }
  if (!answer.ok) throw refusal(answer.status, await answer.text(), answer.headers.get("Retry-After"));
  return answer;
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const answer = await send(address(path, query), signal ? { signal } : {});
  return (await answer.json()) as T;
}

/** The body as it is: text, an image, a file. */
export async function getRaw(path: string, signal?: AbortSignal): Promise<Response> {
  return send(path, signal ? { signal } : {});
}

/** Asks for a change. An answer without a body is `null`. */
export async function change<T>(method: "POST" | "PATCH" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T> {
  const answer = await send(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  const text = await answer.text();
  return (text ? JSON.parse(text) : null) as T;
}
