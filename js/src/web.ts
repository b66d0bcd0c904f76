import { isStarted, start } from "./wasm/module.js";
import { type InitSource, loadingOnce } from "./wasm/source.js";

const load = loadingOnce(start);

/**
 * Loads the engine's module, by default from its place in the package. Everything else in this package works once the
 * promise is fulfilled. A second call has no effect.
 */
export function init(source: InitSource = new URL("../wasm/callgate.wasm", import.meta.url)): Promise<void> {
  return isStarted() ? Promise.resolve() : load(source);
}

export * from "./index.js";
export type { InitSource } from "./wasm/source.js";
