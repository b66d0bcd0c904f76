// The module's memory after traps, after very many calls, and as engines come and go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  createEngine,
  expandTilde,
  normalizeUrl,
  PolicyEngine,
  prepareToolArgs,
  resolveRealPath,
  setDefaultHost,
} from "callgate";
import { currentMemory, WasmEngine } from "../wasm/callgate.js";
import { currentMemory as memoryOfTools, WasmHost } from "../wasm/tools.js";
import { ANNOTATIONS, CONFIG, call, host, POLICY, SANDBOX } from "./support.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const request = call("filesystem", "read_file", { path: `${SANDBOX}/a.txt` });
const memory = () => currentMemory().buffer.byteLength;

/** Makes the next call of one of a class's methods throw what a trap throws. */
function trapping(name, { prototype } = WasmEngine) {
  const honest = prototype[name];
  prototype[name] = () => {
    prototype[name] = honest;
    throw new WebAssembly.RuntimeError("unreachable");
  };
}

test("a trap denies the call, and every engine goes on in a new instance", () => {
  const [engine, other] = [createEngine(CONFIG), createEngine(CONFIG)];
  const policyEngine = new PolicyEngine(POLICY, ANNOTATIONS, [], SANDBOX, undefined, undefined, undefined, { host });
  const before = engine.evaluate(request);
  for (const [name, judge] of [
    ["evaluate", () => engine.evaluate(request)],
    ["gate", () => engine.gate(request).verdict],
    ["evaluate", () => policyEngine.evaluate(request)],
  ]) {
    const instance = currentMemory();
    trapping(name);
    const verdict = judge();
    assert.equal(verdict.rule, "structural-engine-fault");
    assert.equal(verdict.decision, "deny");
    assert.deepEqual(judge(), before);
    assert.notEqual(currentMemory(), instance);
    for (const each of [engine, other, policyEngine]) {
      assert.deepEqual(each.evaluate(request), before);
    }
  }
  for (const [name, ask] of [
    ["explain", () => engine.explain(request).verdict],
    ["prepare", () => engine.prepare(request).argsForPolicy],
    ["warnings", () => createEngine(CONFIG).evaluate(request)],
  ]) {
    trapping(name);
    assert.throws(ask, { code: "engine-fault" });
    ask();
  }
  trapping("gate");
  assert.deepEqual(engine.gate(request).argsForTransport, {});
  engine.dispose();
  other.dispose();
  assert.equal(policyEngine.evaluate(request).decision, "allow");
});

test("a trap within a callback's own call breaks the outer one too", () => {
  let inner;
  let isBuilt = false;
  const nested = createEngine(CONFIG);
  const outer = createEngine({
    ...CONFIG,
    host: {
      ...host,
      realpath: (path) => {
        if (isBuilt && inner === undefined) {
          trapping("evaluate");
          inner = nested.evaluate(request);
        }
        return host.realpath(path);
      },
    },
  });
  isBuilt = true;
  // The instance that the outer call runs in can no longer be trusted.
  assert.equal(outer.gate(request).verdict.rule, "structural-engine-fault");
  assert.equal(inner.rule, "structural-engine-fault");
  assert.equal(outer.gate(request).verdict.decision, "allow");
  assert.equal(nested.evaluate(request).decision, "allow");
});

/** The method of a host with which a function of the module takes it. */
const TAKEN = "__destroy_into_raw";

