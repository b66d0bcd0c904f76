import { CallgateError, type Diagnostic } from "../errors.js";
import type { ModuleSource } from "./module.js";

/** A module beside the engine's, which is loaded when it is first needed. What it throws on purpose is JSON text. */
interface SideModule {
  /** Sets where the module comes from when it is first needed. */
  provide(source: () => ModuleSource): void;
  /** Starts the module. A second call has no effect. */
  start(source: ModuleSource): void;
  /** Returns `true` if the module is started. */
  isStarted(): boolean;
  /**
   * Calls the module, and turns what it throws into the package's error.
   *
   * @throws {@link CallgateError} `not-ready` if it is not loaded, `code` if it refuses, `engine-fault` if it breaks.
   */
  within<T>(code: CallgateError["code"], call: () => T): T;
}

/** The functions that wasm-bindgen writes for every module. */
interface Bindings {
  initSync(module: { module: ModuleSource }): unknown;
  __wbg_reset_state(): void;
}

/** The module of the entry with this name. `renewed` is called with every new instance. */
export function sideModule(name: string, bindings: Bindings, renewed: () => void = () => undefined): SideModule {
  let load: (() => ModuleSource) | undefined;
  let hasStarted = false;
  const start = (source: ModuleSource): void => {
    if (!hasStarted) {
      bindings.initSync({ module: source });
      hasStarted = true;
      renewed();
    }
  };
  return {
    provide: (source) => {
      load ??= source;
    },
    start,
    isStarted: () => hasStarted,
    within: (code, call) => {
      if (!hasStarted) {
        if (load === undefined) {
          throw new CallgateError(
            "not-ready",
            `the module is not loaded; await \`init()\` of \`callgate/${name}\` first`,
          );
        }
        start(load());
      }
      try {
        return call();
      } catch (thrown) {
        if (thrown instanceof CallgateError) {
          throw thrown;
        }
        if (typeof thrown === "string") {
          const { message, diagnostics } = JSON.parse(thrown) as { message: string; diagnostics: Diagnostic[] };
          throw new CallgateError(code, message, diagnostics);
        }
        // The module broke; the next call gets a new instance.
        bindings.__wbg_reset_state();
        renewed();
        throw new CallgateError("engine-fault", `the module for ${name} broke: ${String(thrown)}`);
      }
    },
  };
}
