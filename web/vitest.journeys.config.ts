import { defineConfig } from "vitest/config";

// One after the other: each has a server and pages of its own, and the machine is shared.
export default defineConfig({
  test: { include: ["tests/journeys/**/*.test.ts"], fileParallelism: false, testTimeout: 90_000, hookTimeout: 60_000 },
});
