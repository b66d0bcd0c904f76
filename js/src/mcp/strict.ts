// What two parsers could read differently: it is never passed on to the server.
//
// For a program in C a NUL ends a name, and other control characters are trimmed or dropped by some. So a name with one of them is
// no name that two programs are certain to read alike.
import { isWellFormed } from "../wasm/text.js";

type Members = Readonly<Record<string, unknown>>;

/** How deep objects and arrays may be nested. */
const DEPTH = 127;

/** A name as a parser that ignores case compares it, with the letters that Unicode folds to ASCII ones. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Why programs may read a name differently: it has a control character. */
export function unclearName(name: string): string | undefined {
  return /\p{Cc}/u.test(name) ? `the name ${JSON.stringify(name)} has a control character` : undefined;
}

/**
 * Why a member of an object may be taken for another one: its name has a control character, or differs in case alone from one of
 * these.
 */
export function misnamed(members: Members, names: readonly string[]): string | undefined {
  for (const name of Object.keys(members)) {
    const unclear = unclearName(name);
    if (unclear !== undefined) {
      return unclear;
    }
    const known = names.find((one) => one !== name && folded(one) === folded(name));
    if (known !== undefined) {
      return `the member \`${name}\`, expected \`${known}\``;
    }
  }
  return undefined;
}

/** Which names an object may have; in JavaScript none is there twice. */
export type Names =
  /** Any. */
  | "exact"
  /** No two that differ in case alone. */
  | "unlike"
  /** Nor one with a control character. */
  | "plain";

/**
 * Why programs may read a value differently once it is JSON text. What was found to be unambiguous at a depth is not looked at
 * again unless it stands deeper: a value may hold another one twice, which does so in turn.
 */
export function ambiguity(
  value: unknown,
  names: Names,
  depth = 0,
  known = new Map<object, number>(),
): string | undefined {
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
  const seen = new Set<string>();
  for (const name of Object.keys(value)) {
    if (!isWellFormed(name)) {
      return "a lone surrogate in a name";
    }
    const unclear = names === "plain" ? unclearName(name) : undefined;
    if (unclear !== undefined) {
      return unclear;
    }
    if (names !== "exact" && seen.size === seen.add(folded(name)).size) {
      return `the name \`${name}\` occurs in two spellings that differ in case alone`;
    }
    const member = Object.getOwnPropertyDescriptor(value, name);
    if (member?.get !== undefined) {
      return `the accessor \`${name}\`, expected data`;
    }
    if (name === "toJSON" && typeof member?.value === "function") {
      return "a `toJSON`, expected data";
    }
    const found = ambiguity(member?.value, names, depth + 1, known);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
