// Transpiles the component for JavaScript: `node tools/transpile.mjs`. Writes `component`, which is not part of the package.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transpile } from "@bytecodealliance/jco-transpile";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "component");
const { files } = await transpile(join(root, "../wasm/dist/callgate.component.wasm"), {
  name: "callgate",
  // The host is given when the component is instantiated.
  instantiation: "sync",
});
for (const [name, contents] of Object.entries(files)) {
  const path = join(out, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
}
