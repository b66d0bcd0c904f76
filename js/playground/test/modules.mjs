// Modules of the page, as Node can load them.
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const NODE = new URL("../../dist/node.js", import.meta.url).href;

/** A module of the page by its path in `src`. Where the page uses the package for browsers, Node uses its own. */
export async function load(path) {
  const input = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const bundle = await rolldown({ input, external: ["callgate"], tsconfig: false });
  const { output } = await bundle.generate({ format: "esm" });
  const code = output[0].code.replace('from "callgate"', `from ${JSON.stringify(NODE)}`);
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
