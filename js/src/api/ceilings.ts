import * as wasm from "../../wasm/tools.js";
import { CallgateError } from "../errors.js";
import { within } from "../tools/module.js";
import type { Ceiling, MutationClass, SideEffectLevel, ToolKind } from "../types.js";
import { jsonText } from "./json.js";
import { askOf } from "./plain.js";

/**
 * The intersection of the host's ceiling and a requested one: it allows what both allow. A ceiling is a value, or its
 * JSON text.
 *
 * @throws {@link CallgateError} `invalid-document` if either is not a ceiling, or if the requested one exceeds the
 * host's; the message names every tool, operation and workspace root that does.
 */
export function intersectCeilings(host: Ceiling | string, requested: Ceiling | string): Ceiling {
  const [hostText, requestedText] = [jsonText(host, "host"), jsonText(requested, "requested")];
  return within("invalid-document", () => wasm.intersectCeilings(hostText, requestedText) as Ceiling);
}

/**
 * Returns `true` if calls of a tool of this kind may run at the same time.
 *
 * @throws {@link CallgateError} `invalid-argument` for an unknown kind.
 */
export function isReadOnly(kind: ToolKind): boolean {
  return ofKind(kind, wasm.isReadOnly);
}

/**
 * The kind of change that a tool of this kind makes, for telemetry.
 *
 * @throws {@link CallgateError} `invalid-argument` for an unknown kind.
 */
export function mutationClass(kind: ToolKind): MutationClass {
  return ofKind(kind, wasm.mutationClass) as MutationClass;
}

function ofKind<T>(kind: string, ask: (name: string) => T | undefined): T {
  const found = askOf(kind, "kind", ask);
  if (found === undefined) {
    throw new CallgateError("invalid-argument", `\`${kind}\` is not a kind of tool`);
  }
  return found;
}

/** The side-effect level with this name; `"none"`, which means unknown, for any other word. */
export function parseSideEffectLevel(name: string): SideEffectLevel {
  return askOf(name, "name", wasm.parseSideEffectLevel) as SideEffectLevel;
}

/** 0 for the least invasive level, 4 for the most. */
export function sideEffectRank(level: SideEffectLevel): number {
  return askOf(level, "level", wasm.sideEffectRank);
}
