import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine, createVirtualHost, defineAnnotations, definePolicy, PolicyEngine } from "callgate";

const host = createVirtualHost({ home: "/home/me", cwd: "/", fs: { dirs: ["/srv/app/box"] } });

function faultsOf(config) {
  try {
    createEngine({ policy: { rules: [] }, annotations: { servers: {} }, host, ...config });
    return [];
  } catch (error) {
    return error.diagnostics.map(({ path, line, column, file }) => [path, line, column, file]);
  }
}

test("a fault in a text has its line and column, and the file that it comes from", () => {
  const text = '// Rules\n{"rules": [\n  {"name": 1},\n]}';
  const files = { policy: "/srv/app/policy.json" };
  assert.deepEqual(faultsOf({ policy: text, files })[0], ["policy.rules[0].name", 3, 12, "/srv/app/policy.json"]);
  assert.deepEqual(faultsOf({ policy: { rules: [{ name: 1 }] } })[0], [
    "policy.rules[0].name",
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(faultsOf({ sandbox: "" })[0], ["sandbox", undefined, undefined, undefined]);
  assert.deepEqual(faultsOf({ options: '{\n"strict": 1, // so\n}' }), [["options.strict", 2, 11, undefined]]);
});

test("every document may be a text, and relative paths start from the folder", () => {
  const engine = createEngine({
    policy: '{"rules": [{"name": "r", "if": {"server": "s"}, "then": "allow", "reason": "r"}]}',
    annotations: '{"servers": {"s": {"tools": [{"toolName": "t", "args": {"a": "read-path", "u": "fetch-url"}}]}}}',
    protectedPaths: '["keys", /* never */]',
    domainAllowlists: '{"s": ["a.test"]}',
    trustedServers: '["x"]',
    roles: "[]",
    options: "{}",
    sandbox: "box",
    folder: "/srv/app",
    host,
  });
  const decided = (args) => engine.gate({ serverName: "s", toolName: "t", arguments: args }).verdict.rule;
  assert.equal(decided({ a: "/srv/app/keys/a" }), "structural-protected-path");
  assert.equal(decided({ a: "../other" }), "r");
  assert.equal(decided({ u: "https://b.test/" }), "structural-domain-escalate");
  assert.equal(engine.isTrustedServer("x"), true);
  assert.equal(
    engine.prepare({ serverName: "s", toolName: "t", arguments: { a: "f" } }).argsForPolicy.a,
    "/srv/app/box/f",
  );
});

test("a document in any script is read as it is written", () => {
  for (const reason of ["ASCII", "Ask in 日本 or 😀", "日本語".repeat(1000), `${"a".repeat(99)}😀`]) {
    const policy = JSON.stringify({ rules: [{ name: "r", if: { server: "s" }, then: "escalate", reason }] });
    const annotations = { servers: { s: { tools: [{ toolName: "t", args: {} }] } } };
    const engine = createEngine({ policy, annotations, host });
    assert.equal(engine.evaluate({ serverName: "s", toolName: "t", arguments: {} }).reason, reason);
  }
});

test("a word for one role is an array for whoever asks for roles", () => {
  const annotations = `{"servers": {"s": {"tools": [ // one
    {"toolName": "t", "args": {"a": "read-path",
     "b": {"default": "write-path", "when": [{"condition": {"arg": "c", "is": "truthy"}, "roles": "none"}]},
     "d": {"roles": "read-path", "relativeTo": "a"}, "e": {"roles": "write-path", "reach": "tree", "absent": "nothing"}}},
    {"toolName": "u", "args": {"a": "read-path"}}]}}}`;
  const engine = new PolicyEngine({ rules: [] }, annotations, [], undefined, undefined, undefined, undefined, { host });
  const roles = (args) => engine.getAnnotation("s", "t", args).args;
  assert.deepEqual(roles({}), { a: ["read-path"], b: ["write-path"], d: ["read-path"], e: ["write-path"] });
  assert.deepEqual(roles({ c: true }).b, ["none"]);
  assert.deepEqual(engine.getAnnotation("s", "u", {}).args, { a: ["read-path"] });
  assert.deepEqual(engine.getStoredAnnotation("s", "t").args.b.when[0].roles, ["none"]);
});

test("defining a document returns it", () => {
  const policy = { rules: [] };
  const annotations = { servers: {} };
  assert.equal(definePolicy(policy), policy);
  assert.equal(defineAnnotations(annotations), annotations);
});
