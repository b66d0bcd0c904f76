import * as wasm from "../wasm/callgate.js";
import type { Ceiling, MutationClass, SideEffectLevel, ToolKind } from "./documents.js";
import { CallgateError } from "./errors.js";
import { checkedText, jsonText } from "./plain.js";
import { within } from "./wasm.js";

/**
 * The narrower of the host's ceiling and one that is requested under it: what it allows, both allow. A ceiling is a
 * value, or a string that is its JSON text.
 *
 * @throws {@link CallgateError} `invalid-document` when one is no ceiling, or the requested one has what the host's has
 * not; the message names each tool, operation and workspace root of it.
 */
export function intersectCeilings(host: Ceiling | string, requested: Ceiling | string): Ceiling {
  const [hostText, requestedText] = [jsonText(host, "host"), jsonText(requested, "requested")];
  return within("invalid-document", () => wasm.intersectCeilings(hostText, requestedText) as Ceiling);
}

/**
 * Whether calls of a tool of that kind may run side by side.
 *
 * @throws {@link CallgateError} `invalid-argument` for an unknown kind.
 */
export function isReadOnly(kind: ToolKind): boolean {
  const name = checkedText(kind, "kind");
  return known(
    within("invalid-argument", () => wasm.isReadOnly(name)),
    name,
  );
}

/**
 * The kind of change that a tool of that kind makes, for telemetry.
 *
 * @throws {@link CallgateError} `invalid-argument` for an unknown kind.
 */
export function mutationClass(kind: ToolKind): MutationClass {
  const name = checkedText(kind, "kind");
  return known(
    within("invalid-argument", () => wasm.mutationClass(name)),
    name,
  ) as MutationClass;
}

function known<T>(found: T | undefined, kind: string): T {
  if (found === undefined) {
    throw new CallgateError("invalid-argument", `\`${kind}\` is no kind of tool`);
  }
  return found;
}

/** The side-effect level of that name; `"none"`, which is unknown, for any other word. */
export function parseSideEffectLevel(name: string): SideEffectLevel {
  const text = checkedText(name, "name");
  return within("invalid-argument", () => wasm.parseSideEffectLevel(text)) as SideEffectLevel;
}

/** 0 for the least invasive level, 4 for the most. */
export function sideEffectRank(level: SideEffectLevel): number {
  const text = checkedText(level, "level");
  return within("invalid-argument", () => wasm.sideEffectRank(text));
}
