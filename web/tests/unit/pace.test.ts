import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Pace } from "../../src/api/pace";

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

it("hands on the first at once and the rest together, each once", () => {
  const seen: string[][] = [];
  const pace = new Pace<string>(1000, (all) => seen.push(all));
  pace.add(["a"]);
  vi.advanceTimersByTime(1);
  pace.add(["b"]);
  pace.add(["c", "b"]);
  vi.advanceTimersByTime(500);
  expect(seen).toEqual([["a"]]);
  vi.advanceTimersByTime(500);
  expect(seen).toEqual([["a"], ["b", "c"]]);
});

it("is silent when nothing comes, and after it was stopped", () => {
  const seen: string[][] = [];
  const pace = new Pace<string>(10, (all) => seen.push(all));
  pace.add([]);
  pace.add(["a"]);
  pace.stop();
  vi.advanceTimersByTime(100);
  expect(seen).toEqual([]);
});
