// Makes JavaScript of the sources, `node tools/bundle.mjs [ENTRY…]`: an entry is one file of its own and one that all share. A
// fresh process spends as long on opening forty files as on everything else in this package's JavaScript. Types are the
// compiler's business, which writes them beside it.
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
// The last is for the tests.
// Each entry stands in the folder itself, and so does what they share: modules are found from the place of the code.
const entries = [
  "node",
  "web",
  "slim",
  "bundle",
  "tools-node",
  "tools-web",
  "mcp",
  "ai",
  "claude",
  "langchain",
  "mastra",
  "openai-agents",
  "command",
  "host/reading",
];
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !entries.includes(name));
if (unknown !== undefined) {
  throw new Error(`\`${unknown}\` is not an entry, expected some of ${entries.join(", ")}`);
}

const names = asked.length === 0 ? entries : asked;
const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)])),
  platform: "neutral",
  tsconfig: join(root, "tsconfig.json"),
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  // The list in `package.json` is of what is written here; it names none of the sources.
  treeshake: { moduleSideEffects: () => true },
  // What is the modules' own stays a file: tests and tools load it as well, and there must be one of it. A framework is the user's.
  external: [/^node:/, "ai", "langchain", /\/wasm\/(callgate|tools)\.js$/],
});
const { output } = await bundle.write({ dir: dist, entryFileNames: "[name].js", chunkFileNames: "shared-[name].js" });
// What an earlier run wrote would load another version of what they share.
const written = new Set(output.map(({ fileName }) => fileName));
const found = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith(".js"));
for (const name of found.filter((name) => !written.has(name))) {
  rmSync(join(dist, name));
}
