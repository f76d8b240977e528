/** What users do, from the beginning to the end, in a browser against the real binary. */
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { close, launch, open, type Watched } from "./browser";
import { Docmill, fixture } from "./docmill";

let browser: Browser;
let server: Docmill;
let watched: Watched;
let page: Page;

beforeAll(async () => { browser = await launch(); });
afterAll(() => browser?.close());
beforeEach(async () => {
  server = await Docmill.start();
  watched = await open(browser, server.url, "/");
  page = watched.page;
});
afterEach(async () => {
  try {
    await close(watched);
  } finally {
    await server.remove();
  }
});

/** Hands files to the upload field, as the chooser would. */
const upload = (files: Parameters<Page["setInputFiles"]>[1]) => page.getByTestId("files").setInputFiles(files);
const tray = () => page.getByRole("region", { name: "Uploads" });
const text = (name: string, content: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });

it("upload, live progress, open, search", async () => {
  await page.getByRole("heading", { name: "Nothing has come in yet" }).waitFor();
  await upload([fixture("pdf/three-pages.pdf"), fixture("markdown/notes.md")]);
  await tray().getByText("2 files in").waitFor();

  // The overview and the library know without a reload.
  await page.getByRole("link", { name: "Library" }).first().click();
  const row = page.getByRole("row").filter({ hasText: "three-pages.pdf" });
  await row.waitFor();
  await row.getByRole("link").click();
  const pages = page.getByRole("tabpanel", { name: "Text" }).locator("[data-page]");
  await expect.poll(() => pages.count(), { timeout: 20_000 }).toBe(3);
  const words = ((await pages.nth(2).locator("pre").first().textContent()) ?? "").match(/\p{L}{5,}/gu) ?? [];
  const word = words.at(-1);
  expect(word).toBeDefined();

  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("searchbox").fill(word ?? "");
  const hit = page.getByRole("main").getByRole("listitem").filter({ hasText: "three-pages.pdf" });
  await hit.getByRole("link").click();
  await page.waitForURL(/\/documents\/.*q=/);
  await page.locator("mark").first().waitFor();
});

it("failure, why, retry", async () => {
  // The bytes vanish before they are read, as on a broken disk.
  await server.cli("pause", "--kind", "intake-document");
  await upload(text("letter.txt", "Dear reader"));
  await tray().getByText("Reading 1 file").waitFor();
  const [blob] = await server.blobs();
  expect(blob).toBeDefined();
  await rename(blob ?? "", join(server.data, "taken"));
  await server.cli("resume", "--kind", "intake-document");
  await tray().getByText("1 failed").waitFor();

  await page.keyboard.press("g");
  await page.keyboard.press("p");
  const group = page.getByRole("region", { name: "Bytes missing" });
  await group.getByRole("link", { name: "letter.txt" }).click();
  await page.getByText("Failed: bytes missing").waitFor();

  // While the bytes are gone the call fails, says so, and the button comes back (M-4).
  const retry = page.getByRole("button", { name: "Retry processing" });
  await retry.click();
  await page.getByText(/^Not queued: .*missing/).waitFor();
  await retry.waitFor();
  await rename(join(server.data, "taken"), blob ?? "");
  await retry.click();
  await page.getByText("Queued again").waitFor();
  await page.locator("pre", { hasText: "Dear reader" }).waitFor();
  await expect.poll(() => retry.count(), { timeout: 20_000 }).toBe(0);
});

it("retry of a classification is of that step alone", async () => {
  await upload(text("herons.txt", "Herons stand by the river all day long and wait."));
  await tray().getByText("1 file in").waitFor();
  const { documents } = (await (await fetch(`${server.url}/v1/documents`)).json()) as { documents: { document_id: string }[] };
  // It cannot be had without a model that fails, so the server's answer is changed on its way.
  await page.route(/\/v1\/documents\/[^/?]+$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), state: "unclassified", title: null } });
  });
  await page.goto(`${server.url}/documents/${documents[0]?.document_id}`);
  const asked = page.waitForRequest(/\/reprocess$/);
  await page.getByRole("button", { name: "Retry classification" }).click();
  expect((await asked).postDataJSON()).toEqual({ from: "classifying" });
  await page.getByText("Queued again").waitFor();
});

