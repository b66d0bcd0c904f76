import type { Verdict } from "./documents.js";
import { platform } from "./platform.js";
import { Unit } from "./text.js";
import { isPlain, originOf, type VerdictCache } from "./verdict-cache.js";
import { Tag, type Writer } from "./writer.js";

/** What a judgement may look at in the arguments of one tool. */
export interface Interest {
  /** Whether the value of a member may matter, by its name. */
  readonly members: ReadonlyMap<string, boolean>;
  /** Whether the values of all other members may matter. */
  readonly others: boolean;
  /** Whether what looks like a path matters under any name. */
  readonly pathLike: boolean;
  /** What the module knows by those names, so that they need not be written; `undefined` where it knows nothing. */
  readonly shapeOf?: (names: readonly string[]) => Shape | undefined;
}

/** Names of members in one order, which the module knows by a number. */
export interface Shape {
  readonly number: number;
  readonly names: readonly string[];
  /** For each whether its value may matter. */
  readonly matters: readonly boolean[];
  /** The member by whose origin the verdicts of plain calls vary; -1 for none, `undefined` where by each value. */
  readonly origin: number | undefined;
  readonly cache: VerdictCache;
}

/** The members that were read, in order, each read once. */
export interface Snapshot {
  names: readonly string[];
  values: unknown[];
  /** Where its verdict is cached, or may be. */
  cached?: Cached;
}

/** A call that has a key in a cache. */
export interface Cached {
  readonly cache: VerdictCache;
  readonly key: string;
  /** The verdict of all calls with that key, once it is known. Then nothing was written. */
  readonly verdict: Verdict | undefined;
}

/**
 * What arguments are read for:
 * - `recall`: the same as `evaluate`, and where the verdict is known already nothing is written.
 * - `evaluate`: the caller goes on with its own object, so nothing in it may answer otherwise the next time.
 * - `gate`: the caller goes on with what was read.
 * - `prepare`: the same, and nothing is judged: what cannot be read stays as it is.
 */
export type Purpose = "recall" | "evaluate" | "gate" | "prepare";

/** Nested deeper than any engine may be told to look. */
const DEEPEST = 128;
/** More items than any limit lets pass; a sparse array can claim four billion without having them. */
const MOST_ITEMS = 1_000_000;

// Taken before anybody can replace them.
const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, prototype } = Object;
const { isArray } = Array;

/** Why arguments cannot be read at all. */
class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Writes a call's arguments, as far as a judgement may look at them, and gives what was read of each member. */
export function writeArguments(writer: Writer, given: unknown, interest: Interest, purpose: Purpose): Snapshot {
  const snapshot: Snapshot = { names: [], values: [] };
  if (given === undefined) {
    writer.byte(0);
    writer.byte(0);
  } else if (typeof given !== "object" || given === null || isArray(given)) {
    writer.taggedText(1, sampleOf(given));
  } else {
    const mark = writer.length;
    try {
      writeMembers(writer, given, interest, purpose, snapshot);
    } catch (thrown) {
      writer.rewind(mark);
      if (purpose === "prepare") {
        writer.byte(0);
        writer.byte(0);
        return snapshotOf(given);
      }
      // A trap of a Proxy may throw anything; arguments that cannot be read are denied.
      writer.taggedText(2, thrown instanceof Unreadable ? thrown.why : "reading `arguments` failed");
      return { names: [], values: [] };
    }
  }
  return snapshot;
}

function snapshotOf(given: object): Snapshot {
  const names = getOwnPropertyNames(given);
  return { names, values: names.map((name) => (given as Record<string, unknown>)[name]) };
}

/** A JSON text of the same type as a value that is no object. */
function sampleOf(given: unknown): string {
  if (isArray(given)) {
    return "[]";
  }
  switch (typeof given) {
    case "boolean":
      return "true";
    case "number":
    case "bigint":
      return "0";
    case "string":
      return '""';
    default:
      return "null";
  }
}

