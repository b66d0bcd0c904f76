// The engine with only what every runtime offers, as in a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as callgate from "callgate/slim";
import * as tools from "../dist/tools-web.js";
import { ANNOTATIONS, call, POLICY, SANDBOX, WORLD } from "./documents.mjs";

const CONFIG = { policy: POLICY, annotations: ANNOTATIONS, sandbox: SANDBOX };

test("before the module is loaded, everything fails and says so", async () => {
  const host = callgate.createVirtualHost(WORLD);
  assert.throws(() => callgate.createEngine(CONFIG), { code: "not-ready", message: /host/ });
  assert.throws(() => callgate.createEngine({ ...CONFIG, host }), {
    code: "not-ready",
    message: /await `init\(\)` first/,
  });
  await callgate.init(readFileSync(new URL(import.meta.resolve("callgate/callgate.wasm"))));
  callgate.createEngine({ ...CONFIG, host }).dispose();
  const notReady = { code: "not-ready", message: /`init\(\)` of `callgate\/tools`/ };
  assert.throws(() => callgate.normalizeUrl("https://a.example"), notReady);
  await tools.init(readFileSync(new URL(import.meta.resolve("callgate/tools.wasm"))));
  assert.equal(tools.normalizeUrl, callgate.normalizeUrl);
  assert.equal(callgate.normalizeUrl("HTTPS://a.example/"), "https://a.example");
  assert.throws(() => callgate.expandTilde("~"), { code: "not-ready", message: /setDefaultHost/ });
});

test("an object that may be a Proxy is denied, and one that cannot be is not", () => {
  const host = callgate.createVirtualHost(WORLD);
  const engine = callgate.createEngine({ ...CONFIG, host });
  const judge = (args) => {
    const request = call("filesystem", "read_file", args);
    return [engine.evaluate(request).rule, engine.gate(request).verdict.rule];
  };
  const path = `${SANDBOX}/a.txt`;
  const allow = "structural-sandbox-allow";
  const deny = "structural-unreadable-argument";
  let deep = [];
  for (let depth = 0; depth < 100_000; depth++) {
    deep = [deep];
  }
  const throwing = Object.defineProperty({}, "x", {
    get() {
      throw new Error("no");
    },
    enumerable: true,
  });
  for (const [args, expected] of [
    [{ path }, [allow, allow]],
    [{ path, head: new Date(0) }, [allow, allow]],
    [{ path, head: deep }, [allow, allow]],
    [{ path, head: throwing }, [allow, allow]],
    // Neither Proxies nor functions can be copied, and the error is the same.
    [{ path, head: () => 1 }, [deny, allow]],
    [new Proxy({ path }, {}), [deny, allow]],
    [{ path: new Proxy([path], {}) }, [deny, allow]],
    [{ path: `${path}\ud800` }, ["structural-unresolvable-value", "structural-unresolvable-value"]],
  ]) {
    assert.deepEqual(judge(args), expected);
  }
});