test("a trap of a function is an error, and the next call goes on in a new instance", () => {
  let inner;
  const ask = () => resolveRealPath(`${SANDBOX}/a.txt`);
  const nesting = {
    ...host,
    realpath: (path) => {
      if (inner === undefined) {
        inner = "asked";
        trapping(TAKEN, WasmHost);
        assert.throws(() => expandTilde("~"), { code: "engine-fault" });
      }
      return host.realpath(path);
    },
  };
  setDefaultHost(host);
  const before = ask();
  const instance = memoryOfTools();
  trapping(TAKEN, WasmHost);
  assert.throws(ask, { code: "engine-fault", message: /the tools' module broke/ });
  assert.equal(ask(), before);
  assert.notEqual(memoryOfTools(), instance);
  // The instance that the outer call runs in can no longer be trusted.
  setDefaultHost(nesting);
  assert.throws(ask, { code: "engine-fault" });
  assert.equal(inner, "asked");
  assert.equal(ask(), before);
});

test("a call is read whole if the memory grows as its tool is looked up", () => {
  const honest = WasmEngine.prototype.tool;
  for (const name of ["read_file", "unknown"]) {
    const asked = call("filesystem", name, request.arguments);
    const expected = createEngine(CONFIG).evaluate(asked);
    const fresh = createEngine(CONFIG);
    WasmEngine.prototype.tool = function (...names) {
      WasmEngine.prototype.tool = honest;
      currentMemory().grow(1);
      return honest.apply(this, names);
    };
    assert.deepEqual(fresh.evaluate(asked), expected);
    assert.equal(WasmEngine.prototype.tool, honest, "the tool was looked up");
  }
});

test("arguments without a role are never copied into the module", () => {
  const engine = createEngine(CONFIG);
  const write = (content) => call("filesystem", "write_file", { path: `${SANDBOX}/a.txt`, content });
  engine.gate(write(""));
  const before = memory();
  const content = "é".repeat(50_000_000);
  assert.equal(engine.gate(write(content)).argsForTransport.content, content);
  assert.equal(engine.evaluate(write([content, { content }])).decision, "allow");
  assert.equal(memory(), before);
});

test("many calls leave nothing in the module's memory", () => {
  const engine = createEngine(CONFIG);
  const policyEngine = new PolicyEngine(POLICY, ANNOTATIONS, [], SANDBOX, undefined, undefined, undefined, { host });
  const round = (index) => {
    const args = { path: `${SANDBOX}/${index}`, [`more-${index}`]: "~" };
    for (const tool of ["read_file", `tool-${index}`]) {
      engine.evaluate(call("filesystem", tool, args));
      engine.gate(call("filesystem", tool, args));
    }
    const annotation = policyEngine.getAnnotation("filesystem", "read_file", args);
    prepareToolArgs(args, annotation, SANDBOX);
    normalizeUrl(`https://${index}.example/`);
  };
  for (let index = 0; index < 500; index++) {
    round(index);
  }
  const sizes = () => [memory(), memoryOfTools().buffer.byteLength];
  const before = sizes();
  for (let index = 500; index < 5_000; index++) {
    round(index);
  }
  assert.deepEqual(sizes(), before);
});

test("disposing of an engine frees its memory at once", () => {
  const make = () => {
    const engine = createEngine(CONFIG);
    engine.evaluate(request);
    engine[Symbol.dispose]();
  };
  for (let count = 0; count < 20; count++) {
    make();
  }
  const before = memory();
  for (let count = 0; count < 500; count++) {
    make();
  }
  assert.equal(memory(), before);
});

test("unreachable engines are collected, even if their host refers to them", async () => {
  let freed = 0;
  const registry = new FinalizationRegistry(() => {
    freed += 1;
  });
  const make = () => {
    const knowing = { ...host };
    const engine = createEngine({ ...CONFIG, host: knowing });
    knowing.engine = engine;
    const policyEngine = new PolicyEngine(POLICY, ANNOTATIONS, [], SANDBOX, undefined, undefined, undefined, { host });
    prepareToolArgs({ path: "/x" }, policyEngine.getAnnotation("filesystem", "read_file", {}));
    engine.evaluate(request);
    registry.register(engine, undefined);
    registry.register(policyEngine, undefined);
  };
  const generation = async () => {
    for (let count = 0; count < 100; count++) {
      make();
    }
    for (let turn = 0; turn < 5; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
  };
  await generation();
  const before = memory();
  for (let count = 0; count < 5; count++) {
    await generation();
  }
  assert.ok(freed > 1_000, `${freed} of 1200 engines were collected`);
  assert.ok(memory() <= before + 65_536, `the module's memory grew from ${before} to ${memory()} bytes`);
});
