import * as wasm from "../../wasm/functions.js";
import { sideModule } from "../wasm/module-instance.js";

/** The module of the functions that need no engine. */
export const { provide, start, isStarted, view, within } = sideModule("functions", wasm);
