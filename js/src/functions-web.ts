import { isStarted, start } from "./functions/module.js";
import { type InitSource, loadingOnce } from "./wasm/source.js";

const load = loadingOnce(start);

/**
 * Loads the module of the functions that need no engine, by default from its place in the package. Those of them that ask a module
 * work once the promise is fulfilled, and they are the same in every entry. A second call has no effect.
 */
export function init(source: InitSource = new URL("../wasm/functions.wasm", import.meta.url)): Promise<void> {
  return isStarted() ? Promise.resolve() : load(source);
}

export * from "./errors.js";
export * from "./functions.js";
export { type Host, HostError, type RealpathFailure, setDefaultHost } from "./host.js";
export type { InitSource } from "./wasm/source.js";
