import { isStarted, type ModuleSource, start } from "./wasm/module.js";

/** What the engine's module is loaded from: its address, a download, its bytes, or a compiled module. */
export type InitSource = ModuleSource | Response | URL | string | Promise<ModuleSource | Response>;

let starting: Promise<void> | undefined;

/**
 * Loads the engine's module, by default from its place in the package. Everything else in this package works once the
 * promise is fulfilled. A second call has no effect.
 */
export function init(source: InitSource = new URL("../wasm/callgate.wasm", import.meta.url)): Promise<void> {
  if (isStarted()) {
    return Promise.resolve();
  }
  starting ??= load(source).catch((thrown: unknown) => {
    starting = undefined;
    throw thrown;
  });
  return starting;
}

async function load(source: InitSource): Promise<void> {
  const given = typeof source === "string" || source instanceof URL ? await fetch(source) : await source;
  if (!(given instanceof Response)) {
    start(given instanceof WebAssembly.Module ? given : await WebAssembly.compile(given));
    return;
  }
  if (!given.ok) {
    throw new Error(`\`${given.url}\` cannot be loaded: status ${given.status}`);
  }
  // Streaming requires this type, and some servers send another one.
  const streams = given.headers.get("content-type") === "application/wasm";
  start(await (streams ? WebAssembly.compileStreaming(given) : WebAssembly.compile(await given.arrayBuffer())));
}

export * from "./index.js";
