import * as wasm from "../../wasm/analysis.js";
import { platform } from "../wasm/platform.js";
import { sideModule } from "../wasm/side-module.js";

let memory: WebAssembly.Memory | undefined;
let bytes: Uint8Array = new Uint8Array(0);

/** The module for analysis. */
export const { provide, start, isStarted, within } = sideModule("analysis", wasm, () => {
  memory = wasm.currentMemory() as WebAssembly.Memory;
  bytes = platform.view(memory.buffer);
});

/** The module's memory, as it is now. */
export function view(): Uint8Array {
  // When memory grows it gets a new buffer, and the old one becomes empty.
  if (bytes.byteLength === 0 && memory !== undefined) {
    bytes = platform.view(memory.buffer);
  }
  return bytes;
}
