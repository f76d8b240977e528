/**
 * Reviews of real documents: what `docmill extract` finds in them, behind the routes of the interface. The answers for two
 * reviewers come from one place, as on a server with keys, so that locks and decisions of one are seen by the other.
 */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Page, Route } from "playwright-core";
import type { Decision, Review, RecordField, SchemaLine } from "../../src/api/types";
import type { Docmill } from "./docmill";

interface Extraction { schema: string; data: Record<string, unknown>; valid: boolean; confidence: number; fields: Record<string, RecordField>; violations: { field: string; rule: string; message: string }[] }
interface Property { type: string; "x-docmill"?: { critical?: boolean; normalise?: string }; items?: { type?: string } }

const SCHEMAS = ["bank_statement", "invoice", "letter", "nda", "receipt"];
const LOCK_MS = 600_000;

const schemaText = async (name: string) =>
  JSON.parse(await readFile(resolve(import.meta.dirname, "../../../crates/extract/data/schemas", `${name}.json`), "utf8")) as { properties: Record<string, Property> };

export class Desk {
  readonly reviews: Review[] = [];
  private readonly valid = new Map<string, boolean>();
  private readonly schemas = new Map<string, unknown>();
  private readonly lines: SchemaLine[] = [];
  /** What was asked for, for tests that count. */
  readonly asked: string[] = [];

  /** Reviews of documents of the server, each from the file it was made of. */
  static async of(server: Docmill, papers: { file: string; schema: string }[]): Promise<Desk> {
    const desk = new Desk();
    for (const name of SCHEMAS) {
      const schema = await schemaText(name);
      desk.schemas.set(name, schema);
      desk.lines.push({
        name, version: 1, title: name, built_in: true,
        fields: Object.entries(schema.properties).map(([field, rule]) => ({
          name: field, critical: rule["x-docmill"]?.critical ?? false, normalise: rule["x-docmill"]?.normalise ?? null,
          type: rule.type !== "array" ? "text" : rule.items?.type === "object" ? "rows" : "list",
        })),
      });
    }
    const { documents } = (await (await fetch(`${server.url}/v1/documents?limit=200`)).json()) as { documents: { document_id: string; name: string; title: string | null; page_count: number | null }[] };
    for (const { file, schema } of papers) {
      const document = documents.find((one) => basename(one.name) === basename(file));
      if (!document) throw new Error(`the server has no ${file}`);
      const found = JSON.parse(await server.cli("--json", "extract", file, "--schema", schema)) as Extraction;
      const id = `0000000${desk.reviews.length + 1}-0000-4000-8000-000000000000`;
      desk.valid.set(id, found.valid);
      desk.reviews.push({
        review_id: id, ingestion_id: id, document_id: document.document_id, name: document.name, title: document.title, schema,
        confidence: found.confidence, fields_missing: found.violations.filter((one) => one.rule === "missing").length,
        reasons: found.violations.length > 0 ? found.violations.map((one) => one.message) : [`the record is only ${Math.round(found.confidence * 100)} % sure`],
        created_at: new Date(Date.now() - 240_000).toISOString(), locked_by: null, locked_until: null, state: "open",
        data: found.data, fields: found.fields, violations: found.violations.map(({ rule, ...rest }) => ({ ...rest, kind: rule })),
        schema_version: 1, page_count: document.page_count, history: [],
      });
    }
    desk.reviews.sort((a, b) => a.confidence - b.confidence);
    return desk;
  }

  one(part: string): Review {
    const found = this.reviews.find((review) => review.name.includes(part));
    if (!found) throw new Error(`no review of ${part}`);
    return found;
  }

  /** Answers for one reviewer. */
  as(who: string): (page: Page) => Promise<void> {
    return async (page) => {
      await page.route(/\/v1\/(reviews|schemas|export|me)(\/|\?|$)/, (route) => this.answer(route, who));
      await page.route(/\/v1\/documents\/[^/?]+$/, (route) => this.document(route));
    };
  }

