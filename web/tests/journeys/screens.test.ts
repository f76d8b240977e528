/** Every screen, in both themes and on a narrow one: nothing that a screen reader or a keyboard stumbles over. */
import { readFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { close, launch, open } from "./browser";
import { Docmill, fixture } from "./docmill";

let browser: Browser;
let server: Docmill;
let axe: string;
let document: string;
let batch: string;

/** Where pictures of the screens go, if they are wanted (for the documentation). */
const pictures = process.env["DOCMILL_PICTURES"];

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
  axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await server.cli("ingest", fixture(""), "--batch", "fixtures");
  const list = JSON.parse(await server.cli("--json", "search", "fox", "--limit", "5")) as { hits: { document_id: string; name: string }[] };
  document = list.hits[0]?.document_id ?? "";
  const status = JSON.parse(await server.cli("--json", "status")) as { batches: { batch_id: string }[] };
  batch = status.batches[0]?.batch_id ?? "";
  if (pictures) await mkdir(pictures, { recursive: true });
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.remove();
});

interface Violation { id: string; impact: string | null; nodes: { html: string; failureSummary: string }[] }

async function violations(page: Page): Promise<string[]> {
  // Through the debugger, which the content policy of the page does not concern.
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.failureSummary.split("\n")[1]?.trim()})`).join(" | ")}`);
}

const SCREENS: [name: string, path: () => string, ready: string][] = [
  ["overview", () => "/", "Latest documents"],
  ["library", () => "/library", "Came in"],
  ["grid", () => "/library?view=grid", "Library"],
  ["document", () => `/documents/${document}?q=fox`, "Timeline"],
  ["timeline", () => `/documents/${document}?tab=timeline`, "Timeline"],
  ["search", () => "/search?q=fox", "hits in"],
  ["problems", () => "/problems", "Retry"],
  ["batches", () => "/batches", "fixtures"],
  ["batch", () => `/batches/${batch}`, "Ledger"],
  ["workers", () => "/workers", "Queues"],
  ["dead", () => "/dead", "Dead letters"],
  ["access", () => "/access", "Audit log"],
  ["settings", () => "/settings", "layers around every reader"],
  ["nowhere", () => "/nowhere", "There is no such page"],
];

describe.each(["light", "dark", "narrow"] as const)("%s", (look) => {
  it.each(SCREENS)("%s has no serious violation", async (name, path, ready) => {
    const viewport = look === "narrow" ? { width: 390, height: 844 } : { width: 1360, height: 860 };
    const watched = await open(browser, server.url, path(), { viewport, colorScheme: look === "dark" ? "dark" : "light" });
    await watched.page.getByText(ready).first().waitFor({ state: "attached" });
    await watched.page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    await expect.poll(() => watched.page.getByRole("status", { name: "Loading" }).count(), { timeout: 20_000 }).toBe(0);
    expect(await violations(watched.page)).toEqual([]);
    // Nothing is cut off to the right.
    expect(await watched.page.evaluate(() => window.document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    if (pictures) await watched.page.screenshot({ path: join(pictures, `${name}-${look}.png`) });
    await close(watched);
  });
});
