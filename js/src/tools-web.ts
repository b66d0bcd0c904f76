import { isStarted, start } from "./tools/module.js";
import { type InitSource, loadingOnce } from "./wasm/source.js";

const load = loadingOnce(start);

/**
 * Loads the tools' module, by default from its place in the package. Everything in this entry works once the promise is fulfilled, and
 * so do the functions of other entries that need no engine. A second call has no effect.
 */
export function init(source: InitSource = new URL("../wasm/tools.wasm", import.meta.url)): Promise<void> {
  return isStarted() ? Promise.resolve() : load(source);
}

export * from "./tools.js";
export type { InitSource } from "./wasm/source.js";
