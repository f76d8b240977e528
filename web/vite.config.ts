import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npm run dev` shows the sources; everything it asks for comes from a docmill that serves here. */
const server = process.env["DOCMILL_URL"] ?? "http://127.0.0.1:8420";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // The policy of the server allows no inline content, so nothing may become a data URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"].map((path) => [path, { target: server }]),
    ),
  },
});
