// The module comes from there, and this machine is the default host here too.
import "./node.js";

/** Does nothing: in Node the tools' module is loaded when needed. It lets code for browsers run unchanged. */
export function init(): Promise<void> {
  return Promise.resolve();
}

export * from "./tools.js";
