import * as wasm from "../../wasm/tools.js";
import { refusalInJson, sideModule } from "../wasm/module-instance.js";

/** The module for tools. */
export const { provide, start, isStarted, within } = sideModule("tools", wasm, refusalInJson);
