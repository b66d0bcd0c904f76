import { isStarted, type ModuleSource, start } from "./wasm/module.js";

/** What the engine's module is made of: where it is, what was downloaded, its bytes, or the module itself. */
export type InitSource = ModuleSource | Response | URL | string | Promise<ModuleSource | Response>;

let starting: Promise<void> | undefined;

/**
 * Loads the engine's module, by default from beside this file. Everything else in this package works once this is
 * done; a second time is without effect.
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
  // Some servers send another type, which streaming does not take.
  const streams = given.headers.get("content-type") === "application/wasm";
  start(await (streams ? WebAssembly.compileStreaming(given) : WebAssembly.compile(await given.arrayBuffer())));
}

export * from "./index.js";
