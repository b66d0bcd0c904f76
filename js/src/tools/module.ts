import * as wasm from "../../wasm/tools.js";
import { moduleInstance } from "../wasm/module-instance.js";

/** The module of what programs need beside the engine. */
export const { provide, start, isStarted, view, within } = moduleInstance(wasm, {
  module: "the tools' module",
  init: "`init()` of `callgate/tools`",
});
