// Modules of the page, as Node can load them.
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** A module of the page by its path in `src`. */
export async function load(path) {
  const input = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
