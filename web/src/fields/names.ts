/** Names of fields as people say them. Pure. */

const SHORT: Record<string, string> = { iban: "IBAN", bic: "BIC", vat: "VAT", id: "ID", nda: "NDA", url: "URL" };

/** `invoice_number` is "Invoice number", `seller_tax_id` is "Seller tax ID". */
export function fieldName(name: string): string {
  const words = name.split("_").filter(Boolean).map((word) => SHORT[word] ?? word).join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The parts of a path: `items[0].quantity` is row 0 and column `quantity` of `items`. */
export function pathOf(path: string): { name: string; row: number | null; column: string | null } {
  const match = /^([^[]+)\[(\d+)\](?:\.(.+))?$/.exec(path);
  if (!match) return { name: path, row: null, column: null };
  return { name: match[1] ?? path, row: Number(match[2]), column: match[3] ?? null };
}

/** A path in words: "Total amount", "Party 2", "Items 1, quantity". */
export function pathName(path: string): string {
  const { name, row, column } = pathOf(path);
  if (row === null) return fieldName(name);
  return column === null ? `${fieldName(name)} ${row + 1}` : `${fieldName(name)} ${row + 1}, ${fieldName(column).toLowerCase()}`;
}

/** Words of the server, with paths of fields said as names, and values in the same quotation marks. */
export const spoken = (text: string): string =>
  text
    .replace(/`([a-z][a-z0-9]*(?:_[a-z0-9]+)*(?:\[\d+\](?:\.[a-z_]+)?)?)`/g, (_, path: string) => `“${pathName(path)}”`)
    .replace(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g, (name) => `“${fieldName(name)}”`)
    .replace(/`([^`]*)`/g, "“$1”");

const METHODS: Record<string, string> = {
  label: "beside its label", sum: "by adding up", xml: "from the data inside the file", table: "in a table", place: "by its place",
  head: "in the head", line: "on its own line", title: "by the title", date: "by its form", preamble: "in the first paragraph",
  "check digits": "by its check digits", "beside amounts": "beside the amounts", "first date": "the first date", correction: "corrected by a person",
};

/** How a value was found. */
export const methodWords = (method: string): string => METHODS[method] ?? method;
