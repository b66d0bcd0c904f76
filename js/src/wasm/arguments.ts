import { CallgateError } from "../errors.js";
import { looksLikePath, writePathLike } from "./path-like.js";
import {
  checkOwnToJSON,
  checkPlain,
  DEEPEST,
  define,
  hasControlName,
  MOST_ITEMS,
  type Purpose,
  read,
  textOf,
  Unreadable,
} from "./plain-data.js";
import { platform } from "./platform.js";
import { Tag, type Writer, writeText } from "./writer.js";

/** The parts of one tool's arguments that judging may read. */
export interface Interest {
  /** The members that the annotation names, by name. */
  readonly members: ReadonlyMap<string, Member>;
  /** `true` if the values of all other members may matter. */
  readonly others: boolean;
  /** `true` if a string that looks like a path matters under any name. */
  readonly pathLike: boolean;
}

/** A member of the arguments that the annotation names. */
interface Member {
  /** The module's number for its name. */
  readonly number: number;
  /** `true` if its value may matter. */
  readonly matters: boolean;
}

/** The members in the order in which they were read, each once. */
export interface Snapshot {
  names: readonly string[];
  values: unknown[];
}

/** Members that the engine reads of the arguments. */
const MOST_MEMBERS = 65_536;

// Taken now, before other code can replace them.
const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, prototype } = Object;
const { isArray } = Array;

/** Thrown if an argument holds more than {@link MOST_ITEMS}. */
const TOO_MANY = Symbol("too many");

/** An argument that is read in full. */
interface Reading {
  readonly name: string;
  readonly purpose: Purpose;
  /** How many items and members it may still hold. */
  left: number;
}

/**
 * Writes what judging may read of a call's arguments, and returns what was read of each member. Where approvals list flags
 * (`lists`), a flag may stand in any member.
 *
 * @throws {@link CallgateError} `unprepared` if arguments that are not judged cannot be read.
 */
export function writeArguments(
  writer: Writer,
  given: unknown,
  interest: Interest,
  purpose: Purpose,
  lists: boolean,
): Snapshot {
  const snapshot: Snapshot = { names: [], values: [] };
  // Some clients send null for none.
  if (given === undefined || given === null) {
    writer.byte(0);
    writer.byte(0);
  } else if (typeof given === "function" || typeof given === "symbol") {
    writer.taggedText(2, `\`arguments\` are a ${typeof given}, expected an object`);
  } else if (typeof given !== "object") {
    writer.taggedText(1, sampleOf(given));
  } else {
    const mark = writer.length;
    try {
      // A Proxy that was revoked throws here.
      if (isArray(given)) {
        writer.taggedText(1, "[]");
      } else {
        writeMembers(writer, given, interest, purpose, lists, snapshot);
      }
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
  try {
    const names = getOwnPropertyNames(given);
    return { names, values: names.map((name) => (given as Record<string, unknown>)[name]) };
  } catch {
    throw new CallgateError("unprepared", "reading `arguments` failed");
  }
}

/** JSON text of the same type as a value that is not an object. */
function sampleOf(given: unknown): string {
  switch (typeof given) {
    case "boolean":
      return "true";
    case "string":
      return '""';
    default:
      return "0";
  }
}

function writeMembers(
  writer: Writer,
  given: object,
  interest: Interest,
  purpose: Purpose,
  lists: boolean,
  snapshot: Snapshot,
): void {
  if (purpose !== "prepare") {
    checkPlain(given, purpose);
  }
  const names = getOwnPropertyNames(given);
  if (names.length > MOST_MEMBERS && purpose !== "prepare") {
    throw new Unreadable(`\`arguments\`: more than ${MOST_MEMBERS} members`);
  }
  const { values } = snapshot;
  snapshot.names = names;
  const { pathLike } = interest;
  writer.byte(0);
  writer.count(names.length);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = read(given, name, purpose);
    const matters = writeName(writer, name, interest);
    if (matters) {
      values[index] = writeNamed(writer, value, name, purpose);
    } else if (purpose !== "prepare" && typeof value === "object" && value !== null && hasControlName(value)) {
      values[index] = value;
      writeControlName(writer);
    } else if (lists) {
      values[index] = writeListed(writer, value, name, purpose, pathLike);
    } else {
      values[index] = writeUnnamed(writer, value, name, pathLike);
    }
  }
}

/** Writes a member's name, and returns `true` if its value may matter. */
function writeName(writer: Writer, name: string, interest: Interest): boolean {
  const member = interest.members.get(name);
  if (member !== undefined) {
    writer.byte(1);
    writer.count(member.number);
    return member.matters;
  }
  if (!writer.taggedText(0, name)) {
    throw new Unreadable("the name of an argument is not well-formed Unicode");
  }
  return interest.others;
}

/** Writes what matters of a value that neither a role nor a condition names: whether it looks like a path. */
function writeUnnamed(writer: Writer, value: unknown, name: string, pathLike: boolean): unknown {
  if (pathLike) {
    checkOwnToJSON(value, name);
  }
  const text = textOf(value);
  if (text !== undefined) {
    if (pathLike && looksLikePath(text)) {
      writeText(writer, text);
    } else {
      writer.byte(Tag.Unread);
    }
  } else if (value === undefined || value === null) {
    writer.byte(Tag.Null);
  } else if (pathLike && isArray(value)) {
    writePathLike(writer, value, name);
  } else if (name === "toJSON" && typeof value === "function") {
    throw new Unreadable("the argument `toJSON` is a function, which would replace the arguments");
  } else if (name === "__proto__" && typeof value === "object") {
    // Assigning it to an object would replace that object's prototype. The engine denies it unless it is annotated.
    writer.byte(Tag.Object);
    writer.count(0);
  } else {
    writer.byte(Tag.Unread);
  }
  return value;
}

/** Writes a value that only an approval may look at, in full if it is plain data, and refuses what is refused without approvals. */
function writeListed(writer: Writer, value: unknown, name: string, purpose: Purpose, pathLike: boolean): unknown {
  const mark = writer.length;
  writeUnnamed(writer, value, name, pathLike);
  writer.rewind(mark);
  try {
    return writeValue(writer, value, { name, purpose, left: MOST_ITEMS }, 0);
  } catch {
    writer.rewind(mark);
  }
  if (pathLike && isArray(value)) {
    // Beside something unread, no approval takes what is there for everything.
    writer.byte(Tag.Array);
    writer.count(2);
    writer.byte(Tag.Unread);
  }
  return writeUnnamed(writer, value, name, pathLike);
}

/** Writes an object that the engine refuses for its member's name, in place of a value that holds such a name. */
function writeControlName(writer: Writer): void {
  writer.byte(Tag.Object);
  writer.count(1);
  writer.taggedText(0, "\0");
  writer.byte(Tag.Null);
}

/** Writes an argument in full and returns it; for an object or an array, returns a copy of what was read. */
function writeNamed(writer: Writer, value: unknown, name: string, purpose: Purpose): unknown {
  const mark = writer.length;
  try {
    return writeValue(writer, value, { name, purpose, left: MOST_ITEMS }, 0);
  } catch (thrown) {
    if (thrown !== TOO_MANY) {
      throw thrown;
    }
    writer.rewind(mark);
    writeTooMany(writer, name, purpose);
    return value;
  }
}

function writeValue(writer: Writer, value: unknown, reading: Reading, depth: number): unknown {
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
      if (reading.purpose === "evaluate" && platform.isProxy(value)) {
        throw new Unreadable(`the argument \`${reading.name}\` may be or hold a Proxy, expected plain data`);
      }
      return isArray(value) ? writeItems(writer, value, reading, depth) : writeObject(writer, value, reading, depth);
    case "bigint":
    case "function":
    case "symbol":
      return writeForeign(writer, value, reading);
  }
}