  private async answer(route: Route, who: string): Promise<void> {
    const request = route.request();
    const url = new URL(request.url());
    const [, , what, id, action] = url.pathname.split("/");
    this.asked.push(`${who} ${request.method()} ${url.pathname}`);
    const json = (body: unknown) => route.fulfill({ json: body });
    const problem = (status: number, detail: string) =>
      route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify({ type: "about:blank", title: "no", status, detail, code: "conflict", retryable: false }) });
    if (what === "me") {
      const answer = await route.fetch();
      return route.fulfill({ response: answer, json: { ...((await answer.json()) as object), name: who } });
    }
    if (what === "schemas") return json(id ? { name: id, version: 1, built_in: true, created_at: null, schema: this.schemas.get(id) } : { items: this.lines });
    if (what === "export") {
      return route.fulfill({ contentType: "text/csv", headers: { "Content-Disposition": "attachment; filename=invoice.csv" }, body: `asked,${url.searchParams.toString().replaceAll("&", ";")}\n` });
    }
    if (!id) {
      const done = url.searchParams.get("state") === "done";
      const schema = url.searchParams.get("schema");
      const items = this.reviews.filter((one) => (one.state !== "open") === done && (!schema || one.schema === schema));
      return json({ items, next: null, open: this.reviews.filter((one) => one.state === "open").length });
    }
    const review = this.reviews.find((one) => one.review_id === id);
    if (!review) return problem(404, `there is no review ${id}`);
    if (!action) return json(review);
    const theirs = review.locked_by !== null && review.locked_by !== who && new Date(review.locked_until ?? 0).getTime() > Date.now();
    if (request.method() === "DELETE") {
      if (review.locked_by === who) Object.assign(review, { locked_by: null, locked_until: null });
      return route.fulfill({ status: 204 });
    }
    if (review.state !== "open") return problem(409, `review ${id} is ${review.state} already`);
    if (theirs) return problem(409, `\`${review.locked_by}\` looks at review ${id} until ${review.locked_until}`);
    if (action === "lock") {
      Object.assign(review, { locked_by: who, locked_until: new Date(Date.now() + LOCK_MS).toISOString() });
      return json({ review_id: id, locked_by: who, locked_until: review.locked_until });
    }
    return this.decide(review, who, action, (request.postDataJSON() ?? {}) as { fields?: Record<string, string | null>; reason?: string }, json, problem);
  }

  private decide(review: Review, who: string, action: string, body: { fields?: Record<string, string | null>; reason?: string }, json: (body: unknown) => Promise<void>, problem: (status: number, detail: string) => Promise<void>): Promise<void> {
    const changes: Decision["changes"] = {};
    for (const [path, value] of Object.entries(body.fields ?? {})) {
      if (path.endsWith("_date") && value !== null && !/\d{4}/.test(value)) return problem(400, `\`${value}\` is no date for \`${path}\``);
      changes[path] = { before: review.fields[path]?.value ?? null, after: value };
    }
    const state = ({ accept: "accepted", correct: "corrected", reject: "rejected" } as const)[action];
    if (!state) return problem(404, `there is nothing at ${action}`);
    review.history.push({ at: new Date().toISOString(), by: who, action: state, reason: body.reason ?? null, changes });
    Object.assign(review, { state, locked_by: null, locked_until: null });
    return json({ review_id: review.review_id, state, next: this.reviews.find((one) => one.state === "open")?.review_id ?? null });
  }

  /** A document with its record and its open review. */
  private async document(route: Route): Promise<void> {
    const answer = await route.fetch({ url: route.request().url() });
    const id = new URL(route.request().url()).pathname.split("/").at(-1);
    const review = this.reviews.find((one) => one.document_id === id);
    if (!review || !answer.ok()) return route.fulfill({ response: answer });
    const body = (await answer.json()) as object;
    const open = review.state === "open";
    const record = {
      schema: review.schema, version: 1, data: review.data, fields: review.fields, valid: this.valid.get(review.review_id) ?? true,
      violations: review.violations.map(({ kind, ...rest }) => ({ ...rest, rule: kind })), confidence: review.confidence, model: null, tokens_in: 0, tokens_out: 0,
    };
    return route.fulfill({ response: answer, json: { ...body, record, needs_review: open, review_id: open ? review.review_id : null, ...(open ? { state: "needs_review" } : {}) } });
  }
}
