// JSON text of what a program gives as a document. `JSON.stringify` leaves out what JSON does not have, or writes something else in
// its place: a condition or a limit would be lost.
import { CallgateError, type Diagnostic } from "../errors.js";
import { member, namesIn } from "../members.js";
import { checkedText, DocumentText } from "./text.js";

/** How deep arrays and objects may be nested. Every document has fewer levels. */
const DEEPEST = 512;

const DATA = "a value that JSON has";

/** A value's place in its document, and the arrays and objects that it is in. */
interface Place {
  readonly path: string;
  readonly expected: string;
  readonly within: readonly object[];
}

/**
 * The document as JSON text; a string is returned as it is.
 *
 * @throws {@link CallgateError} `invalid-document` if JSON cannot represent the document.
 */
export function jsonText(document: unknown, what: string): string {
  if (typeof document === "string" || DocumentText.is(document)) {
    return checkedText(String(document), what);
  }
  return jsonOf(document, what);
}

/**
 * The value as JSON text, whatever it is. `what` is its name, and `expected` says what it should be.
 *
 * @throws {@link CallgateError} `invalid-document` with the place of what JSON cannot represent.
 */
export function jsonOf(value: unknown, what: string, expected = DATA): string {
  return written(value, { path: what, expected, within: [] }) ?? "null";
}

/** The value as JSON text; `undefined` for what is not there. */
function written(value: unknown, place: Place): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) {
        throw refused(place, `\`${value}\``);
      }
      return JSON.stringify(value);
    case "undefined":
      return undefined;
    case "bigint":
      throw refused(place, `the BigInt \`${String(value).slice(0, 40)}n\``);
    case "function":
    case "symbol":
      throw refused(place, `a ${typeof value}`);
    case "object":
      return value === null ? "null" : readable(value, place);
  }
}

/** The text of an array or an object. */
function readable(value: object, place: Place): string | undefined {
  return reading(place, () => {
    const toJSON: unknown = member(value as { toJSON?: unknown }, "toJSON");
    if (typeof toJSON !== "function") {
      return composed(value, place);
    }
    const given: unknown = toJSON.call(value, "");
    return typeof given === "object" && given !== null ? composed(given, place) : written(given, place);
  });
}

function writtenMember(object: object, name: string, place: Place): string | undefined {
  return reading(place, () => written((object as Record<string, unknown>)[name], place));
}

/** Reads something whose code may throw anything. */
function reading<T>(place: Place, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CallgateError) {
      throw thrown;
    }
    throw refused(place, `something that cannot be read${thrown instanceof Error ? ` (${thrown.message})` : ""}`);
  }
}

function composed(value: object, { path, within }: Place): string {
  const place = { path, expected: DATA, within };
  if (within.includes(value)) {
    throw refused(place, "an object that holds itself");
  }
  if (within.length >= DEEPEST) {
    throw refused(place, `more than ${DEEPEST} levels of arrays and objects`);
  }
  const inside = { expected: DATA, within: [...within, value] };
  if (Array.isArray(value)) {
    const items = Array.from(value, (item: unknown, at) => written(item, { ...inside, path: `${path}[${at}]` }));
    return `[${items.map((item) => item ?? "null").join(",")}]`;
  }
  if (Object.keys(value).length === 0 && !isPlain(value)) {
    throw refused(place, "an object of a class without members of its own");
  }
  const texts: string[] = [];
  for (const name of namesIn(value)) {
    const text = writtenMember(value, name, { ...inside, path: `${path}${step(name)}` });
    if (text !== undefined) {
      texts.push(`${JSON.stringify(name)}:${text}`);
    }
  }
  return `{${texts.join(",")}}`;
}

/** A step of a path, as the engine writes it. */
function step(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function refused({ path, expected }: Pick<Place, "path" | "expected">, found: string): CallgateError {
  const message = `found ${found}, expected ${expected}`;
  const fault: Diagnostic = { code: "wrong-type", severity: "error", path, message };
  return new CallgateError("invalid-document", `${path}: ${message}`, [fault]);
}

/** Returns `true` for arrays and for objects that a literal makes, in this realm or in another one. */
function isPlain(value: object): boolean {
  const inherited: object | null = Object.getPrototypeOf(value);
  return inherited === null || inherited === Object.prototype || Object.getPrototypeOf(inherited) === null;
}
