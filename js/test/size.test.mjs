// The gate's module is what a cold start and a page wait for.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

// A shell and its programs are 81 KB of it.
const LIMIT = 540_000;

test("callgate.wasm is not larger than it may be, compressed with brotli", () => {
  const wasm = readFileSync(fileURLToPath(import.meta.resolve("callgate/callgate.wasm")));
  const { length } = brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length } });
  assert.ok(
    length <= LIMIT,
    `${length} bytes, at most ${LIMIT} are allowed: \`cargo pack js --names\` builds a module with the names of its functions, ` +
      "in which the larger ones can be found. What a gate does not need belongs into that of `callgate/tools`.",
  );
});
