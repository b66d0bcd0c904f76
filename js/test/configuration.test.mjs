// Configurations that are made of anything a program has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CallgateError, createEngine } from "callgate";
import { CONFIG, call, POLICY, SANDBOX } from "./support.mjs";

test("a configuration has no unknown keys, and nulls only where they mean absent", () => {
  const faultsOf = (more) => {
    try {
      createEngine({ ...CONFIG, ...more });
      return [];
    } catch (error) {
      assert.equal(error.code, "invalid-document");
      return error.diagnostics.map(({ code, path, help }) => [code, path, help]);
    }
  };
  assert.deepEqual(faultsOf({ protectedPath: ["/etc"], polcy: {} }), [
    ["unknown-key", "protectedPath", "did you mean `protectedPaths`?"],
    ["unknown-key", "polcy", "did you mean `policy`?"],
  ]);
  assert.deepEqual(faultsOf({ compiledPolicy: POLICY }), [["unknown-key", "compiledPolicy", "did you mean `policy`?"]]);
  assert.deepEqual(faultsOf({ protectedPaths: null }), [["wrong-type", "protectedPaths", undefined]]);
  assert.deepEqual(faultsOf({ sandbox: null, lists: null, ceiling: undefined }), []);
});

test("a configuration is read whatever it is made of", () => {
  class Config {
    policy = CONFIG.policy;
    annotations = CONFIG.annotations;
    sandbox = CONFIG.sandbox;
    host = CONFIG.host;
    get protectedPaths() {
      return [`${SANDBOX}/a.txt`];
    }
  }
  const { protectedPaths } = new Config();
  const hidden = Object.defineProperty({ ...CONFIG }, "protectedPaths", { value: protectedPaths });
  for (const config of [new Config(), Object.create({ ...CONFIG, protectedPaths }), hidden]) {
    const verdict = createEngine(config).evaluate(call("filesystem", "read_file", { path: `${SANDBOX}/a.txt` }));
    assert.equal(verdict.rule, "structural-protected-path");
  }
});

test("what JSON would leave out of a document is refused, with its place", () => {
  const rule = { name: "a", if: {}, then: "allow", reason: "A" };
  const throwing = {
    get mods() {
      throw new Error("not now");
    },
  };
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const loop = { tools: [] };
  loop.tools.push(loop);
  const deep = Array.from({ length: 600 }).reduce((inner) => [inner], []);
  for (const [more, expected] of [
    [{ ceiling: { capabilities: new Map([["fs", ["read"]]]) } }, "ceiling.capabilities: found an object of a class"],
    [{ ceiling: Promise.resolve({ tools: ["a"] }) }, "ceiling: found an object of a class"],
    [{ ceiling: { tools: () => ["a"] } }, "ceiling.tools: found a function, expected a value that JSON has"],
    [{ options: new Map([["unknownArguments", "deny"]]) }, "options: found an object of a class"],
    [{ policy: { rules: [{ ...rule, if: { server: Symbol("s") } }] } }, "policy.rules[0].if.server: found a symbol"],
    [{ policy: { rules: [{ ...rule, if: new Set() }] } }, "policy.rules[0].if: found an object of a class"],
    [{ domainAllowlists: new Map([["fetch", new Map()]]) }, "domainAllowlists: found an object of a class"],
    [{ domainAllowlists: new Map([["fetch", [1n]]]) }, "domainAllowlists[0]: found the BigInt `1n`"],
    [{ domainAllowlists: new Map([[1n, []]]) }, "domainAllowlists: found the BigInt `1n`, expected a map of strings"],
    [{ sandbox: 5n }, "sandbox: found the BigInt `5n`, expected a string"],
    [{ sandbox: Symbol("s") }, "sandbox: found a symbol, expected a string"],
    [{ folder: () => "/" }, "folder: found a function, expected a string"],
    [{ protectedPaths: ["/a", 5n] }, "protectedPaths[1]: found the BigInt `5n`"],
    [{ trustedServers: new Set([Symbol("s")]) }, "trustedServers[0]: found a symbol"],
    [{ lists: { "a b": [Number.NaN] } }, 'lists["a b"][0]: found `NaN`'],
    [{ options: { limits: { rules: Number.POSITIVE_INFINITY } } }, "options.limits.rules: found `Infinity`"],
    [{ world: throwing }, "world.mods: found something that cannot be read (not now)"],
    [{ ceiling: revoked() }, "ceiling: found something that cannot be read"],
    [{ ceiling: loop }, "ceiling.tools[0]: found an object that holds itself"],
    [{ ceiling: deep }, "found more than 512 levels"],
  ]) {
    assert.throws(
      () => createEngine({ ...CONFIG, ...more }),
      (thrown) => {
        assert.ok(thrown instanceof CallgateError, String(thrown));
        assert.equal(thrown.code, "invalid-document");
        assert.ok(thrown.message.includes(expected), thrown.message);
        const [{ code, severity, path, message }] = thrown.diagnostics;
        assert.deepEqual([code, severity, `${path}: ${message}`], ["wrong-type", "error", thrown.message]);
        return true;
      },
    );
  }
  class Ceiling {
    tools = ["a"];
  }
  createEngine({ ...CONFIG, ceiling: new Ceiling(), domainAllowlists: new Map([["fetch", new Set(["a.test"])]]) });
  createEngine({ ...CONFIG, ceiling: Object.assign(Object.create(null), { tools: [] }) });
});

test("a document has the accessors of its class, and members that are not listed", () => {
  class Rule {
    name = "a";
    then = "deny";
    reason = "A";
    get if() {
      return { server: ["memory"] };
    }
  }
  const effectOf = (rule) =>
    createEngine({ ...CONFIG, policy: { rules: [rule] } }).evaluate(call("filesystem", "read_many", {})).rule;
  assert.equal(effectOf(new Rule()), "default-deny");
  const hidden = Object.defineProperty({ name: "a", then: "deny", reason: "A" }, "if", {
    value: { server: ["memory"] },
  });
  assert.equal(effectOf(hidden), "default-deny");
});
