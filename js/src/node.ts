import { readFileSync } from "node:fs";
import { types } from "node:util";
import { type Host, provideHost } from "./host.js";
import { createNodeHost } from "./node/host.js";
import { usePlatform } from "./platform.js";
import { provide } from "./wasm.js";

interface NodeBytes extends Buffer {
  utf8Slice(start: number, end: number): string;
  utf8Write(text: string, at: number): number;
}

usePlatform({
  view: (buffer) => Buffer.from(buffer),
  readText: (bytes, start, end) => (bytes as NodeBytes).utf8Slice(start, end),
  writeText: (bytes, text, at) => (bytes as NodeBytes).utf8Write(text, at),
  isProxy: types.isProxy,
});
provide(() => readFileSync(new URL("../wasm/callgate.wasm", import.meta.url)));

let host: Host | undefined;
provideHost(() => {
  host ??= createNodeHost();
  return host;
});

/** Nothing needs to be awaited in Node; this is here so that code for browsers runs unchanged. */
export function init(): Promise<void> {
  return Promise.resolve();
}

export * from "./index.js";
export { createNodeHost, type NodeHostOptions } from "./node/host.js";
