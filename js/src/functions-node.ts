// The module comes from there, and this machine is the default host here too.
import "./node.js";

/** Does nothing: in Node the module of the functions is loaded when needed. It lets code for browsers run unchanged. */
export function init(): Promise<void> {
  return Promise.resolve();
}

export * from "./errors.js";
export * from "./functions.js";
export { type Host, HostError, type RealpathFailure, setDefaultHost } from "./host.js";
