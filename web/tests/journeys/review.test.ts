/** Reviewing: the page beside the fields, corrections, keys alone, two reviewers at once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeArchive } from "./archive";
import { close, launch, open, type Watched } from "./browser";
import { Desk } from "./desk";
import { Docmill } from "./docmill";

let browser: Browser;
let server: Docmill;
let folder: string;
let papers: string;
let desk: Desk;

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
  folder = await mkdtemp(join(tmpdir(), "docmill-archive-"));
  papers = (await makeArchive(browser, folder)).papers;
  await server.cli("ingest", join(papers, "Invoices"), join(papers, "Letters"));
}, 180_000);
beforeEach(async () => {
  desk = await Desk.of(server, [
    { file: join(papers, "Invoices/invoice-2026-0417.pdf"), schema: "invoice" },
    { file: join(papers, "Invoices/invoice-2026-0431.pdf"), schema: "invoice" },
    { file: join(papers, "Letters/devis-menuiserie.pdf"), schema: "invoice" },
  ]);
});
afterAll(async () => {
  await browser?.close();
  await server?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const start = (path: string, who = "ana"): Promise<Watched> => open(browser, server.url, path, {}, desk.as(who));
const field = (page: Page, path: string) => page.locator(`[data-field="${path}"]`);
const box = (page: Page, path: string) => page.locator(`[data-box="${path}"]`);
const locked = (part: string) => desk.one(part).locked_by;

it("open, correct, next", async () => {
  const watched = await start("/reviews");
  const { page } = watched;
  await page.getByRole("navigation").getByRole("link", { name: /Review 3 to review/ }).waitFor();
  // The least certain first: what lacks fields that are needed.
  const first = page.getByRole("main").getByRole("listitem").first();
  await first.getByText("“Invoice number” was not found").waitFor();
  await page.getByRole("button", { name: "Start reviewing" }).click();
  await page.getByRole("heading", { name: /Devis/ }).waitFor();
  await expect.poll(() => locked("devis")).toBe("ana");
  await field(page, "invoice_number").getByText("Not found, and needed").waitFor();
  await expect.poll(() => field(page, "invoice_number").evaluate((one) => one === document.activeElement)).toBe(true);

  // A field lights its box, a box chooses its field.
  await field(page, "seller_name").click();
  await expect.poll(() => box(page, "seller_name").getAttribute("data-on")).toBe("true");
  await box(page, "buyer_name").first().click();
  await expect.poll(() => field(page, "buyer_name").getAttribute("aria-current")).toBe("true");
  await page.waitForURL(/field=buyer_name/);

  // A value is put together from words on the page.
  await field(page, "total_amount").click();
  const word = async (text: string) => {
    const words = (await (await fetch(`${server.url}/v1/documents/${desk.one("devis").document_id}/pages/1/words`)).json()) as { words: { text: string }[] };
    return page.locator(`.page-word[data-word="${words.words.findIndex((one) => one.text === text)}"]`);
  };
  await (await word("6")).click();
  const input = page.getByLabel("Total amount, new value");
  await expect.poll(() => input.inputValue()).toBe("6");
  await (await word("480")).click();
  await expect.poll(() => input.inputValue()).toBe("6 480");
  await input.press("Enter");
  await field(page, "total_amount").getByText("6 480").waitFor();
  await page.keyboard.press("k");

  // What was not saved yet survives a reload.
  await page.reload();
  await page.getByRole("button", { name: "Accept with 1 correction" }).waitFor();
  await field(page, "invoice_number").click();
  await page.keyboard.press("e");
  await page.getByLabel("Invoice number, new value").fill("D-2026-11");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Accept with 2 corrections" }).click();
  await page.getByText(/accepted with 2 corrections/).waitFor();
  await page.getByRole("heading", { name: /Invoice/ }).waitFor();
  expect(desk.one("devis").history).toMatchObject([
    { by: "ana", action: "corrected", changes: { total_amount: { before: null, after: "6 480" }, invoice_number: { before: null, after: "D-2026-11" } } },
  ]);
  await page.getByRole("navigation").getByRole("link", { name: /Review 2 to review/ }).waitFor();

  // What was decided can be looked at, with who and what.
  await page.goto(`${server.url}/reviews?state=done`);
  await page.getByRole("main").getByRole("listitem").getByRole("link").click();
  await page.getByText("Corrected by ana.").waitFor();
  await page.getByRole("region", { name: "History" }).getByText("D-2026-11").waitFor();
  expect(await page.getByRole("button", { name: /^Accept/ }).count()).toBe(0);
  await close(watched);
});

it("a correction counts without Enter, wherever the keyboard is", async () => {
  const total = (part: string) => Object.entries(desk.one(part).history[0]?.changes ?? {}).find(([path]) => path === "total_amount")?.[1].after;
  const watched = await start(`/reviews/${desk.one("0417").review_id}?field=total_amount`);
  const { page } = watched;
  await page.getByRole("button", { name: /^Accept/, disabled: false }).waitFor();
  await expect.poll(() => locked("0417")).toBe("ana");
  // Typed, and accepted with the mouse.
  await page.keyboard.press("e");
  await page.getByLabel("Total amount, new value").fill("722.50");
  await page.getByRole("button", { name: /^Accept/ }).click();
  await expect.poll(() => desk.one("0417").state).not.toBe("open");
  expect(total("0417")).toBe("722.50");

  // Two clicked words, and Enter while the page has the keyboard: kept, not decided.
  await page.goto(`${server.url}/reviews/${desk.one("devis").review_id}?field=total_amount`);
  await page.getByRole("button", { name: /^Accept/, disabled: false }).waitFor();
  await expect.poll(() => locked("devis")).toBe("ana");
  const { words } = (await (await fetch(`${server.url}/v1/documents/${desk.one("devis").document_id}/pages/1/words`)).json()) as { words: { text: string }[] };
  for (const text of ["6", "480"]) await page.locator(`.page-word[data-word="${words.findIndex((one) => one.text === text)}"]`).click();
  await expect.poll(() => page.getByLabel("Total amount, new value").inputValue()).toBe("6 480");
  expect(await page.getByLabel("Total amount, new value").evaluate((one) => one === document.activeElement)).toBe(false);
  await page.keyboard.press("Enter");
  await field(page, "total_amount").getByText("6 480").waitFor();
  await field(page, "total_amount").getByText("corrected").waitFor();
  expect(desk.one("devis").state).toBe("open");

  // Typed, and left for another field with the mouse.
  await field(page, "seller_name").dblclick();
  await page.getByLabel("Seller name, new value").fill("Menuiserie Roux");
  await field(page, "buyer_name").click();
  await field(page, "seller_name").getByText("Menuiserie Roux").waitFor();
  await page.getByRole("button", { name: "Accept with 2 corrections" }).click();
  await expect.poll(() => desk.one("devis").state).toBe("corrected");
  expect(total("devis")).toBe("6 480");
  await close(watched);
});

it("the next one is there before it is asked for", async () => {
  const watched = await start("/reviews");
  const { page } = watched;
  const next = desk.reviews[1];
  const id = next?.document_id ?? "";
  const came = (part: RegExp) => page.waitForResponse((answer) => answer.url().includes(id) && part.test(answer.url()));
  const early = Promise.all([came(/pages\/1\.png\?width=(?!160$)\d+$/), came(/pages\/1\/words/)]);
  await page.getByRole("button", { name: "Start reviewing" }).click();
  await page.getByRole("heading", { name: /Devis/ }).waitFor();
  for (const answer of await early) await answer.finished();
  // From now on the server says nothing about the next one, and it is shown all the same.
  await page.route(new RegExp(`/v1/(documents/${id}|reviews/${next?.review_id}$)`), () => undefined);
  const pictures: string[] = [];
  page.on("request", (request) => { if (request.url().includes(".png")) pictures.push(request.url()); });
  const took = await page.evaluate(() => new Promise<number>((done) => {
    const from = performance.now();
    const before = document.querySelector("h1")?.textContent;
    const look = () => {
      const image = document.querySelector<HTMLImageElement>(".paper img");
      const drawn = image?.complete && image.naturalWidth > 0 && document.querySelector("[data-on]");
      if (document.querySelector("h1")?.textContent !== before && drawn) done(performance.now() - from);
      else requestAnimationFrame(look);
    };
    dispatchEvent(new KeyboardEvent("keydown", { key: "n" }));
    look();
  }));
  console.log(`the next review was shown after ${Math.round(took)} ms`);
  await page.getByRole("heading", { name: /Invoice/ }).waitFor();
  expect(pictures).toEqual([]);
  await close(watched);
});

it("keyboard alone", async () => {
  const watched = await start("/");
  const { page } = watched;
  await page.getByText("Live", { exact: true }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("main").getByRole("listitem").nth(2).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Devis/ }).waitFor();
  const status = page.getByRole("status").filter({ hasText: /to look at|Nothing doubtful/ });
  await page.getByRole("button", { name: /^Accept/, disabled: false }).waitFor();
  await expect.poll(() => locked("devis")).toBe("ana");

  // Rejected with a reason.
  await page.keyboard.press("r");
  await page.getByLabel("Reason", { exact: true }).waitFor();
  await page.keyboard.type("an offer, not an invoice");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Invoice/ }).waitFor();
  expect(desk.one("devis").history).toMatchObject([{ action: "rejected", reason: "an offer, not an invoice" }]);

  // Edited, then each doubtful field found right, then accepted.
  const second = desk.reviews.find((one) => one.state === "open")?.name ?? "";
  await expect.poll(() => locked(second)).toBe("ana");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("e");
  await page.keyboard.press("Escape");
  await page.keyboard.press("e");
  await page.keyboard.type("2026-11-05");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Accept with 1 correction" }).waitFor();
  for (let i = 0; i < 30 && !(await status.textContent())?.includes("Nothing"); i++) await page.keyboard.press("Enter");
  expect(desk.one(second).state).toBe("open");
  await page.keyboard.press("Enter");
  await expect.poll(() => desk.one(second).state).toBe("corrected");
  expect(Object.values(desk.one(second).history[0]?.changes ?? {})).toMatchObject([{ after: "2026-11-05" }]);

  // The last one, skipped: there is no other, so the queue says so.
  await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).not.toBe(null);
  const last = desk.reviews.find((one) => one.state === "open")?.name ?? "";
  await expect.poll(() => locked(last)).toBe("ana");
  await page.keyboard.press("a");
  await expect.poll(() => desk.one(last).state).toBe("accepted");
  await page.getByRole("heading", { name: "Nothing to review" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("region", { name: "In a review" }).getByText("Reject with a reason").waitFor();
  await close(watched);
});

it("two reviewers never work on the same one", async () => {
  const ana = await start("/reviews", "ana");
  await ana.page.getByRole("button", { name: "Start reviewing" }).click();
  await ana.page.getByRole("heading", { name: /Devis/ }).waitFor();
  await expect.poll(() => locked("devis")).toBe("ana");

  const ben = await start(`/reviews/${desk.one("devis").review_id}`, "ben");
  await ben.page.getByText(/ana has this open until/).waitFor();
  expect(await ben.page.getByRole("button", { name: /^Accept/ }).isDisabled()).toBe(true);
  await ben.page.keyboard.press("a");
  expect(desk.one("devis").state).toBe("open");
  // The queue says so too, and begins with one that is free.
  await ben.page.getByRole("button", { name: "Back to the queue" }).click();
  await ben.page.getByText("ana has it").waitFor();
  await ben.page.getByRole("button", { name: "Start reviewing" }).click();
  await ben.page.getByRole("heading", { name: /Invoice/ }).waitFor();
  await expect.poll(() => desk.reviews.filter((one) => one.locked_by === "ben").length).toBe(1);

  // What is left is free again, and what is decided elsewhere cannot be decided here.
  await ana.page.getByRole("button", { name: "Back to the queue" }).click();
  await expect.poll(() => locked("devis")).toBe(null);
  const both = desk.reviews.find((one) => one.locked_by === "ben");
  if (both) both.state = "accepted";
  await ben.page.getByRole("button", { name: /^Accept/ }).click();
  await ben.page.getByText(/Not saved: .*accepted already/).waitFor();
  await ben.page.getByText("It can be looked at, and no longer decided.").waitFor();
  await close(ana);
  await close(ben);
});

it("a value that the server refuses is said, and nothing is lost", async () => {
  const watched = await start(`/reviews/${desk.one("0417").review_id}?field=invoice_date`);
  const { page } = watched;
  await page.getByRole("button", { name: /^Accept/, disabled: false }).waitFor();
  await expect.poll(() => locked("0417")).toBe("ana");
  await page.keyboard.press("e");
  await page.keyboard.type("soon");
  await page.keyboard.press("Enter");
  await page.keyboard.press("a");
  await page.getByRole("alert").getByText(/no date/).waitFor();
  await field(page, "invoice_date").getByText("soon").waitFor();
  expect(desk.one("0417").state).toBe("open");
  await close(watched);
});

it("a document that needs review leads to it from the library", async () => {
  const { document_id, review_id, title } = desk.one("0417");
  const watched = await start("/library");
  const { page } = watched;
  // The list comes from the server, the review from the desk.
  await page.route(/\/v1\/documents\?/, async (route) => {
    const answer = await route.fetch();
    const list = (await answer.json()) as { documents: { document_id: string; state: string }[] };
    await route.fulfill({ response: answer, json: { ...list, documents: list.documents.map((one) => (one.document_id === document_id ? { ...one, state: "needs_review" } : one)) } });
  });
  await page.reload();
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: title ?? "" }) });
  await row.getByText("Needs review").waitFor();
  await row.getByRole("button", { name: "Review" }).click();
  await page.waitForURL(new RegExp(review_id));
  await close(watched);
});

it("a document shows its fields, leads to its review, and records are exported", async () => {
  const { document_id, review_id } = desk.one("0417");
  const watched = await start(`/documents/${document_id}?tab=fields`);
  const { page } = watched;
  const total = field(page, "total_amount");
  await total.getByText("722.40").waitFor();
  await total.click();
  await expect.poll(() => box(page, "total_amount").getAttribute("data-on")).toBe("true");
  // The box lies around the amount, not just somewhere.
  const words = (await (await fetch(`${server.url}/v1/documents/${document_id}/pages/1/words`)).json()) as { words: { text: string }[] };
  const [amount, drawn] = [await page.locator(`.page-word[data-word="${words.words.findIndex((one) => one.text.includes("722.40"))}"]`).boundingBox(), await box(page, "total_amount").boundingBox()];
  if (!amount || !drawn) throw new Error("the page is not drawn");
  expect(Math.abs(amount.x + amount.width / 2 - drawn.x - drawn.width / 2)).toBeLessThan(8);
  expect(Math.abs(amount.y + amount.height / 2 - drawn.y - drawn.height / 2)).toBeLessThan(8);
  await page.getByRole("link", { name: "Review", exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Review it" }).click();
  await page.waitForURL(new RegExp(review_id));

  await page.goto(`${server.url}/reviews`);
  await page.getByRole("button", { name: "Export records" }).click();
  await page.getByRole("combobox", { name: "Schema" }).selectOption("invoice");
  await page.getByText("Excel").click();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  expect(new URL((await saved).url()).search).toBe("?schema=invoice&format=xlsx");
  await close(watched);
});
