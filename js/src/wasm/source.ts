import type { ModuleSource } from "./module.js";

/** The source that a module is loaded from: its address, a download, its bytes, or a compiled module. */
export type InitSource = ModuleSource | Response | URL | string | Promise<ModuleSource | Response>;

/** Loads and compiles a module; while it downloads, if possible. */
export async function compiled(source: InitSource): Promise<WebAssembly.Module> {
  const given = typeof source === "string" || source instanceof URL ? await fetch(source) : await source;
  if (!(given instanceof Response)) {
    return given instanceof WebAssembly.Module ? given : await WebAssembly.compile(given);
  }
  if (!given.ok) {
    throw new Error(`\`${given.url}\` cannot be loaded: status ${given.status}`);
  }
  // Streaming requires this type, and some servers send another one.
  const streams = given.headers.get("content-type") === "application/wasm";
  return await (streams ? WebAssembly.compileStreaming(given) : WebAssembly.compile(await given.arrayBuffer()));
}

/** Loads a module once, however often it is asked to, unless loading fails. */
export function loadingOnce(start: (module: WebAssembly.Module) => void): (source: InitSource) => Promise<void> {
  let starting: Promise<void> | undefined;
  return (source) => {
    starting ??= compiled(source)
      .then(start)
      .catch((thrown: unknown) => {
        starting = undefined;
        throw thrown;
      });
    return starting;
  };
}
