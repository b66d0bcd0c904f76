import * as bindings from "../../wasm/callgate.js";
import { moduleInstance } from "./module-instance.js";

export type { ModuleSource } from "./module-instance.js";

/** The module of the engine. */
export const { provide, start, isStarted, generation, hasTrapped, view, within } = moduleInstance(bindings, {
  module: "the engine's module",
  init: "`init()`",
});
