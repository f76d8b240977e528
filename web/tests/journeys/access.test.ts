/** Keys, tenants and what is said to whom. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { close, launch, open, PLAIN_HOST } from "./browser";
import { Docmill } from "./docmill";

let browser: Browser;
let server: Docmill;

beforeAll(async () => {
  browser = await launch();
  server = await Docmill.start();
});
afterAll(async () => {
  await browser?.close();
  await server?.remove();
});

it("the first key closes the server, and opens it again", async () => {
  const maker = await open(browser, server.url, "/access");
  await maker.page.getByRole("button", { name: "New key" }).click();
  await maker.page.getByLabel("What it is for").fill("journey");
  await maker.page.getByRole("button", { name: "Make the key" }).click();
  const key = (await maker.page.getByRole("dialog").locator("code").textContent()) ?? "";
  expect(key).toMatch(/^dm_/);
  await maker.page.getByRole("button", { name: "I have copied it" }).click();
  await maker.page.getByRole("region", { name: "Keys" }).getByText("journey").waitFor();
  await maker.page.getByText("chain intact").waitFor();
  await close(maker);

  const stranger = await open(browser, server.url, "/library");
  await stranger.page.getByRole("heading", { name: "This server needs a key" }).waitFor();
  await stranger.page.getByLabel("Key", { exact: true }).fill("dm_wrong");
  await stranger.page.getByRole("button", { name: "Open" }).click();
  await stranger.page.getByRole("heading", { name: "This key does not open the server" }).waitFor();
  await stranger.page.getByLabel("Key", { exact: true }).fill(key);
  await stranger.page.getByRole("button", { name: "Open" }).click();
  await stranger.page.getByRole("heading", { name: "The library is empty" }).waitFor();
  await close(stranger);
});

it("two tenants see nothing of each other", async () => {
  for (const [tenant, content] of [["north", "written in the north"], ["south", "written in the south"]] as const) {
    await server.cli("tenant", "create", tenant);
    const made = JSON.parse(await server.cli("--tenant", tenant, "--json", "key", "create", "--name", tenant, "--role", "admin")) as { key: string };
    const one = await open(browser, server.url, "/");
    await one.page.getByLabel("Key", { exact: true }).fill(made.key);
    await one.page.getByRole("button", { name: "Open" }).click();
    await one.page.getByRole("heading", { name: "Nothing has come in yet" }).waitFor();
    await one.page.getByTestId("files").setInputFiles({ name: `${tenant}.txt`, mimeType: "text/plain", buffer: Buffer.from(content) });
    await one.page.getByRole("region", { name: "Uploads" }).getByText("1 file in").waitFor();
    // A page of one tenant, told by events, never shows what the other brought in.
    await one.page.getByRole("link", { name: "Library" }).first().click();
    await one.page.getByRole("row").filter({ hasText: `${tenant}.txt` }).waitFor();
    expect(await one.page.getByRole("row").filter({ has: one.page.getByRole("link") }).count()).toBe(1);
    await one.page.goto(`${server.url}/search?q=written`);
    await expect.poll(() => one.page.getByRole("list", { name: "Hits" }).getByRole("listitem").count(), { timeout: 20_000 }).toBe(1);
    await one.page.getByRole("main").getByText(`${tenant}.txt`).waitFor();
    await one.page.goto(`${server.url}/access`);
    await one.page.getByRole("region", { name: "Keys" }).getByText(tenant).waitFor();
    expect(await one.page.getByRole("region", { name: "Keys" }).getByRole("listitem").count()).toBe(1);
    await close(one);
  }
});

it("uploads and copies on a plain address too, where browsers do less", async () => {
  const made = JSON.parse(await server.cli("--json", "key", "create", "--name", "house", "--role", "admin")) as { key: string };
  const watched = await open(browser, server.url.replace("127.0.0.1", PLAIN_HOST), "/");
  const { page } = watched;
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
  await page.getByLabel("Key", { exact: true }).fill(made.key);
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("heading", { name: "Nothing has come in yet" }).waitFor();
  await page.getByRole("button", { name: /^Copy the command/ }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await page.getByTestId("files").setInputFiles({ name: "house.txt", mimeType: "text/plain", buffer: Buffer.from("sent in the house") });
  await page.getByRole("region", { name: "Uploads" }).getByText("1 file in").waitFor();
  await close(watched);
});