function writeMembers(writer: Writer, given: object, interest: Interest, purpose: Purpose, snapshot: Snapshot): void {
  if (purpose !== "prepare") {
    checkPlain(given, purpose);
  }
  const names = getOwnPropertyNames(given);
  const { values } = snapshot;
  snapshot.names = names;
  const { pathLike } = interest;
  const shape = interest.shapeOf?.(names);
  for (let index = 0; index < names.length; index++) {
    values[index] = read(given, names[index] as string, purpose);
  }
  if (purpose === "recall" && shape !== undefined) {
    const key = cacheKeyOf(shape, values, pathLike);
    if (key !== undefined) {
      const { cache } = shape;
      const verdict = cache.get(key);
      snapshot.cached = { cache, key, verdict };
      if (verdict !== undefined) {
        return;
      }
    }
  }
  if (shape === undefined) {
    writer.byte(0);
    writer.count(names.length);
  } else {
    writer.byte(3);
  }
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const matters = shape === undefined ? writeName(writer, name, interest) : (shape.matters[index] as boolean);
    const value = values[index];
    values[index] = matters ? writeValue(writer, value, name, purpose, 0) : writeUnnamed(writer, value, name, pathLike);
  }
}

/** The key of a call with these values among those of the shape; `undefined` where it has none. */
function cacheKeyOf({ names, matters, origin }: Shape, values: unknown[], pathLike: boolean): string | undefined {
  let key = origin === undefined ? undefined : "";
  for (let index = 0; index < values.length && key !== undefined; index++) {
    const value = values[index];
    if (matters[index] !== true) {
      key = isBare(names[index] as string, value, pathLike) ? key : undefined;
    } else if (typeof value !== "string") {
      return undefined;
    } else if (index === origin) {
      key = originOf(value);
    } else if (!isPlain(value)) {
      return undefined;
    }
  }
  return key;
}

/** Whether of a value that no role and no condition names no more matters than that it is there. */
function isBare(name: string, value: unknown, pathLike: boolean): boolean {
  switch (typeof value) {
    case "string":
      return !(pathLike && looksLikePath(value));
    case "number":
    case "boolean":
      return true;
    case "object":
      return value !== null && name !== "__proto__" && !(pathLike && isArray(value));
    default:
      return false;
  }
}

/** Writes a member's name; whether its value may matter. */
function writeName(writer: Writer, name: string, interest: Interest): boolean {
  if (!writer.taggedText(0, name)) {
    throw new Unreadable("the name of an argument is not well-formed Unicode");
  }
  return interest.members.get(name) ?? interest.others;
}

/** Whether the caller goes on with its own object. */
function isTrusting(purpose: Purpose): boolean {
  return purpose === "evaluate" || purpose === "recall";
}

/** Refuses objects that could answer otherwise the next time, or that hold more than their own members. */
function checkPlain(given: object, purpose: Purpose): void {
  if (isTrusting(purpose) && platform.isProxy(given)) {
    throw new Unreadable("`arguments` may be a Proxy, expected plain data");
  }
  const inherited: object | null = getPrototypeOf(given);
  if (inherited === null) {
    return;
  }
  if (inherited !== prototype && getPrototypeOf(inherited) !== null) {
    throw new Unreadable("`arguments` are no plain object");
  }
  // Whatever everybody inherits, a tool would find among its arguments.
  for (const name in inherited) {
    throw new Unreadable(`\`arguments\` inherit the member \`${name}\``);
  }
}

/** The member's value, read once. */
function read(given: object, name: string, purpose: Purpose): unknown {
  const descriptor = getOwnPropertyDescriptor(given, name);
  if (descriptor === undefined) {
    throw new Unreadable(`the argument \`${name}\` is not there when it is read`);
  }
  if (descriptor.get !== undefined || descriptor.set !== undefined) {
    if (purpose === "prepare") {
      return (given as Record<string, unknown>)[name];
    }
    throw new Unreadable(`the argument \`${name}\` has an accessor, expected data`);
  }
  return descriptor.value;
}

/** Writes a value that no role and no condition names: only what looks like a path matters. */
function writeUnnamed(writer: Writer, value: unknown, name: string, pathLike: boolean): unknown {
  if (typeof value === "string") {
    if (pathLike && looksLikePath(value)) {
      writeText(writer, value);
    } else {
      writer.byte(Tag.Unread);
    }
  } else if (value === undefined || value === null) {
    writer.byte(Tag.Null);
  } else if (pathLike && isArray(value)) {
    writePathLike(writer, value);
  } else if (name === "toJSON" && typeof value === "function") {
    throw new Unreadable("the argument `toJSON` is a function, which would replace the arguments");
  } else if (name === "__proto__" && typeof value === "object") {
    // The engine denies it where the annotation does not speak of it: assigned, it would replace what is inherited.
    writer.byte(Tag.Object);
    writer.count(0);
  } else {
    writer.byte(Tag.Unread);
  }
  return value;
}

