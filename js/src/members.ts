// Reading what a program gives. `Object.prototype` belongs to nobody: a library that merges what it should not puts members there,
// and then every object seems to have them. A setting that nobody gave must not come from it.

import { CallgateError } from "./errors.js";

const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn } = Object;

/** Returns `true` if this is what all objects inherit from, in this realm or in another one. */
function isRoot(object: object): boolean {
  return hasOwn(object, "isPrototypeOf") && getPrototypeOf(object) === null;
}

/** The value that an object, or a class that it is of, has under a name; `undefined` if neither has it. */
export function member<T extends object, Name extends keyof T>(object: T, name: Name): T[Name] | undefined {
  if (hasOwn(object, name)) {
    return object[name];
  }
  for (let from: object | null = getPrototypeOf(object); from !== null && !isRoot(from); from = getPrototypeOf(from)) {
    if (hasOwn(from, name)) {
      return object[name];
    }
  }
  return undefined;
}

/** The members with these names, as an object that inherits nothing. Each is read once. */
export function members<T extends object, Name extends keyof T>(
  object: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  const found: Partial<Pick<T, Name>> = Object.create(null);
  for (const name of names) {
    const value = member(object, name);
    if (value !== undefined) {
      found[name] = value;
    }
  }
  return found;
}

/** The names of an object's own members, and of the accessors of its class. */
export function namesIn(object: object): string[] {
  const names = new Set(getOwnPropertyNames(object));
  for (let from: object | null = getPrototypeOf(object); from !== null && !isRoot(from); from = getPrototypeOf(from)) {
    for (const name of getOwnPropertyNames(from)) {
      if (getOwnPropertyDescriptor(from, name)?.get !== undefined) {
        names.add(name);
      }
    }
  }
  return [...names];
}

/** The same object's own members, on an object that inherits nothing. */
export function bare<T extends object>(object: T): T {
  return Object.assign(Object.create(null) as T, object);
}

/**
 * Reads something that a program gave, whose code may throw anything: an accessor, a Proxy.
 *
 * @throws {@link CallgateError} `invalid-argument` in place of that.
 */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CallgateError) {
      throw thrown;
    }
    const why = thrown instanceof Error ? `: ${thrown.message}` : "";
    throw new CallgateError("invalid-argument", `the ${what} cannot be read${why}`);
  }
}
