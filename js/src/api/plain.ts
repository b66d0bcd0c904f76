import { WasmHost } from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import { type Host, hostByDefault } from "../host.js";
import { type Answers, Bridge } from "../wasm/bridge.js";
import { within } from "../wasm/module.js";
import { isWellFormed } from "../wasm/text.js";

const answersOf = new WeakMap<Host, Answers>();

/**
 * Asks the module a question that needs the default host. The host's directories are read again each time.
 *
 * @throws {@link CallgateError} `not-ready` if there is no default host, `host-failed` if the host fails.
 */
export function withHost<T>(ask: (host: WasmHost) => T): T {
  const host = hostByDefault();
  if (host === undefined) {
    throw new CallgateError("not-ready", "there is no default host here; set one with `setDefaultHost(host)`");
  }
  let answers = answersOf.get(host);
  if (answers === undefined) {
    answers = { host, roles: new Map() };
    answersOf.set(host, answers);
  }
  const { homeDir, currentDir } = host;
  const bridge = new Bridge(answers);
  return within("host-failed", () => ask(new WasmHost(bridge, homeDir, currentDir, false)));
}

/**
 * Asks the module a question about one string.
 *
 * @throws {@link CallgateError} `invalid-argument` if this is not a well-formed string.
 */
export function askOf<T>(value: unknown, what: string, ask: (text: string) => T): T {
  const text = checkedText(value, what);
  return within("invalid-argument", () => ask(text));
}

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

/**
 * The document as JSON text; a string is returned as it is.
 *
 * @throws {@link CallgateError} `invalid-document` if JSON cannot represent the document.
 */
export function jsonText(document: unknown, what: string): string {
  if (typeof document === "string") {
    return checkedText(document, what);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(document);
  } catch (thrown) {
    throw new CallgateError("invalid-document", `\`${what}\` cannot be written as JSON: ${String(thrown)}`);
  }
  return text ?? "null";
}