/** Writes a value that JSON does not have. */
function writeForeign(writer: Writer, value: unknown, { name, purpose }: Reading): unknown {
  if (purpose !== "prepare") {
    throw new Unreadable(`the argument \`${name}\` is or holds a value that JSON does not have, expected plain data`);
  }
  writer.byte(Tag.Unread);
  return value;
}

/** Counts items and members against what the argument may hold. */
function take(reading: Reading, count: number): void {
  reading.left -= count;
  if (reading.left < 0) {
    throw TOO_MANY;
  }
}

function writeItems(writer: Writer, items: readonly unknown[], reading: Reading, depth: number): readonly unknown[] {
  const { length } = items;
  if (reading.purpose !== "prepare" && "toJSON" in items) {
    throw new Unreadable(`the argument \`${reading.name}\` holds an array with a \`toJSON\`, expected plain data`);
  }
  take(reading, length);
  writer.byte(Tag.Array);
  writer.count(length);
  const copy: unknown[] = [];
  for (let index = 0; index < length; index++) {
    const descriptor = getOwnPropertyDescriptor(items, index);
    if (descriptor !== undefined && (descriptor.get !== undefined || descriptor.set !== undefined)) {
      throw new Unreadable(`the argument \`${reading.name}\` holds an array with an accessor, expected data`);
    }
    copy[index] = writeValue(writer, descriptor?.value, reading, depth + 1);
  }
  return copy;
}

/** Writes an array that the engine refuses for its length, in place of an argument that holds too much. */
function writeTooMany(writer: Writer, name: string, purpose: Purpose): void {
  if (purpose === "prepare") {
    throw new Unreadable(`the argument \`${name}\` holds more than ${MOST_ITEMS} items and members`);
  }
  writer.byte(Tag.Array);
  writer.count(MOST_ITEMS + 1);
  for (let index = 0; index <= MOST_ITEMS; index++) {
    writer.byte(Tag.Null);
  }
}

function writeObject(writer: Writer, value: object, reading: Reading, depth: number): unknown {
  const { name, purpose } = reading;
  const inherited: object | null = getPrototypeOf(value);
  if (inherited !== null && inherited !== prototype && getPrototypeOf(inherited) !== null) {
    return writeForeign(writer, value, reading);
  }
  const names = getOwnPropertyNames(value);
  take(reading, names.length);
  writer.byte(Tag.Object);
  writer.count(names.length);
  const copy = {};
  for (let index = 0; index < names.length; index++) {
    const member = names[index] as string;
    if (!writer.taggedText(0, member)) {
      throw new Unreadable(`the argument \`${name}\` holds a name that is not well-formed Unicode`);
    }
    define(copy, member, writeValue(writer, read(value, member, purpose), reading, depth + 1));
  }
  return copy;
}
