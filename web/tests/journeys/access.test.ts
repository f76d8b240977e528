/** Keys, tenants and what is said to whom. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { close, launch, open } from "./browser";
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
