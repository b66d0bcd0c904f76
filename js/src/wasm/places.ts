import { CallgateError } from "../errors.js";
import { members, reading } from "../members.js";
import type { CallContext, Enforcement, Reply, Resolution, VisibilityRef } from "../types.js";
import { contextText } from "./calls.js";
import { ask, type WasmHandle } from "./handle.js";
import { isWellFormed } from "./text.js";

/** Resolves an address of the world. */
export function resolve(handle: WasmHandle, address: string, requireExists: boolean, context: CallContext): Resolution {
  const text = contextText(context);
  checkText(address, "the address");
  return ask(handle, "invalid-argument", ({ engine, references }) => {
    const [reply, reference] = known<[Reply, number | null]>(engine.resolve(address, requireExists, text));
    if (reference === null) {
      return { reply, ref: undefined };
    }
    const ref = Object.freeze({}) as VisibilityRef;
    references.set(ref, reference);
    return { reply, ref };
  });
}

/** The host path that a reference stands for. */
export function hostPath(handle: WasmHandle, ref: VisibilityRef): string | undefined {
  return ask(handle, "invalid-argument", ({ engine, references }) => {
    const number = references.get(ref);
    return number === undefined ? undefined : engine.hostPath(number);
  });
}

/** Revokes a reference, or all of them if none is given; returns `true` if the reference was valid. */
export function revoke(handle: WasmHandle, ref: VisibilityRef | undefined): boolean {
  return ask(handle, "invalid-argument", ({ engine, references }) => {
    const number = ref === undefined ? undefined : references.get(ref);
    return ref !== undefined && number === undefined ? false : engine.revoke(number);
  });
}

/** The reply that allows or refuses an operation at a place of the world. */
export function enforce(handle: WasmHandle, operation: Enforcement): Reply {
  return reading("operation", () => enforced(handle, operation));
}

function enforced(handle: WasmHandle, operation: Enforcement): Reply {
  if (typeof operation !== "object" || operation === null) {
    throw new CallgateError("invalid-argument", "the operation is not an object");
  }
  const { mode, tool, command, root, subdirectory, address, context } = members(operation, OPERATION) as Enforcement;
  for (const text of [mode ?? "", tool, command, root, subdirectory ?? "", address ?? ""]) {
    checkText(text, "the operation");
  }
  const text = contextText(context ?? {});
  return ask(handle, "invalid-argument", ({ engine }) =>
    known(engine.enforce(mode, tool, command, root, subdirectory ?? undefined, address, text)),
  );
}

const OPERATION = ["mode", "tool", "command", "root", "subdirectory", "address", "context"] as const;

function checkText(text: unknown, what: string): void {
  if (typeof text !== "string" || !isWellFormed(text)) {
    throw new CallgateError("invalid-argument", `${what} is not a well-formed string`);
  }
}

/** Returns the module's answer, which is `undefined` if the engine has no world. */
function known<T>(answer: unknown): T {
  if (answer === undefined) {
    throw new CallgateError("invalid-argument", "the engine has no world");
  }
  return answer as T;
}
