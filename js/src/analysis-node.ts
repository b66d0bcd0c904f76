import { readFileSync } from "node:fs";
import { provide } from "./analysis/module.js";
// This machine is the default host here too.
import "./node.js";

provide(() => readFileSync(new URL("../wasm/analysis.wasm", import.meta.url)));

/** Does nothing: in Node the module for analysis is loaded when needed. It lets code for browsers run unchanged. */
export function init(): Promise<void> {
  return Promise.resolve();
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
