import { readFileSync } from "node:fs";
import { types } from "node:util";
import { createNodeHost, provideGit } from "./host/node.js";
import { type Host, provideHost } from "./host.js";
import { provide as provideTools } from "./tools/module.js";
import { provide } from "./wasm/module.js";
import { usePlatform } from "./wasm/platform.js";

usePlatform({
  view: (buffer) => Buffer.from(buffer),
  readText: (bytes, start, end) => (bytes as Buffer).toString("utf8", start, end),
  writeText: (bytes, text, at) => (bytes as Buffer).write(text, at),
  isProxy: types.isProxy,
});
provide(() => readFileSync(new URL("../wasm/callgate.wasm", import.meta.url)));
provideTools(() => readFileSync(new URL("../wasm/tools.wasm", import.meta.url)));
provideGit(() => readFileSync(new URL("../wasm/git.wasm", import.meta.url)));

let host: Host | undefined;
provideHost(() => {
  host ??= createNodeHost();
  return host;
});

/** Does nothing: in Node the module is loaded when needed. It lets code for browsers run unchanged. */
export function init(): Promise<void> {
  return Promise.resolve();
}

export { createNodeHost, type NodeHostOptions } from "./host/node.js";
export * from "./index.js";
