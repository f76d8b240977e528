import { describe, expect, it } from "vitest";
import { bytes, counted, duration, exact, pathParts, percent, rate, relative, shown, typeName } from "../../src/ui/format";

describe("format", () => {
  it("gives sizes in the unit people use", () => {
    expect([0, 999, 1000, 1234, 98_765, 999_600, 2_500_000_000].map(bytes)).toEqual(["0 B", "999 B", "1.0 kB", "1.2 kB", "99 kB", "1.0 MB", "2.5 GB"]);
  });

  it("never calls something finished that is not", () => {
    expect(percent(999, 1000)).toBe("99 %");
    expect(percent(1000, 1000)).toBe("100 %");
    expect(percent(0, 0)).toBe("0 %");
  });

  it("says how long ago in words, and a date beyond a week", () => {
    const now = Date.parse("2026-11-17T12:00:00Z");
    const ago = (s: number) => relative(new Date(now - s * 1000).toISOString(), now);
    expect([2, 40, 150, 7300, 200_000].map(ago)).toEqual(["just now", "40 s ago", "2 min ago", "2 h ago", "2 d ago"]);
    expect(ago(-30)).toBe("in 30 s");
    expect(ago(30 * 86_400)).toBe("18 Oct");
    expect(ago(600 * 86_400)).toContain("2025");
  });

  it("says whose clock an exact time is by", () => {
    expect(exact("2026-11-17T06:48:11Z")).toMatch(/^1[678] Nov 2026, \d\d:\d\d:11 \S+/);
  });

  it("gives durations and rates with units", () => {
    expect([12, 2400, 61_000, 7_500_000].map(duration)).toEqual(["12 ms", "2.4 s", "1 min 1 s", "2 h 5 min"]);
    expect([0, 0.25, 12.4, 1234].map(rate)).toEqual(["0", "0.3", "12", "1,234"]);
  });

  it("tells the many types of office programs apart", () => {
    expect([
      "application/vnd.ms-excel.sheet.macroEnabled.12", "application/vnd.ms-excel.sheet.binary.macroEnabled.12", "application/vnd.ms-word.template.macroEnabled.12",
      "application/vnd.openxmlformats-officedocument.presentationml.slideshow", "application/vnd.oasis.opendocument.text-flat-xml", "application/msword",
    ].map(typeName)).toEqual(["Excel with macros", "Excel binary with macros", "Word template with macros", "PowerPoint show", "ODT flat", "Word"]);
  });

  it("counts one and many", () => {
    expect(counted(1, "document")).toBe("1 document");
    expect(counted(1200, "document")).toBe("1,200 documents");
    expect(counted(2, "try", "tries")).toBe("2 tries");
  });

  it("shows what hides in a name", () => {
    expect(shown("invoice\u202efdp.exe\u0000")).toBe("invoice\ufffdfdp.exe\ufffd");
    expect(shown("Grüße 日本.pdf")).toBe("Grüße 日本.pdf");
  });

  it("parts a path into folder and file", () => {
    expect(pathParts("a/b/c.pdf")).toEqual({ folder: "a/b", file: "c.pdf" });
    expect(pathParts("c.pdf")).toEqual({ folder: "", file: "c.pdf" });
  });

  it("names types, also those it does not know", () => {
    expect(typeName("application/pdf")).toBe("PDF");
    expect(typeName("application/vnd.foo.bar")).toBe("BAR");
    expect(typeName(null)).toBe("Unknown");
  });
});
