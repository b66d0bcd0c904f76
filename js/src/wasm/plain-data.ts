// What may be read of a program's data: own members without code, each read once.
import { platform } from "./platform.js";
import { hasControl } from "./text.js";

/**
 * Why arguments are read:
 * - `evaluate`: the caller keeps using its own object, so nothing in it may read differently the next time.
 * - `gate`: the caller uses what was read.
 * - `prepare`: the same, but nothing is judged, so what cannot be read stays as it is.
 */
export type Purpose = "evaluate" | "gate" | "prepare";

/** A depth beyond the limit of any engine. */
export const DEEPEST = 128;
/**
 * Items and members that the engine reads of one argument. A longer array may be sparse, and claim four billion without having
 * them; and a value that holds another one twice, which does so in turn, has more than there are atoms.
 */
export const MOST_ITEMS = 262_144;

// Taken now, before other code can replace them.
const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn, prototype } = Object;
const { isArray } = Array;

/** Thrown if arguments cannot be read. */
export class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Refuses objects that may read differently the next time, or that hold more than their own members. */
export function checkPlain(given: object, purpose: Purpose): void {
  if (purpose === "evaluate" && platform.isProxy(given)) {
    throw new Unreadable("`arguments` may be a Proxy, expected plain data");
  }
  const inherited: object | null = getPrototypeOf(given);
  if (inherited === null) {
    return;
  }
  if (inherited !== prototype && getPrototypeOf(inherited) !== null) {
    throw new Unreadable("`arguments` are not a plain object");
  }
  // A tool would find inherited members among its arguments.
  for (const name in inherited) {
    throw new Unreadable(`\`arguments\` inherit the member \`${name}\``);
  }
}

/** The member's value, read once. */
export function read(given: object, name: string, purpose: Purpose): unknown {
  const descriptor = getOwnPropertyDescriptor(given, name);
  if (descriptor === undefined) {
    throw new Unreadable(`the argument \`${name}\` was gone when it was read`);
  }
  if (descriptor.get !== undefined || descriptor.set !== undefined) {
    if (purpose === "prepare") {
      return (given as Record<string, unknown>)[name];
    }
    throw new Unreadable(`the argument \`${name}\` has an accessor, expected data`);
  }
  return descriptor.value;
}

/** The text that JSON writes for a string, and for an object that stands for one; `undefined` for everything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") {
    return value;
  }
  try {
    return value instanceof String ? String.prototype.valueOf.call(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Refuses data that JSON would write as something else than it holds. */
export function checkOwnToJSON(value: unknown, name: string): void {
  if (typeof value === "object" && value !== null && hasOwn(value, "toJSON")) {
    throw new Unreadable(`the argument \`${name}\` has a \`toJSON\`, which would replace it`);
  }
}

/** Returns `true` if an object within the value, at any depth, has a member whose name has a control character. */
export function hasControlName(value: object): boolean {
  // An object that is there twice, or within itself, is looked at once.
  const seen = new Set<unknown>([value]);
  for (const within of seen) {
    if (isArray(within)) {
      addItems(seen, within);
      continue;
    }
    for (const name of getOwnPropertyNames(within)) {
      if (hasControl(name)) {
        return true;
      }
      addObject(seen, getOwnPropertyDescriptor(within, name)?.value);
    }
  }
  return false;
}

function addObject(seen: Set<unknown>, value: unknown): void {
  if (typeof value === "object" && value !== null) {
    seen.add(value);
  }
}

/** Adds the objects among the items; an array that is mostly holes may be of any length. */
function addItems(seen: Set<unknown>, items: readonly unknown[]): void {
  let holes = 0;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    addObject(seen, item);
    if (item === undefined && ++holes > MOST_ITEMS) {
      for (const name of getOwnPropertyNames(items)) {
        addObject(seen, (items as unknown as Record<string, unknown>)[name]);
      }
      return;
    }
  }
}

/** Gives an object a plain own member, even if the name is one that objects inherit, such as `__proto__`. */
export function define(object: object, name: string, value: unknown): void {
  if (name in prototype) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (object as Record<string, unknown>)[name] = value;
  }
}
