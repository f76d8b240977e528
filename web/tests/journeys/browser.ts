/** A browser that talks to one server only, and whose every complaint is a failure. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";

/** A name in a house or an office: to a browser, unlike 127.0.0.1, no secure address. */
export const PLAIN_HOST = "archive.test";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
];

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", headless: true, args: FLAGS });

export interface Watched { page: Page; /** What went wrong in the page, without what a test expects. */ complaints: string[] }

/** Opens a page, and notes errors of scripts, of the content policy, and every request to another host. */
export async function open(browser: Browser, base: string, path: string, options: BrowserContextOptions = {}, prepare?: (page: Page) => Promise<void>): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  await prepare?.(page);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // A server that is away, or a document that is gone, is told by the page in its own words.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  // Nothing here asks with the browser's own windows; whoever does has brought a script in.
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "blob:" && url.protocol !== "data:" && url.origin !== base) complaints.push(`asked ${url.href}`);
  });
  await page.goto(base + path);
  return { page, complaints };
}

export async function close({ page, complaints }: Watched): Promise<void> {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().close();
  expect(complaints).toEqual([]);
}