it("cancel a batch", async () => {
  await server.cli("pause", "--kind", "intake-document");
  await upload([text("one.txt", "one"), text("two.txt", "two"), text("three.txt", "three")]);
  await tray().getByText("Reading 3 files").waitFor();

  await page.keyboard.press("g");
  await page.keyboard.press("b");
  await page.getByRole("link", { name: /^3 files/ }).click();
  await page.getByText("3 open").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel 3 open" }).click();
  await page.getByText("3 cancelled").waitFor();
  await page.getByText("· balances").waitFor();
  expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
});

it("an empty library fills while one looks at it", async () => {
  await page.goto(`${server.url}/library`);
  await page.getByRole("heading", { name: "The library is empty" }).waitFor();
  await server.cli("ingest", fixture("markdown/notes.md"));
  await page.getByRole("row").filter({ hasText: "notes.md" }).waitFor();
  // So does a filter that nothing matched.
  await page.goto(`${server.url}/library?type=text%2Fplain`);
  await page.getByRole("heading", { name: "No document matches" }).waitFor();
  await upload(text("first.txt", "the first of its kind"));
  await page.getByRole("row").filter({ hasText: "first.txt" }).waitFor();
});

it("restart the server under an open page", async () => {
  await upload(text("before.txt", "written before the restart"));
  await tray().getByText("1 file in").waitFor();
  await page.goto(`${server.url}/library`);
  await page.getByRole("row").filter({ hasText: "before.txt" }).waitFor();
  await server.kill();
  await page.getByText("Reconnecting…").waitFor();
  // What was there stays in view.
  await page.getByRole("row").filter({ hasText: "before.txt" }).waitFor();
  await server.up();
  await page.getByText("Live", { exact: true }).waitFor();
  await server.cli("ingest", fixture("markdown/notes.md"));
  await page.getByRole("row").filter({ hasText: "notes.md" }).waitFor();

  // Screens that ask by themselves do so in vain, and keep what they had.
  await page.goto(`${server.url}/workers`);
  await page.getByRole("region", { name: "Queues", exact: true }).waitFor();
  await server.kill();
  await page.getByText("Reconnecting…").waitFor();
  await page.waitForTimeout(10_000);
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.getByRole("region", { name: "Queues", exact: true }).waitFor();
});

it("upload that meets a restart arrives once", async () => {
  await server.kill();
  await upload(text("patient.txt", "sent while the server was away"));
  await tray().getByText(/docmill does not answer/).waitFor();
  await server.up();
  await tray().getByText("1 file in").waitFor();
  const status = JSON.parse(await server.cli("--json", "status")) as { documents: number };
  expect(status.documents).toBe(1);
});

it("files dropped together while the server is away are one batch when it is back", async () => {
  await server.kill();
  await upload([text("left.txt", "the left half"), text("right.txt", "the right half")]);
  await tray().getByText(/docmill does not answer/).first().waitFor();
  await server.up();
  await tray().getByText("2 files in").waitFor();
  await page.goto(`${server.url}/batches`);
  const batch = page.getByRole("main").getByRole("listitem").filter({ hasText: /^2 files, / });
  await batch.getByText("Finished").waitFor();
  await batch.getByText("2 of 2").waitFor();
  expect(await page.getByRole("main").getByRole("listitem").count()).toBe(1);
});

it("what was read while the page was away is told when it is back", async () => {
  await server.cli("pause", "--kind", "intake-document");
  await upload([text("slow.txt", "read behind the page's back")]);
  await tray().getByText("Reading 1 file").waitFor();
  await page.goto("about:blank");
  await server.cli("resume", "--kind", "intake-document");
  await expect.poll(async () => (JSON.parse(await server.cli("--json", "status")) as { ingestions: { in_progress: number } }).ingestions.in_progress).toBe(0);
  await page.goto(server.url);
  await tray().getByText("1 file in").waitFor();
});

