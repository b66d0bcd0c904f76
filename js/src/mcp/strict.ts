// What two parsers could read differently: it is never passed on to the server.
import { isWellFormed } from "../wasm/text.js";

type Members = Readonly<Record<string, unknown>>;

/** How deep objects and arrays may be nested. */
const DEPTH = 127;

/** A name as a parser that ignores case compares it, with the letters that Unicode folds to ASCII ones. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Why a member of an object may be taken for one of these, from which its name differs in case alone. */
export function misnamed(members: Members, names: readonly string[]): string | undefined {
  for (const name of Object.keys(members)) {
    const known = names.find((one) => one !== name && folded(one) === folded(name));
    if (known !== undefined) {
      return `the member \`${name}\`, expected \`${known}\``;
    }
  }
  return undefined;
}

/**
 * Why programs may read a value differently once it is JSON text. What was found to be unambiguous at a depth is not looked at
 * again unless it stands deeper: a value may hold another one twice, which does so in turn.
 */
export function ambiguity(value: unknown, depth = 0, known = new Map<object, number>()): string | undefined {
  if (typeof value === "string") {
    return isWellFormed(value) ? undefined : "a lone surrogate in a string";
  }
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : `the number ${value}, which JSON does not have`;
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  if (depth >= DEPTH) {
    return `more than ${DEPTH} levels of arrays and objects`;
  }
  if (depth <= (known.get(value) ?? -1)) {
    return undefined;
  }
  known.set(value, depth);
  const names = new Set<string>();
  for (const name of Object.keys(value)) {
    if (!isWellFormed(name)) {
      return "a lone surrogate in a name";
    }
    if (names.size === names.add(folded(name)).size) {
      return `the name \`${name}\` occurs in two spellings that differ in case alone`;
    }
    const member = Object.getOwnPropertyDescriptor(value, name);
    if (member?.get !== undefined) {
      return `the accessor \`${name}\`, expected data`;
    }
    const found = ambiguity(member?.value, depth + 1, known);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
