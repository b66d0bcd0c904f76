import { type ModuleSource, start } from "./wasm/module.js";

/** Starts the engine's module from its bytes or from a compiled module. A second call has no effect. */
export function initSync(source: ModuleSource): void {
  start(source);
}

/** The same, but does not block while the bytes are compiled. */
export async function init(source: ModuleSource): Promise<void> {
  start(source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source));
}

export * from "./index.js";
