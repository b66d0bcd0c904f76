import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  // The folder may be put anywhere, so every address in it is relative.
  base: "./",
  resolve: {
    // The page uses what a program in a browser gets.
    alias: [
      { find: /^callgate$/, replacement: here("../dist/web.js") },
      { find: /^callgate\/tools$/, replacement: here("../dist/tools-web.js") },
    ],
  },
  worker: { format: "es" },
  build: {
    outDir: here("dist"),
    emptyOutDir: true,
    target: "es2022",
    // Inline data would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { fs: { allow: [here("../..")] } },
});
