import { isStarted, start } from "./tools/module.js";
import { type InitSource, loadingOnce } from "./wasm/source.js";

const load = loadingOnce(start);

/**
 * Loads the module for tools, by default from its place in the package. Everything else in this entry works once the promise
 * is fulfilled. A second call has no effect.
 */
export function init(source: InitSource = new URL("../wasm/tools.wasm", import.meta.url)): Promise<void> {
  return isStarted() ? Promise.resolve() : load(source);
}

export * from "./errors.js";
export { type BundleSource, parseBundle, parseCall, type ReadCall } from "./tools/bundle-text.js";
export { proposeAnnotations } from "./tools/propose.js";
export type * from "./types.js";
export type { InitSource } from "./wasm/source.js";