it("markup in names and documents is text", async () => {
  const name = "<img src=x onerror=alert(1)>.txt";
  const inside = "<script>alert(2)</script> & <b onclick=alert(3)>bold</b> harmless";
  await upload([text(name, inside), text("<svg onload=alert(4)>.html.txt", "<iframe src=javascript:alert(5)></iframe> harmless")]);
  await tray().getByText("2 files in").waitFor();
  // Whatever the browser would make of it, none of it may become an element, on no screen.
  const clean = async () => {
    const found = await page.evaluate(() => [...document.querySelectorAll("body *")]
      .filter((one) => one.hasAttribute("onerror") || one.hasAttribute("onload") || one.hasAttribute("onclick") || one.matches("img[src=x], iframe, b, script:not([src])"))
      .map((one) => one.outerHTML));
    expect(found).toEqual([]);
  };
  await tray().getByText(name).waitFor();
  await clean();
  for (const path of ["/", "/library", "/library?view=grid", "/batches"]) {
    await page.goto(server.url + path);
    await page.getByText(path === "/batches" ? /^2 files/ : name).first().waitFor();
    await clean();
  }
  await page.goto(`${server.url}/search?q=harmless`);
  await page.getByText(name).first().waitFor();
  await clean();
  await page.getByRole("main").getByRole("link").filter({ hasText: name }).click();
  await page.locator("pre", { hasText: inside }).waitFor();
  await page.getByRole("tab", { name: /Timeline/ }).click();
  await clean();
  await page.keyboard.press("/");
  await page.keyboard.type("harmless");
  await page.getByRole("option", { name: /onerror/ }).waitFor();
  await clean();
});

it("choose by facets, select all that match, delete", async () => {
  await upload([text("a.txt", "first"), text("b.txt", "second"), { name: "c.csv", mimeType: "text/csv", buffer: Buffer.from("day,what\n1,third\n2,fourth\n") }]);
  await tray().getByText("3 files in").waitFor();
  await page.goto(`${server.url}/library`);
  const state = page.getByRole("group", { name: "State" });
  await state.getByRole("button", { name: "All 3" }).waitFor();
  await page.getByRole("button", { name: "Format" }).click();
  await page.getByRole("menuitem", { name: /^Text 2/ }).click();
  await page.waitForURL(/type=text%2Fplain/);
  const rows = page.getByRole("row").filter({ has: page.getByRole("link") });
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole("button", { name: "Came in" }).click();
  await page.getByRole("menuitem", { name: "Today" }).click();
  await expect.poll(() => rows.count()).toBe(2);

  // A view keeps all of that under a name.
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name").fill("Texts of today");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole("link", { name: "Texts of today" }).click();
  await expect.poll(() => rows.count()).toBe(2);

  await page.getByLabel("Select a.txt").click();
  await page.getByRole("button", { name: "Select all that match" }).click();
  await page.getByText("2 selected").waitFor();
  await page.getByRole("toolbar").getByRole("button", { name: "Reprocess" }).click();
  await page.getByText(/2 documents (queued again|left as they are)/).waitFor();
  await page.getByLabel("Select all that are shown").click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete 2 documents" }).click();
  await page.getByText("2 documents deleted").waitFor();
  await page.getByRole("heading", { name: "No document matches" }).waitFor();
  await page.getByRole("button", { name: "Show everything" }).click();
  await expect.poll(() => rows.count()).toBe(1);
});

it("a batch is paused, goes first, goes on", async () => {
  await server.cli("pause", "--kind", "intake-document");
  await upload([text("one.txt", "one"), text("two.txt", "two")]);
  await tray().getByText("Reading 2 files").waitFor();
  await page.goto(`${server.url}/batches`);
  await page.getByRole("link", { name: /^2 files/ }).click();
  // What waits is told by stage.
  await page.getByRole("region", { name: "By stage" }).getByText("2 waiting").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Priority/ }).click();
  await page.getByRole("menuitem", { name: /^First/ }).click();
  await page.getByRole("button", { name: "Priority: First" }).waitFor();
  await server.cli("resume", "--kind", "intake-document");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("2 done").waitFor();
  await page.getByText("· balances").waitFor();
});

