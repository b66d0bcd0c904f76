import { currentMemory, initSync, __wbg_reset_state as resetState } from "../../wasm/callgate.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { platform } from "./platform.js";

/** The source that the module can be started from. */
export type ModuleSource = BufferSource | WebAssembly.Module;

let load: (() => ModuleSource) | undefined;
let memory: WebAssembly.Memory | undefined;
let bytes: Uint8Array = new Uint8Array(0);

/** The number of the current instance of the module; 0 before there is one. */
export let generation = 0;

/** How many calls into the module are on the stack. */
let depth = 0;
/** `true` once the current instance trapped: its answers can no longer be trusted. */
let isBroken = false;

/** Sets where the module comes from when it is first needed. */
export function provide(source: () => ModuleSource): void {
  load ??= source;
}

/** Starts the module. A second call has no effect. */
export function start(source: ModuleSource): void {
  if (generation === 0) {
    initSync({ module: source });
    renewed();
  }
}

/** Returns `true` if the module is started. */
export function isStarted(): boolean {
  return generation !== 0;
}

function renewed(): void {
  memory = currentMemory() as WebAssembly.Memory;
  bytes = platform.view(memory.buffer);
  generation += 1;
}

/**
 * Begins a call into the module. A broken instance is replaced once nothing of it is on the stack.
 *
 * @throws {@link CallgateError} `not-ready` if the module is not loaded.
 */
function enter(): void {
  if (generation === 0) {
    if (load === undefined) {
      throw new CallgateError("not-ready", "the module is not loaded; await `init()` first");
    }
    start(load());
  }
  if (isBroken && depth === 0) {
    isBroken = false;
    resetState();
    renewed();
  }
  depth += 1;
}

/** Returns `true` if the current instance trapped. */
export function hasTrapped(): boolean {
  return isBroken;
}

/** The module's memory, as it is now. */
export function view(): Uint8Array {
  // When memory grows it gets a new buffer, and the old one becomes empty.
  if (bytes.byteLength === 0 && memory !== undefined) {
    bytes = platform.view(memory.buffer);
  }
  return bytes;
}

/** A value that the module throws on purpose: a message, or a message with diagnostics. */
interface Refusal {
  readonly message: string;
  readonly diagnostics?: readonly Diagnostic[];
}

/** The refusal, if this is one; anything else that is thrown is a trap. */
function refusalOf(thrown: unknown): Refusal | undefined {
  if (typeof thrown === "string") {
    return { message: thrown };
  }
  if (typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "message" in thrown) {
    return thrown as Refusal;
  }
  return undefined;
}

/**
 * Calls the module, and turns what it throws into the package's error.
 *
 * @throws {@link CallgateError} with `code` if the module refuses, `engine-fault` if it breaks.
 */
export function within<T>(code: CallgateError["code"], call: () => T): T {
  enter();
  try {
    const result = call();
    if (isBroken) {
      throw new CallgateError("engine-fault", "the engine's module broke");
    }
    return result;
  } catch (thrown) {
    if (thrown instanceof CallgateError) {
      throw thrown;
    }
    const refusal = refusalOf(thrown);
    if (refusal === undefined) {
      isBroken = true;
      throw new CallgateError("engine-fault", `the engine's module broke: ${String(thrown)}`);
    }
    throw new CallgateError(code, refusal.message, refusal.diagnostics ?? []);
  } finally {
    depth -= 1;
  }
}