function writePathLike(writer: Writer, items: readonly unknown[]): void {
  const found: string[] = [];
  for (let index = 0; index < items.length && index < MOST_ITEMS; index++) {
    const item = items[index];
    if (typeof item === "string" && looksLikePath(item)) {
      found[found.length] = item;
    }
  }
  writer.byte(Tag.Array);
  writer.count(found.length);
  for (let index = 0; index < found.length; index++) {
    writeText(writer, found[index] as string);
  }
}

function looksLikePath(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === Unit.Slash || first === Unit.Dot || first === Unit.Tilde;
}

function writeText(writer: Writer, text: string): void {
  if (!writer.taggedText(Tag.Text, text)) {
    writer.byte(Tag.IllFormed);
  }
}

/** Writes a value whole; what comes back is the value, or a copy of what was read where it holds others. */
function writeValue(writer: Writer, value: unknown, name: string, purpose: Purpose, depth: number): unknown {
  switch (typeof value) {
    case "string":
      writeText(writer, value);
      return value;
    case "number":
      writer.number(value);
      return value;
    case "boolean":
      writer.byte(value ? Tag.True : Tag.False);
      return value;
    case "undefined":
      writer.byte(Tag.Null);
      return value;
    case "object":
      if (value === null) {
        writer.byte(Tag.Null);
        return value;
      }
      if (depth === DEEPEST) {
        writer.byte(Tag.Unread);
        return value;
      }
      if (isTrusting(purpose) && platform.isProxy(value)) {
        throw new Unreadable(`the argument \`${name}\` may be or hold a Proxy, expected plain data`);
      }
      return isArray(value)
        ? writeItems(writer, value, name, purpose, depth)
        : writeObject(writer, value, name, purpose, depth);
    case "bigint":
    case "function":
    case "symbol":
      return writeForeign(writer, value, name, purpose);
  }
}

/** A value that JSON does not know. */
function writeForeign(writer: Writer, value: unknown, name: string, purpose: Purpose): unknown {
  if (purpose !== "prepare") {
    throw new Unreadable(`the argument \`${name}\` is or holds what JSON does not know, expected plain data`);
  }
  writer.byte(Tag.Unread);
  return value;
}

function writeItems(
  writer: Writer,
  items: readonly unknown[],
  name: string,
  purpose: Purpose,
  depth: number,
): readonly unknown[] {
  const { length } = items;
  if (length > MOST_ITEMS) {
    throw new Unreadable(`the argument \`${name}\` holds an array of more than ${MOST_ITEMS} items`);
  }
  writer.byte(Tag.Array);
  writer.count(length);
  const copy: unknown[] = [];
  for (let index = 0; index < length; index++) {
    const descriptor = getOwnPropertyDescriptor(items, index);
    if (descriptor !== undefined && (descriptor.get !== undefined || descriptor.set !== undefined)) {
      throw new Unreadable(`the argument \`${name}\` holds an array with an accessor, expected data`);
    }
    copy[index] = writeValue(writer, descriptor?.value, name, purpose, depth + 1);
  }
  return copy;
}

function writeObject(writer: Writer, value: object, name: string, purpose: Purpose, depth: number): unknown {
  const inherited: object | null = getPrototypeOf(value);
  if (inherited !== null && inherited !== prototype && getPrototypeOf(inherited) !== null) {
    return writeForeign(writer, value, name, purpose);
  }
  const names = getOwnPropertyNames(value);
  writer.byte(Tag.Object);
  writer.count(names.length);
  const copy = {};
  for (let index = 0; index < names.length; index++) {
    const member = names[index] as string;
    if (!writer.taggedText(0, member)) {
      throw new Unreadable(`the argument \`${name}\` holds a name that is not well-formed Unicode`);
    }
    define(copy, member, writeValue(writer, read(value, member, purpose), name, purpose, depth + 1));
  }
  return copy;
}

/** Gives an object a plain own member, whatever its name and whatever objects inherit. */
export function define(object: object, name: string, value: unknown): void {
  if (name in prototype) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (object as Record<string, unknown>)[name] = value;
  }
}
