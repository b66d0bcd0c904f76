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

  /** Returns `true` if this is one, whatever a Proxy says. */
  static is(value: unknown): value is DocumentText {
    return typeof value === "object" && value !== null && #text in value;
  }

  toString(): string {
    return this.#text;
  }
}
