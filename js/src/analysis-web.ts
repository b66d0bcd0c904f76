import { isStarted, start } from "./analysis/module.js";
import { type InitSource, loadingOnce } from "./wasm/source.js";

const load = loadingOnce(start);

/**
 * Loads the module for analysis, by default from its place in the package. Everything else in this entry works once the promise
 * is fulfilled. A second call has no effect.
 */
export function init(source: InitSource = new URL("../wasm/analysis.wasm", import.meta.url)): Promise<void> {
  return isStarted() ? Promise.resolve() : load(source);
}

export {
  check,
  type DiffOptions,
  diff,
  type LookOptions,
  lint,
  type MapOptions,
  map,
  type RegionsOptions,
  regions,
} from "./analysis/policy.js";
export * from "./errors.js";
export type * from "./types.js";
export type { InitSource } from "./wasm/source.js";
