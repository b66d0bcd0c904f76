import * as wasm from "../../wasm/analysis.js";
import { refusalInJson, sideModule } from "../wasm/module-instance.js";

/** The module for analysis. */
export const { provide, start, isStarted, view, within } = sideModule("analysis", wasm, refusalInJson);
