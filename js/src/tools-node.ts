import { readFileSync } from "node:fs";
import { provide } from "./tools/module.js";

provide(() => readFileSync(new URL("../wasm/tools.wasm", import.meta.url)));

/** Does nothing: in Node the module for tools is loaded when needed. It lets code for browsers run unchanged. */
export function init(): Promise<void> {
  return Promise.resolve();
}

export * from "./errors.js";
export { type BundleSource, parseBundle, parseCall, type ReadCall } from "./tools/bundle-text.js";
export { proposeAnnotations } from "./tools/propose.js";
export type * from "./types.js";
