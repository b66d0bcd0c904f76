import * as wasm from "../../wasm/tools.js";
import { sideModule } from "../wasm/side-module.js";

/** The module for tools. */
export const { provide, start, isStarted, within } = sideModule("tools", wasm);
