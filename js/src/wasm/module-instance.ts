import { CallgateError, type Diagnostic } from "../errors.js";
import { bare } from "../members.js";
import { platform } from "./platform.js";

/** The source that a module can be started from. */
export type ModuleSource = BufferSource | WebAssembly.Module;

/** A module, which is loaded when it is first needed and replaced after it broke. */
interface ModuleInstance {
  /** Sets where the module comes from when it is first needed. */
  provide(source: () => ModuleSource): void;
  /** Starts the module. A second call has no effect. */
  start(source: ModuleSource): void;
  /** Returns `true` if the module is started. */
  isStarted(): boolean;
  /** The number of the current instance; 0 before there is one. */
  generation(): number;
  /** Returns `true` if the current instance trapped: its answers can no longer be trusted. */
  hasTrapped(): boolean;
  /** The module's memory, as it is now. */
  view(): Uint8Array;
  /**
   * Calls the module, and turns what it throws into the package's error.
   *
   * @throws {@link CallgateError} `not-ready` if it is not loaded, `code` if it refuses, `engine-fault` if it breaks.
   */
  within<T>(code: CallgateError["code"], call: () => T): T;
}

/** The functions that wasm-bindgen writes for every module, and the memory of one that reads what the package writes there. */
interface Bindings {
  initSync(module: { module: ModuleSource }): unknown;
  __wbg_reset_state(): void;
  currentMemory?(): unknown;
}

/** The names that messages have for a module, and for the function that loads it. */
interface Names {
  readonly module: string;
  readonly init: string;
}

/** A value that a module throws on purpose. */
interface Refusal {
  readonly message: string;
  readonly diagnostics?: readonly Diagnostic[];
}

/** A module, not yet loaded. */
export function moduleInstance(bindings: Bindings, names: Names): ModuleInstance {
  let load: (() => ModuleSource) | undefined;
  let memory: WebAssembly.Memory | undefined;
  let bytes: Uint8Array = new Uint8Array(0);
  let generation = 0;
  /** How many calls into the module are on the stack. */
  let depth = 0;
  let isBroken = false;

  const renewed = (): void => {
    memory = bindings.currentMemory?.() as WebAssembly.Memory | undefined;
    bytes = memory === undefined ? bytes : platform.view(memory.buffer);
    generation += 1;
  };
  const start = (source: ModuleSource): void => {
    if (generation === 0) {
      bindings.initSync({ module: source });
      renewed();
    }
  };
  /** Begins a call into the module. A broken instance is replaced once nothing of it is on the stack. */
  const enter = (): void => {
    if (generation === 0) {
      if (load === undefined) {
        throw new CallgateError("not-ready", `the module is not loaded; await ${names.init} first`);
      }
      start(load());
    }
    if (isBroken && depth === 0) {
      isBroken = false;
      bindings.__wbg_reset_state();
      renewed();
    }
    depth += 1;
  };
  /** The refusal, if this is one; anything else that is thrown is a trap. */
  const refusalOf = (thrown: unknown): Refusal | undefined => {
    if (typeof thrown === "string") {
      return { message: thrown };
    }
    if (
      typeof thrown === "object" &&
      thrown !== null &&
      !(thrown instanceof Error) &&
      Object.hasOwn(thrown, "message")
    ) {
      return bare(thrown as Refusal);
    }
    return undefined;
  };

  return {
    provide: (source) => {
      load ??= source;
    },
    start,
    isStarted: () => generation !== 0,
    generation: () => generation,
    hasTrapped: () => isBroken,
    view: () => {
      // When memory grows it gets a new buffer, and the old one becomes empty.
      if (bytes.byteLength === 0 && memory !== undefined) {
        bytes = platform.view(memory.buffer);
      }
      return bytes;
    },
    within: (code, call) => {
      enter();
      try {
        const result = call();
        if (isBroken) {
          throw new CallgateError("engine-fault", `${names.module} broke`);
        }
        return result;
      } catch (thrown) {
        if (thrown instanceof CallgateError) {
          throw thrown;
        }
        const refusal = refusalOf(thrown);
        if (refusal === undefined) {
          isBroken = true;
          throw new CallgateError("engine-fault", `${names.module} broke: ${String(thrown)}`);
        }
        throw new CallgateError(code, refusal.message, refusal.diagnostics ?? []);
      } finally {
        depth -= 1;
      }
    },
  };
}
