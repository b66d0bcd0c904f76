// The bytes that a first visit downloads, compressed as a web server would.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { DIST, HEADERS } from "./page.mjs";

// The shell and its programs are 81 KB of it.
const BUDGET = 745_000;

/** Loaded when a map, lint or diff is first asked for. */
const LATER = /\btools-[\w-]*\.wasm$/;

test("everything together, editor and engine included, is within its budget", (t) => {
  const files = readdirSync(DIST, { recursive: true }).filter((name) => statSync(join(DIST, name)).isFile());
  const first = files.filter((name) => !LATER.test(name));
  assert.equal(first.length, files.length - 1);
  const sizes = first.map((name) => [brotliCompressSync(readFileSync(join(DIST, name))).length, name]);
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  for (const [size, name] of sizes.sort(([one], [other]) => other - one).slice(0, 6)) {
    t.diagnostic(`${size} ${name}`);
  }
  t.diagnostic(`${total} bytes of ${BUDGET}`);
  assert.ok(total <= BUDGET, `${total} bytes`);
});

test("the policy to send is the page's own, and forbids frames", () => {
  const page = readFileSync(join(DIST, "index.html"), "utf8");
  const [, own] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(page);
  assert.deepEqual(HEADERS, {
    "Content-Security-Policy": `${own}; frame-ancestors 'none'`,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  });
});
