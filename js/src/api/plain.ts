import { CallgateError } from "../errors.js";
import { type Host, hostByDefault } from "../host.js";
import { type Answers, Bridge } from "../wasm/bridge.js";
import { within } from "../wasm/module.js";
import { isWellFormed } from "../wasm/text.js";

/** What a plain function of the module is given of a host. */
export interface Surroundings {
  readonly homeDir: string;
  readonly currentDir: string;
  readonly bridge: Bridge;
}

const NO_ROLES: Answers["roles"] = new Map();
const bridges = new WeakMap<Host, { readonly answers: Answers; readonly bridge: Bridge }>();

/** The host that plain functions ask. */
export function plainHost(): Host {
  const host = hostByDefault();
  if (host === undefined) {
    throw new CallgateError("not-ready", "there is no default host here, give one with `setDefaultHost(host)`");
  }
  return host;
}

/** Asks the module about something that needs the host, with its directories of this moment. */
export function withHost<T>(ask: (surroundings: Surroundings) => T): T {
  const host = plainHost();
  let known = bridges.get(host);
  if (known === undefined) {
    const answers: Answers = { host, roles: NO_ROLES };
    known = { answers, bridge: new Bridge(answers) };
    bridges.set(host, known);
  }
  const { bridge } = known;
  const { homeDir, currentDir } = host;
  return within("host-failed", () => ask({ homeDir, currentDir, bridge }));
}

/** The string, which is checked to be one that the module can take unchanged. */
export function checkedText(value: unknown, what: string): string {
  if (typeof value !== "string" || !isWellFormed(value)) {
    throw new CallgateError("invalid-argument", `\`${what}\` is not a well-formed string`);
  }
  return value;
}

/** The document as JSON text. */
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
