import { CallgateError } from "../errors.js";
import { isWellFormed } from "../wasm/text.js";

/**
 * Returns the string if the module can take it unchanged.
 *
 * @throws {@link CallgateError} `invalid-argument` if this is not a well-formed string.
 */
export function checkedText(value: unknown, what: string): string {
  if (typeof value !== "string" || !isWellFormed(value)) {
    throw new CallgateError("invalid-argument", `\`${what}\` is not a well-formed string`);
  }
  return value;
}

/** The text of a document that was read from a file. Elsewhere a string may be the document itself. */
export class DocumentText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * The document as JSON text; a string is returned as it is.
 *
 * @throws {@link CallgateError} `invalid-document` if JSON cannot represent the document.
 */
export function jsonText(document: unknown, what: string): string {
  if (typeof document === "string" || document instanceof DocumentText) {
    return checkedText(String(document), what);
  }
  return jsonOf(document, what);
}

/**
 * The value as JSON text, whatever it is.
 *
 * @throws {@link CallgateError} `invalid-document` if JSON cannot represent the value.
 */
export function jsonOf(value: unknown, what: string): string {
  try {
    return JSON.stringify(value, checkedMember) ?? "null";
  } catch (thrown) {
    throw new CallgateError("invalid-document", `\`${what}\` cannot be written as JSON: ${String(thrown)}`);
  }
}

/** Refuses what JSON leaves out, or writes as `{}`, such as a `Map` or a promise: a condition or a limit would be lost. */
function checkedMember(name: string, value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`${placed(name)} is a ${typeof value}, expected data`);
  }
  if (typeof value === "object" && value !== null && !isPlain(value) && Object.keys(value).length === 0) {
    throw new TypeError(`${placed(name)} is an object of a class without members of its own, expected plain data`);
  }
  return value;
}

function placed(name: string): string {
  return name === "" ? "it" : `the member \`${name}\``;
}

/** Returns `true` for arrays and for objects that a literal makes, in this realm or in another one. */
function isPlain(value: object): boolean {
  const inherited: object | null = Object.getPrototypeOf(value);
  return (
    inherited === Object.prototype ||
    inherited === null ||
    Array.isArray(value) ||
    Object.getPrototypeOf(inherited) === null
  );
}
