/** The page beside its text: a word that is pointed at lights up on both, and words that were searched for are marked on both. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeArchive } from "./archive";
import { close, launch, open } from "./browser";
import { Docmill } from "./docmill";

let browser: Browser;
let server: Docmill;
let folder: string;

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
  folder = await mkdtemp(join(tmpdir(), "docmill-archive-"));
  const { papers } = await makeArchive(browser, folder);
  await server.cli("ingest", join(papers, "Contracts"), join(papers, "Invoices"));
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function find(words: string): Promise<string> {
  const found = JSON.parse(await server.cli("--json", "search", words, "--limit", "1")) as { hits: { document_id: string; page: number }[] };
  const [hit] = found.hits;
  if (!hit) throw new Error(`nothing has ${words} in it`);
  return `/documents/${hit.document_id}?page=${hit.page}`;
}

/** The word on the page that has this text in the text panel. */
const pair = (page: Page, text: string) => {
  const written = page.getByRole("tabpanel").locator(".text-word", { hasText: text }).first();
  return { written, drawn: async () => page.locator(`.page-word[data-word="${await written.getAttribute("data-word")}"]`) };
};

it("lights a word on the page and in the text, from either side", async () => {
  const watched = await open(browser, server.url, await find("Ortiz lamp"));
  const { page } = watched;
  const { written, drawn } = pair(page, "linen");
  await written.waitFor();
  await written.hover();
  const box = await drawn();
  await expect.poll(() => box.getAttribute("data-lit")).toBe("");
  expect(await page.locator("[data-lit]").count()).toBe(2);

  // The box lies on the page, about as wide as the word, and not just somewhere.
  const [paper, word] = [await page.locator(".paper img").first().boundingBox(), await box.boundingBox()];
  if (!paper || !word) throw new Error("the page is not drawn");
  expect(word.x).toBeGreaterThan(paper.x);
  expect(word.x + word.width).toBeLessThan(paper.x + paper.width);
  expect(word.width).toBeGreaterThan(word.height / 2);
  expect(word.width).toBeLessThan(paper.width / 4);

  await page.getByRole("heading", { level: 1 }).hover();
  await expect.poll(() => page.locator("[data-lit]").count()).toBe(0);
  await box.hover();
  await expect.poll(() => written.getAttribute("data-lit")).toBe("");
  await close(watched);
});

it("marks searched words on the page, goes through pages, zooms", async () => {
  const watched = await open(browser, server.url, `${await find("drains roof walls")}&q=roof`);
  const { page } = watched;
  await page.getByText("of 3").first().waitFor();
  await page.getByText(/hits? on this page/).waitFor();
  const hits = page.locator(".page-word[data-hit]");
  const marks = page.getByRole("tabpanel").locator('[data-page="2"] mark');
  await expect.poll(() => hits.count()).toBeGreaterThan(0);
  expect(await hits.count()).toBe(await marks.count());

  await page.getByRole("navigation", { name: "Pages" }).getByRole("button", { name: "Page 3" }).click();
  await page.waitForURL(/page=3/);
  await page.getByRole("region", { name: "Page 3" }).locator("img").waitFor();
  await page.keyboard.press("[");
  await page.waitForURL(/page=2/);
  const image = page.getByRole("region", { name: "Page 2", exact: true }).locator("img");
  await image.waitFor();
  const before = (await image.boundingBox())?.width ?? 0;
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.waitForURL(/zoom=125/);
  await expect.poll(async () => (await image.boundingBox())?.width ?? 0).toBeGreaterThan(before * 1.2);
  await close(watched);
});

it("first pages are the pictures of the grid", async () => {
  const watched = await open(browser, server.url, "/library?view=grid&type=application/pdf");
  await expect.poll(() => watched.page.getByRole("article").locator("img").count(), { timeout: 30_000 }).toBe(4);
  await close(watched);
});
