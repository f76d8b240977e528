/** Facets of searches and tags, counted from the documents of the server as they are, where the server does not do so itself. */
import type { Page, Route } from "playwright-core";
import type { SearchFacets, TagPair } from "../../src/api/types";

interface Known { document_id: string; type: string | null; media_type: string | null; language: string | null; date: string | null; tags: string[] }

export class Catalogue {
  private constructor(private readonly documents: Map<string, Known>, readonly pairs: TagPair[], private readonly served: { facets: boolean; tags: boolean }) {}

  static async of(url: string): Promise<Catalogue> {
    const { documents } = (await (await fetch(`${url}/v1/documents?limit=200`)).json()) as { documents: { document_id: string }[] };
    const known = await Promise.all(documents.map(async ({ document_id }) => (await (await fetch(`${url}/v1/documents/${document_id}`)).json()) as Known));
    const similar = await fetch(`${url}/v1/tags/similar`);
    const served = { facets: "facets" in ((await (await fetch(`${url}/v1/search?q=a`)).json()) as object), tags: similar.ok };
    const catalogue = new Catalogue(new Map(known.map((one) => [one.document_id, one])), [], served);
    if (similar.ok) {
      catalogue.pairs.push(...((await similar.json()) as { items: TagPair[] }).items);
      return catalogue;
    }
    const tags = catalogue.tags();
    const from = tags.find((one) => tags.some((other) => other.tag === `${one.tag}s`));
    const into = tags.find((one) => one.tag === `${from?.tag}s`);
    if (from && into) catalogue.pairs.push({ from, into, similarity: 0.91, method: "spelling" });
    return catalogue;
  }

  tags() {
    const counts = new Map<string, number>();
    for (const { tags } of this.documents.values()) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    return [...counts].map(([tag, documents]) => ({ tag, documents })).sort((a, b) => b.documents - a.documents || a.tag.localeCompare(b.tag));
  }

  /** Answers for a page. */
  readonly attach = async (page: Page): Promise<void> => {
    if (!this.served.facets) await page.route(/\/v1\/search\?/, (route) => this.search(route));
    if (!this.served.tags) await page.route(/\/v1\/tags(\/|\?|$)/, (route) => this.tag(route));
  };

  private async search(route: Route): Promise<void> {
    const url = new URL(route.request().url());
    const wanted = (name: string) => url.searchParams.get(name);
    const plain = new URL(url);
    for (const name of ["type", "media_type", "language", "tag", "date_from", "date_to"]) plain.searchParams.delete(name);
    const answer = await route.fetch({ url: plain.href });
    const body = (await answer.json()) as { hits: { document_id: string }[] };
    const fits = (one: Known) =>
      (!wanted("type") || one.type === wanted("type")) && (!wanted("media_type") || one.media_type === wanted("media_type")) &&
      (!wanted("language") || one.language === wanted("language")) && (!wanted("tag") || one.tags.includes(wanted("tag") ?? "")) &&
      (!wanted("date_from") || (one.date ?? "").startsWith(wanted("date_from") ?? ""));
    const hits = body.hits.filter((hit) => { const one = this.documents.get(hit.document_id); return one !== undefined && fits(one); });
    const facets: SearchFacets = { type: {}, media_type: {}, language: {}, year: {}, tag: {} };
    const count = (facet: Record<string, number>, value: string | null | undefined) => { if (value) facet[value] = (facet[value] ?? 0) + 1; };
    for (const hit of hits) {
      const one = this.documents.get(hit.document_id);
      count(facets.type, one?.type);
      count(facets.media_type, one?.media_type);
      count(facets.language, one?.language);
      count(facets.year, one?.date?.slice(0, 4));
      for (const tag of one?.tags ?? []) count(facets.tag, tag);
    }
    return route.fulfill({ response: answer, json: { ...body, hits, total: hits.length, facets } });
  }

  private tag(route: Route): Promise<void> {
    const url = new URL(route.request().url());
    if (url.pathname.endsWith("/similar")) return route.fulfill({ json: { items: this.pairs, note: null } });
    if (url.pathname.endsWith("/merge")) {
      const { from, into } = route.request().postDataJSON() as { from: string; into: string };
      let moved = 0;
      for (const one of this.documents.values()) {
        if (!one.tags.includes(from)) continue;
        moved += 1;
        one.tags = [...new Set(one.tags.map((tag) => (tag === from ? into : tag)))];
      }
      this.pairs.length = 0;
      return route.fulfill({ json: { tag: this.tags().find((one) => one.tag === into), moved } });
    }
    const part = url.searchParams.get("q") ?? "";
    return route.fulfill({ json: { items: this.tags().filter((one) => one.tag.includes(part)), next: null } });
  }
}