it("old batches are a click away", async () => {
  for (let i = 0; i <= 50; i++) {
    await fetch(`${server.url}/v1/batches`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name: `crate ${i}` }) });
  }
  await page.goto(`${server.url}/batches`);
  await page.getByRole("link", { name: "crate 50" }).waitFor();
  expect(await page.getByRole("link", { name: "crate 0", exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("link", { name: "crate 0", exact: true }).waitFor();
});

it("every state has its words and its one click", async () => {
  await server.cli("pause", "--kind", "intake-document");
  await upload(text("letter.txt", "Dear reader"));
  await tray().getByText("Reading 1 file").waitFor();
  await page.goto(`${server.url}/library?view=grid`);
  const card = page.getByRole("article", { name: "letter.txt" });
  await card.getByText("Processing").waitFor();
  await card.locator(".skeleton").first().waitFor();
  expect(await card.getByRole("button").count()).toBe(0);
  await server.cli("resume", "--kind", "intake-document");
  await expect.poll(() => card.locator(".skeleton").count(), { timeout: 20_000 }).toBe(0);

  // The others cannot be had within a minute, so the server's answer is changed on its way.
  const STATES: [state: string, label: string, action: string | null][] = [
    ["stale", "No progress", "Retry"], ["unclassified", "Unclassified", "Retry classification"],
    ["needs_review", "Needs review", "Review"], ["failed", "Failed", "Retry processing"], ["unsupported", "Unsupported", null],
  ];
  for (const [state, label, action] of STATES) {
    await page.route(/\/v1\/documents\?/, async (route) => {
      const answer = await route.fetch();
      const list = (await answer.json()) as { documents: { state: string; title: string | null }[] };
      await route.fulfill({ response: answer, json: { ...list, documents: list.documents.map((one) => ({ ...one, state })) } });
    });
    await page.reload();
    await card.getByText(label, { exact: true }).waitFor();
    expect(await card.getByRole("button").allTextContents()).toEqual(action ? [action] : []);
    await page.unroute(/\/v1\/documents\?/);
  }
});

it("drop anywhere, a folder as one batch, and a reload in between", async () => {
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["dropped on the page"], "dropped.txt"));
    return transfer;
  });
  await page.getByRole("main").dispatchEvent("dragenter", { dataTransfer: dropped });
  await page.getByText("Drop files or folders to bring them in").waitFor();
  await page.getByRole("main").dispatchEvent("drop", { dataTransfer: dropped });
  await tray().getByText("1 file in").waitFor();
  await page.reload();
  await tray().getByText("1 file in").waitFor();
  await tray().getByRole("link", { name: "dropped.txt" }).waitFor();

  await page.getByTestId("folder").setInputFiles(fixture("text"));
  const files = (await readdir(fixture("text"))).length;
  await tray().getByText(`${files + 1} files in`).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("b");
  const batch = page.getByRole("main").getByRole("listitem").filter({ hasText: /^text, / });
  await batch.getByText("Finished").waitFor();
  await batch.getByText(`${files} of ${files}`).waitFor();
});

