// Joins the modules that the compiler wrote into `dist`: an entry is then one file of its own and one that all share. A fresh
// process spends as long on opening forty files as on everything else in this package's JavaScript.
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist");
// The last is for the tests.
// Each entry stands in the folder itself, and so does what they share: modules are found from the place of the code.
const entries = [
  "node",
  "web",
  "slim",
  "bundle",
  "tools-node",
  "tools-web",
  "analysis-node",
  "analysis-web",
  "mcp",
  "command",
  "host/reading",
];
const compiled = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith(".js"));

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, join(dist, `${name}.js`)])),
  platform: "neutral",
  // The module's own part stays a file: tests and tools load it as well, and there must be one of it.
  external: [/^node:/, /\/wasm\/callgate\.js$/],
});
const { output } = await bundle.write({ dir: dist, entryFileNames: "[name].js", chunkFileNames: "shared-[name].js" });
const written = new Set(output.map(({ fileName }) => fileName));
for (const name of compiled.filter((name) => !written.has(name))) {
  rmSync(join(dist, name));
}
