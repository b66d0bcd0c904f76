import type { PreparedArgs } from "../types.js";
import type { Snapshot } from "./arguments.js";
import { define } from "./plain-data.js";
import { platform } from "./platform.js";

/** The position of a string within an argument, and what the string becomes in each view. */
interface Replacement {
  readonly argument: number;
  readonly place: readonly (string | number)[];
  readonly transport: string | undefined;
  readonly policy: string | undefined;
}

/** The changes to a call's arguments, as the module's `wire` writes them. */
interface Prepared {
  readonly replacements: readonly Replacement[];
  /** The keys that replace aliases, by the position of the argument. */
  readonly renamed: ReadonlyMap<number, string>;
}

const UNCHANGED: Prepared = { replacements: [], renamed: new Map() };

/** Reads the changes that the module wrote at `start`. */
export function readPrepared(bytes: Uint8Array, start: number): Prepared {
  if (bytes[start] === 0 && bytes[start + 1] === 0) {
    return UNCHANGED;
  }
  let at = start;
  const byte = (): number => bytes[at++] as number;
  const count = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) {
        return value >>> 0;
      }
    }
  };
  const text = (): string => {
    const length = count();
    at += length;
    return platform.readText(bytes, at - length, at);
  };
  const replacements: Replacement[] = [];
  for (let left = count(); left > 0; left--) {
    const argument = count();
    const place: (string | number)[] = [];
    for (let steps = count(); steps > 0; steps--) {
      place.push(byte() === 0 ? count() : text());
    }
    const views = byte();
    const transport = (views & 1) === 0 ? undefined : text();
    const policy = (views & 2) === 0 ? undefined : text();
    replacements.push({ argument, place, transport, policy });
  }
  const renamed = new Map<number, string>();
  for (let left = count(); left > 0; left--) {
    const argument = count();
    renamed.set(argument, text());
  }
  return { replacements, renamed };
}

/** The arguments in one view, as plain own members. A value that does not change is the caller's own. */
export function viewOf(snapshot: Snapshot, prepared: Prepared, view: "transport" | "policy"): PreparedArgs {
  const { names } = snapshot;
  const { replacements, renamed } = prepared;
  let { values } = snapshot;
  const copies = new Set<unknown>();
  for (const replacement of replacements) {
    const text = replacement[view];
    if (text !== undefined) {
      if (values === snapshot.values) {
        values = values.slice();
      }
      values[replacement.argument] = replaced(values[replacement.argument], replacement.place, 0, text, copies);
    }
  }
  const view_: PreparedArgs = {};
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    define(view_, renamed.size === 0 ? name : (renamed.get(index) ?? name), values[index]);
  }
  return view_;
}

/** The value with a string replaced at a place within it. The objects and arrays on the way are copied, each once. */
function replaced(
  value: unknown,
  place: Replacement["place"],
  depth: number,
  text: string,
  copies: Set<unknown>,
): unknown {
  const step = place[depth];
  if (step === undefined || typeof value !== "object" || value === null) {
    return text;
  }
  const copy = copies.has(value) ? value : copyOf(value);
  copies.add(copy);
  const member = (copy as Record<string | number, unknown>)[step];
  define(copy, step as string, replaced(member, place, depth + 1, text, copies));
  return copy;
}

function copyOf(value: object): object {
  if (Array.isArray(value)) {
    return value.slice();
  }
  const copy = {};
  for (const name of Object.keys(value)) {
    define(copy, name, (value as Record<string, unknown>)[name]);
  }
  return copy;
}
