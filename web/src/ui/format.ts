/** Numbers, sizes, times and names in words. Pure. */
import type { Timestamp } from "../api/types";

const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const count = (n: number): string => whole.format(n);

/** As short as a badge needs it: 12,431 stays, 1,204,331 becomes 1.2M. */
export const short = (n: number): string => (n < 100_000 ? whole.format(n) : compact.format(n));

/** "1 document", "2 documents". */
export const counted = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  let value = n;
  for (const unit of ["kB", "MB", "GB", "TB"]) {
    value /= 1000;
    if (value < 999.5 || unit === "TB") return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
  }
  return `${n} B`;
}

export function rate(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond));
}

export const moment = (at: Timestamp): Date => new Date(at);

const TO_THE_SECOND = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;

/** Exact, on the clock of whoever looks, and which clock that is: 17 Nov 2026, 06:48:11 CET. */
export const exact = (at: Timestamp): string => moment(at).toLocaleString("en-GB", { ...TO_THE_SECOND, timeZoneName: "short" });

/** The same as part of a name, where everybody knows whose clock is meant. */
export const named = (at: Timestamp): string => moment(at).toLocaleString("en-GB", TO_THE_SECOND);

/** A moment as files write it, said as everywhere else; anything else as it stands. */
export const momentText = (value: string): string => (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?([+-]\d{2}:\d{2}|Z)$/.test(value) ? exact(value) : value);

/** "just now", "4 min ago", "in 20 s", then a date. */
export function relative(at: Timestamp, now: number): string {
  const then = moment(at).getTime();
  const seconds = Math.round((now - then) / 1000);
  const away = Math.abs(seconds);
  if (away < 5) return "just now";
  const words = span(away);
  if (away < 7 * 86_400) return seconds > 0 ? `${words} ago` : `in ${words}`;
  const date = new Date(then);
  const year = date.getFullYear() === new Date(now).getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year });
}

/** Seconds in the largest unit that says enough. */
function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** 340 ms, 2.4 s, 3 min 10 s, 2 h 5 min. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 < 1 ? `${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

export const percent = (part: number, whole: number): string =>
  whole === 0 ? "0 %" : `${part === whole ? 100 : Math.min(99, Math.floor((part / whole) * 100))} %`;

// Control and direction characters, which could make one name look like another.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** A name from outside, with what cannot be seen made visible. */
export const shown = (name: string): string => name.replace(HIDDEN, "\ufffd");

/** The end of a path, and the folders before it. */
export function pathParts(name: string): { folder: string; file: string } {
  const cut = name.replace(/\/+$/, "").lastIndexOf("/");
  return { folder: cut < 0 ? "" : name.slice(0, cut), file: name.slice(cut + 1) };
}

const TYPES: Record<string, string> = {
  "application/pdf": "PDF", "text/plain": "Text", "text/markdown": "Markdown", "text/csv": "CSV", "text/html": "HTML",
  "application/json": "JSON", "application/zip": "ZIP", "message/rfc822": "Mail", "application/mbox": "Mailbox",
  "application/vnd.ms-outlook": "Outlook", "application/x-tar": "TAR", "application/gzip": "GZIP",
  "application/x-7z-compressed": "7z", "image/png": "PNG", "image/jpeg": "JPEG", "image/tiff": "TIFF",
  "text/calendar": "Calendar", "text/vcard": "Card", "application/rtf": "RTF", "text/rtf": "RTF", "application/msword": "Word",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
  "application/vnd.ms-excel": "Excel", "application/vnd.ms-powerpoint": "PowerPoint",
  "application/vnd.oasis.opendocument.text": "ODT", "application/vnd.oasis.opendocument.spreadsheet": "ODS",
  "application/epub+zip": "EPUB", "application/xml": "XML", "text/xml": "XML", "application/octet-stream": "Binary",
};

/** As a sentence begins. */
export const begun = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** A word of the interface as people write it: `bank_statement` is "Bank statement". */
export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1).replaceAll("_", " ");

/** Types of office programs, of which there are many: with macros, as templates, as shows. */
const OFFICE: [RegExp, string][] = [
  [/ms-excel|spreadsheetml/, "Excel"], [/ms-word|wordprocessingml/, "Word"], [/ms-powerpoint|presentationml/, "PowerPoint"],
  [/opendocument\.text/, "ODT"], [/opendocument\.spreadsheet/, "ODS"], [/opendocument\.presentation/, "ODP"], [/opendocument\.graphics/, "ODG"],
];
const SORTS: [RegExp, string][] = [[/template/, " template"], [/slideshow/, " show"], [/\.binary\./, " binary"], [/flat-xml/, " flat"], [/macroenabled/i, " with macros"]];

/** A media type as people say it. */
export function typeName(mediaType: string | null | undefined): string {
  if (!mediaType) return "Unknown";
  const known = TYPES[mediaType];
  if (known) return known;
  const office = OFFICE.find(([pattern]) => pattern.test(mediaType));
  if (office) return office[1] + SORTS.filter(([pattern]) => pattern.test(mediaType)).map(([, sort]) => sort).join("");
  const sub = mediaType.split("/")[1] ?? mediaType;
  return shown(sub.replace(/^(x-|vnd\.)/, "").split(/[.+;]/).pop()?.slice(0, 12).toUpperCase() || mediaType);
}

/** Words of the server with long numbers of bytes made short. */
export const humane = (text: string): string => text.replace(/\b(\d{5,}) bytes\b/g, (_, n: string) => bytes(Number(n)));
