import { WasmHost } from "../../wasm/tools.js";
import { CallgateError } from "../errors.js";
import { directoriesOf, type Host, hostByDefault } from "../host.js";
import { view, within } from "../tools/module.js";
import { type Answers, Bridge } from "../wasm/bridge.js";
import { checkedText } from "./text.js";

const answersOf = new WeakMap<Host, Answers>();

/**
 * Asks the module a question that needs the default host. The host's directories are read again each time.
 *
 * @throws {@link CallgateError} `not-ready` if there is no default host, `host-failed` if the host fails, `invalid-argument` if its
 * directories are not text.
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
  const { homeDir, currentDir } = directoriesOf(host);
  const bridge = new Bridge(answers, view);
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
