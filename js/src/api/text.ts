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
  let text: string | undefined;
  try {
    text = JSON.stringify(document);
  } catch (thrown) {
    throw new CallgateError("invalid-document", `\`${what}\` cannot be written as JSON: ${String(thrown)}`);
  }
  return text ?? "null";
}
