/** Every screen, in both themes and on a narrow one: nothing that a screen reader or a keyboard stumbles over. */
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeArchive } from "./archive";
import { close, launch, open } from "./browser";
import { Catalogue } from "./catalogue";
import { Desk } from "./desk";
import { Docmill } from "./docmill";

let browser: Browser;
let server: Docmill;
let axe: string;
let folder: string;
let batch: string;
let desk: Desk;
let catalogue: Catalogue;
const ids = new Map<string, string>();
const paper = (name: string) => `/documents/${ids.get(name)}`;

/** Where pictures of the screens go, if they are wanted (for the documentation). */
const pictures = process.env["DOCMILL_PICTURES"];

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
  axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "docmill-archive-"));
  const { papers, broken } = await makeArchive(browser, folder);
  await server.cli("ingest", papers, "--batch", "Workshop papers");
  await server.cli("ingest", broken, "--batch", "Old disk");
  await loseOne();
  desk = await Desk.of(server, [
    { file: join(papers, "Invoices/invoice-2026-0417.pdf"), schema: "invoice" },
    { file: join(papers, "Invoices/invoice-2026-0431.pdf"), schema: "invoice" },
    { file: join(papers, "Letters/devis-menuiserie.pdf"), schema: "invoice" },
    { file: join(papers, "Scans/receipt-timber-tools.jpg"), schema: "receipt" },
  ]);
  catalogue = await Catalogue.of(server.url);
  // Another reviewer has one of them.
  Object.assign(desk.one("0431"), { locked_by: "signe", locked_until: new Date(Date.now() + 480_000).toISOString() });
  const { documents } = (await (await fetch(`${server.url}/v1/documents?limit=200`)).json()) as { documents: { document_id: string; name: string }[] };
  for (const { document_id, name } of documents) ids.set(name.slice(name.lastIndexOf("/") + 1), document_id);
  const { batches } = (await (await fetch(`${server.url}/v1/batches`)).json()) as { batches: { batch_id: string; name: string }[] };
  batch = batches.find((one) => one.name === "Workshop papers")?.batch_id ?? "";
  if (pictures) await mkdir(pictures, { recursive: true });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await server?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** One file whose bytes vanish before they are read, for the dead letters. */
async function loseOne(): Promise<void> {
  const before = new Set(await server.blobs());
  await server.cli("pause", "--kind", "intake-document");
  const form = new FormData();
  form.append("file", new Blob(["Delivery note 88, two pallets of oak"]), "delivery-note-88.txt");
  await fetch(`${server.url}/v1/documents`, { method: "POST", body: form });
  const added = (await server.blobs()).filter((path) => !before.has(path));
  await Promise.all(added.map((path) => rm(path)));
  await server.cli("resume", "--kind", "intake-document");
  // Outside of a test nothing can be polled for.
  for (let dead = 0; dead === 0; ) {
    const status = (await (await fetch(`${server.url}/v1/status`)).json()) as { tasks: { dead: number } };
    dead = status.tasks.dead;
    if (dead === 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

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

const SCREENS: [name: string, path: () => string, ready: string | RegExp][] = [
  ["overview", () => "/", "Latest documents"],
  ["library", () => "/library", "Came in"],
  ["grid", () => "/library?view=grid", "Library"],
  ["document", () => `${paper("lease-harbour-lane.pdf")}?q=roof&page=2`, /hits? on this page/],
  ["scan", () => paper("receipt-timber-tools.jpg"), "Timeline"],
  ["fields", () => `${paper("invoice-2026-0417.pdf")}?tab=fields`, "Review it"],
  ["about", () => `${paper("annual-report-2025.pdf")}?tab=about`, "What the file says of itself"],
  ["mail", () => paper("six-more-lamps.eml"), "the reading lamps are a joy"],
  ["family", () => `${paper("six-more-lamps.eml")}?tab=family`, "shelf-plan.md"],
  ["timeline", () => `${paper("lease-harbour-lane.pdf")}?tab=timeline`, "How the pages were read"],
  ["search", () => "/search?q=roof", "hits in"],
  ["tags", () => "/tags", "All tags"],
  ["reviews", () => "/reviews", "signe has it"],
  ["review", () => `/reviews/${desk.one("0417").review_id}?field=total_amount`, "to look at"],
  ["missing", () => `/reviews/${desk.one("devis").review_id}`, "Not found, and needed"],
  ["receipt", () => `/reviews/${desk.one("receipt").review_id}`, "to look at"],
  ["taken", () => `/reviews/${desk.one("0431").review_id}`, "signe has this open"],
  ["problems", () => "/problems", "Retry"],
  ["batches", () => "/batches", "Workshop papers"],
  ["batch", () => `/batches/${batch}`, "Ledger"],
  ["workers", () => "/workers", "Queues"],
  ["dead", () => "/dead", "delivery-note-88.txt"],
  ["access", () => "/access", "Audit log"],
  ["settings", () => "/settings", "layers around every reader"],
  ["nowhere", () => "/nowhere", "There is no such page"],
];

describe.each(["light", "dark", "narrow"] as const)("%s", (look) => {
  it.each(SCREENS)("%s has no serious violation", async (name, path, ready) => {
    const viewport = look === "narrow" ? { width: 360, height: 780 } : { width: 1360, height: 860 };
    const watched = await open(browser, server.url, path(), { viewport, colorScheme: look === "dark" ? "dark" : "light" }, async (page) => { await desk.as("maren")(page); await catalogue.attach(page); });
    await watched.page.getByText(ready).first().waitFor({ state: "attached" });
    await watched.page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    await expect.poll(() => watched.page.getByRole("status", { name: "Loading" }).count(), { timeout: 20_000 }).toBe(0);
    // Images of pages come when they are drawn.
    await expect.poll(() => watched.page.getByRole("status", { name: "Loading the page" }).count(), { timeout: 60_000 }).toBe(0);
    expect(await violations(watched.page)).toEqual([]);
    // Nothing is cut off to the right.
    expect(await watched.page.evaluate(() => window.document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    if (pictures) {
      // The small image of the strip stands in for a page until the large one is there; nobody wants a picture of that.
      const sharp = () => watched.page.locator("[role=region][aria-label^='Page '] img").evaluateAll((all) => all.every((one) => (one as HTMLImageElement).naturalWidth > 400));
      await expect.poll(sharp, { timeout: 20_000 }).toBe(true);
      await watched.page.screenshot({ path: join(pictures, `${name}-${look}.png`) });
    }
    await close(watched);
  });
});
