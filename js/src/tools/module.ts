import { initSync, __wbg_reset_state as resetState } from "../../wasm/tools.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import type { ModuleSource } from "../wasm/module.js";

let load: (() => ModuleSource) | undefined;
let hasStarted = false;

/** Sets where the module for tools comes from when it is first needed. */
export function provide(source: () => ModuleSource): void {
  load ??= source;
}

/** Starts the module for tools. A second call has no effect. */
export function start(source: ModuleSource): void {
  if (!hasStarted) {
    initSync({ module: source });
    hasStarted = true;
  }
}

/** Returns `true` if the module for tools is started. */
export function isStarted(): boolean {
  return hasStarted;
}

/**
 * Calls the module for tools, and turns what it throws into the package's error.
 *
 * @throws {@link CallgateError} `not-ready` if it is not loaded, `code` if it refuses, `engine-fault` if it breaks.
 */
export function within<T>(code: CallgateError["code"], call: () => T): T {
  if (!hasStarted) {
    if (load === undefined) {
      throw new CallgateError("not-ready", "the module is not loaded; await `init()` of `callgate/tools` first");
    }
    start(load());
  }
  try {
    return call();
  } catch (thrown) {
    if (typeof thrown === "string") {
      const { message, diagnostics } = JSON.parse(thrown) as { message: string; diagnostics: Diagnostic[] };
      throw new CallgateError(code, message, diagnostics);
    }
    // The module broke; the next call gets a new instance.
    resetState();
    throw new CallgateError("engine-fault", `the module for tools broke: ${String(thrown)}`);
  }
}
