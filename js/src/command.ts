#!/usr/bin/env node
import { findNative, runNative } from "./command/native.js";

const args = process.argv.slice(2);
// Until it is known what the answers come to, the process must not look as if a call were allowed.
process.exitCode = 1;
const native = findNative();
if (native === undefined) {
  const { main } = await import("./command/run.js");
  process.exitCode = await main(args);
} else {
  process.exitCode = await runNative(native, args);
}
