/** Reviewing with two keys on a server that keeps records itself, from the file to the export. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeArchive } from "./archive";
import { close, launch, open, type Watched } from "./browser";
import { Docmill } from "./docmill";

let browser: Browser;
let server: Docmill;
let folder: string;
let served: boolean;

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
  folder = await mkdtemp(join(tmpdir(), "docmill-archive-"));
  const { papers } = await makeArchive(browser, folder);
  await server.cli("ingest", join(papers, "Invoices"));
  served = (await fetch(`${server.url}/v1/reviews`)).ok;
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Somebody with a key of their own. */
async function enter(who: string, path: string): Promise<Watched> {
  const { key } = JSON.parse(await server.cli("--json", "key", "create", "--name", who, "--role", "admin")) as { key: string };
  const watched = await open(browser, server.url, path);
  await watched.page.getByLabel("Key", { exact: true }).fill(key);
  await watched.page.getByRole("button", { name: "Open" }).click();
  return watched;
}

it("from the queue to the export, with two keys", async (test) => {
  if (!served) return test.skip("this binary has no reviews");
  // The first key closes the server, so that both have to give theirs.
  await server.cli("key", "create", "--name", "first", "--role", "admin");
  const ana = await enter("ana", "/reviews");
  const { page } = ana;
  await page.getByRole("main").getByRole("listitem").nth(1).waitFor();
  await page.getByRole("button", { name: "Start reviewing" }).click();
  await page.waitForURL(/\/reviews\/./);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.locator("[data-on]").first().waitFor();
  await expect.poll(async () => (JSON.parse(await server.cli("--json", "review", "show", id)) as { locked_by: string | null }).locked_by).toMatch(/^ana \(/);
  const ben = await enter("ben", `/reviews/${id}`);
  await ben.page.getByText(/ana \(.*\) has this open until/).waitFor();
  await close(ben);

  const edit = async (value: string) => {
    await page.locator('[data-field="invoice_date"]').click();
    await page.keyboard.press("e");
    await page.keyboard.type(value);
    await page.keyboard.press("Enter");
    await page.keyboard.press("a");
  };
  await edit("soon");
  await page.getByRole("alert").getByText(/soon.*is no date/).waitFor();
  await edit("5 November 2026");
  await page.getByText(/accepted with 1 correction/).waitFor();
  await expect.poll(() => page.url().includes(id)).toBe(false);
  await page.getByRole("button", { name: /^Reject/, disabled: false }).waitFor();
  await page.keyboard.press("r");
  await page.keyboard.type("not ours");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Nothing to review" }).waitFor();

  await page.goto(`${server.url}/reviews/${id}`);
  // The name of a key with the end of its id: names are not unique.
  await page.getByText(/Corrected by ana \(.*\)\./).waitFor();
  await page.getByRole("region", { name: "History" }).getByText("2026-11-05").waitFor();
  await page.goto(`${server.url}/reviews`);
  await page.getByRole("button", { name: "Export records" }).click();
  await page.getByRole("combobox", { name: "Schema" }).selectOption("invoice");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  // What was rejected is not among them.
  const lines = (await readFile(await (await saved).path(), "utf8")).trim().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("2026-11-05");
  await close(ana);
});