it("keyboard alone", async () => {
  await upload([text("a.txt", "first"), text("b.txt", "second")]);
  await tray().getByText("2 files in").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.getByRole("row").filter({ hasText: "a.txt" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("Shift+X");
  await page.getByText("2 selected").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/documents\//);
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/library/);
  await page.keyboard.press("/");
  await page.keyboard.type("second");
  await page.getByRole("option", { name: /b\.txt/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "All keys" }).waitFor();
  await page.keyboard.press("Escape");

  // Nothing has the focus, and still the screen scrolls.
  await page.setViewportSize({ width: 1360, height: 400 });
  await page.goto(`${server.url}/settings`);
  const settings = page.getByRole("region", { name: "Settings, content" });
  await settings.getByRole("region", { name: "Doctor" }).getByRole("listitem").first().waitFor();
  await page.keyboard.press("PageDown");
  await expect.poll(() => settings.evaluate((one) => one.scrollTop)).toBeGreaterThan(0);
});

it("a list is gone through document by document, and found again as it was left", async () => {
  await upload(Array.from({ length: 60 }, (_, i) => text(`leaf-${String(i).padStart(2, "0")}.txt`, `leaf number ${i}`)));
  await tray().getByText("60 files in").waitFor({ timeout: 60_000 });
  await page.goto(`${server.url}/library`);
  const list = page.getByRole("region", { name: "Documents" });
  await page.getByRole("row").filter({ hasText: "leaf-" }).first().waitFor();
  await list.evaluate((box) => { box.scrollTop = 900; });
  // What is in the middle of the view, beside a check that is to stay. By its name from here on: which rows are drawn,
  // and so which is the twentieth, changes while the view settles.
  const [name] = (await page.getByRole("row").getByRole("link").nth(20).textContent())?.match(/leaf-\d\d\.txt/) ?? [];
  const middle = page.getByRole("row").filter({ hasText: name });
  await middle.getByRole("checkbox").click();
  const scrolled = await list.evaluate((box) => box.scrollTop);
  await middle.getByRole("link").click();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: /leaf/i }).waitFor();

  const address = page.url();
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.href !== address);
  await page.getByRole("button", { name: "Next document" }).click();
  await page.getByRole("button", { name: "Previous document" }).click();
  await page.keyboard.press("k");
  await page.waitForURL(address);
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.href !== address);
  const seen = page.url().split("/").at(-1);
  await page.goBack();
  await page.getByText("1 selected").waitFor();
  expect(await list.evaluate((box) => box.scrollTop)).toBe(scrolled);
  expect(await middle.getByRole("checkbox").isChecked()).toBe(true);
  // The cursor is at the document that was looked at last.
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/documents/${seen}`);
  // A link begins at the top.
  await page.getByRole("link", { name: "Library" }).first().click();
  await page.getByRole("row").filter({ hasText: "leaf-" }).first().waitFor();
  expect(await list.evaluate((box) => box.scrollTop)).toBe(0);
  expect(await page.getByText("1 selected").count()).toBe(0);
});

it("the library knows what happened while it was left", async () => {
  await server.cli("pause", "--kind", "intake-document");
  await upload(text("slow.txt", "read while nobody looked"));
  await page.getByRole("link", { name: "Library" }).first().click();
  const row = page.getByRole("main").getByRole("row").filter({ hasText: "slow.txt" });
  await row.getByText("Processing").waitFor();
  await row.getByRole("link").click();
  await server.cli("resume", "--kind", "intake-document");
  await page.locator("pre", { hasText: "read while nobody looked" }).waitFor();
  // Nothing more happens from now on: the list has to ask by itself.
  await page.waitForTimeout(2000);
  await page.goBack();
  await row.waitFor();
  await expect.poll(() => row.getByText("Processing").count()).toBe(0);
});

it("a search is gone through without the pointer", async () => {
  await upload([text("one.txt", "harbour lights"), text("two.txt", "harbour walls")]);
  await tray().getByText("2 files in").waitFor();
  await page.goto(`${server.url}/search?q=harbour`);
  const hits = page.getByRole("list", { name: "Hits" }).getByRole("link");
  await expect.poll(() => hits.count(), { timeout: 20_000 }).toBe(2);
  await page.getByRole("searchbox").press("ArrowDown");
  await page.getByRole("searchbox").press("Enter");
  await page.waitForURL(/\/documents\/.*q=harbour/);
  const first = page.url();
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.href !== first && url.search.includes("q=harbour"));
  await page.locator("mark").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox").waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("harbour");
});
