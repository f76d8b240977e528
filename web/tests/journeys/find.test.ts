/** Narrowing what was found, and tidying up tags. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeArchive } from "./archive";
import { close, launch, open } from "./browser";
import { Catalogue } from "./catalogue";
import { Docmill } from "./docmill";

let browser: Browser;
let server: Docmill;
let folder: string;
let catalogue: Catalogue;

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
  folder = await mkdtemp(join(tmpdir(), "docmill-archive-"));
  const { papers } = await makeArchive(browser, folder);
  await server.cli("ingest", join(papers, "Invoices"), join(papers, "Letters"), join(papers, "Contracts"), join(papers, "Mail"), join(papers, "workshop-meeting.md"));
  catalogue = await Catalogue.of(server.url);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

it("narrows a search by what the hits are, and widens it again", async () => {
  const watched = await open(browser, server.url, "/search?q=Lindqvist", {}, catalogue.attach);
  const { page } = watched;
  const hits = page.getByRole("main").locator("ol > li");
  const panel = page.getByRole("complementary", { name: "Narrow the search" });
  await panel.waitFor();
  await expect.poll(() => hits.count(), { timeout: 20_000 }).toBeGreaterThan(2);
  const all = await hits.count();
  const german = panel.getByRole("region", { name: "Language" }).getByRole("button", { name: /German/ });
  await german.click();
  await page.waitForURL(/lang=deu/);
  await expect.poll(() => hits.count()).toBe(1);
  await hits.getByText(/Kündigung/).first().waitFor();
  expect(await german.getAttribute("aria-pressed")).toBe("true");
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await expect.poll(() => hits.count()).toBe(all);
  await close(watched);
});

it("filters the library by what documents are", async () => {
  const watched = await open(browser, server.url, "/library");
  const { page } = watched;
  const rows = page.getByRole("row").filter({ has: page.getByRole("link") });
  await page.getByRole("button", { name: "Type", exact: true }).click();
  await page.getByRole("menuitem", { name: /^Invoice/ }).click();
  await page.waitForURL(/kind=invoice/);
  await page.getByRole("button", { name: "Type: Invoice" }).waitFor();
  const invoices = Object.keys((await (await fetch(`${server.url}/v1/search?q=${encodeURIComponent("-type:nothing")}&type=invoice&limit=100`)).json() as { hits: object[] }).hits).length;
  expect(invoices).toBeGreaterThan(0);
  await expect.poll(() => rows.count()).toBe(invoices);
  // Words narrow it further, whatever they are.
  await page.getByRole("textbox", { name: "Filter" }).fill("\"2026-0417");
  await expect.poll(() => rows.count()).toBeLessThan(invoices);
  await rows.first().waitFor();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect.poll(() => rows.count()).toBeGreaterThan(invoices);
  await close(watched);
});

it("makes one tag of two", async () => {
  const [pair] = catalogue.pairs;
  if (!pair) throw new Error("the documents have no tags");
  const watched = await open(browser, server.url, "/library", {}, catalogue.attach);
  const { page } = watched;
  await page.getByRole("button", { name: "Tag" }).click();
  await page.getByRole("menuitem", { name: "All tags…" }).click();
  await page.getByRole("heading", { name: "Tags", exact: true }).waitFor();
  await page.getByRole("button", { name: `Merge ${pair.from.tag} into ${pair.into.tag}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.getByText(`“${pair.from.tag}” is “${pair.into.tag}” now`).waitFor();
  await expect.poll(() => page.getByRole("button", { name: `Merge ${pair.from.tag} into ${pair.into.tag}` }).count()).toBe(0);
  await expect.poll(() => page.getByRole("link", { name: pair.from.tag, exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: pair.into.tag, exact: true }).click();
  await page.waitForURL(/library\?tag=/);
  await page.getByRole("button", { name: `Tag: ${pair.into.tag}` }).waitFor();
  await close(watched);
});

it("reads a mail with who wrote it and what came with it", async () => {
  const { documents } = (await (await fetch(`${server.url}/v1/documents?limit=200`)).json()) as { documents: { document_id: string; name: string }[] };
  const mail = documents.find((one) => one.name.endsWith("six-more-lamps.eml"));
  const watched = await open(browser, server.url, `/documents/${mail?.document_id}`);
  const article = watched.page.getByRole("article", { name: "Mail" });
  await article.getByText(/imogen@readingroom\.example/).waitFor();
  await article.locator("pre", { hasText: "the reading lamps are a joy" }).waitFor();
  const attachments = article.getByRole("region", { name: "Attachments" });
  await attachments.getByText("2 attachments").waitFor();
  await attachments.getByRole("link", { name: "shelf-plan.md" }).click();
  await watched.page.locator("pre", { hasText: "Two beside the atlas shelf" }).waitFor();
  await close(watched);
});

it("tells which documents say nearly the same", async () => {
  const clauses = Array.from({ length: 40 }, (_, i) => `Clause ${i} of the agreement says what both are to do on day ${i * 7}.`);
  const version = async (name: string, last: string) => {
    const form = new FormData();
    form.append("file", new Blob([[...clauses, last].join("\n")]), name);
    return (await (await fetch(`${server.url}/v1/documents?mode=sync`, { method: "POST", body: form })).json()) as { document_id: string };
  };
  await version("agreement-draft.txt", "Signed by nobody yet.");
  const { document_id } = await version("agreement-final.txt", "Signed in Whitby.");
  const near = async () => ((await (await fetch(`${server.url}/v1/documents/${document_id}/near`)).json()) as { items: object[] }).items.length;
  await expect.poll(near, { timeout: 20_000 }).toBe(1);
  const watched = await open(browser, server.url, `/documents/${document_id}?tab=family`);
  const alike = watched.page.getByRole("region", { name: "Nearly the same text" });
  await alike.getByText("agreement-draft.txt").waitFor();
  await alike.getByText(/9\d % alike/).waitFor();

  // Without a model of what texts mean the page says so, and how to get one.
  const more = watched.page.getByRole("region", { name: "More like this" });
  await more.getByText(/^Search by meaning is off/).waitFor();
  await more.getByText("docmill models pull").waitFor();

  // With one it names the nearest; the server's answer is made up on its way.
  await watched.page.route(/\/similar\?/, (route) => route.fulfill({ json: {
    query: "", mode: "semantic", took_ms: 1, note: null, total: 1, facets: {},
    hits: [{ document_id, name: "lease.txt", title: "Lease of a mill", score: 0.618, page: 1, snippet: "" }],
  } }));
  await watched.page.reload();
  await more.getByRole("link", { name: "Lease of a mill" }).waitFor();
  await more.getByText("61 % near").waitFor();
  await close(watched);
});
