// The boundary to the engine's module. `writer.ts` and `arguments.ts` write a call into the module's memory, `prepared.ts` reads what
// changed, `bridge.ts` answers what the engine asks; `wasm/boundary` and `wasm/src/js` are the other side.
//
// The layout of bytes is there for two budgets, which JSON text would not hold: in Node, `gate` takes at most 3.5 µs where no path is
// judged, and at most a millisecond where an argument that no role names is 10 MB long.
import * as bindings from "../../wasm/callgate.js";
import { moduleInstance } from "./module-instance.js";

export type { ModuleSource } from "./module-instance.js";

/** The module of the engine. */
export const { provide, start, isStarted, generation, hasTrapped, view, within } = moduleInstance(bindings, {
  module: "the engine's module",
  init: "`init()`",
});
