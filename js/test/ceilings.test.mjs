// Capability ceilings and tool semantics in the package's API. The conformance suite tests what they decide.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallgateError,
  createEngine,
  createVirtualHost,
  extractPolicyRoots,
  intersectCeilings,
  isReadOnly,
  mutationClass,
  PolicyEngine,
  parseSideEffectLevel,
  prepareToolArgs,
  sideEffectRank,
} from "callgate";
import { ANNOTATIONS, HOME, policyOf, SANDBOX } from "./support.mjs";

const HARN = {
  read_file: {
    kind: "read",
    side_effect_level: "read_only",
    arg_schema: { path_params: ["path"], arg_aliases: { file: "path" } },
  },
  run: { kind: "execute", side_effect_level: "process_exec" },
};
const host = createVirtualHost({ home: HOME, cwd: SANDBOX, fs: { dirs: [`${SANDBOX}/src`] } });
const policy = policyOf({ if: { server: ["harn"] }, then: "allow" });
const call = (toolName, args) => ({ serverName: "harn", toolName, arguments: args });

test("an engine has a ceiling, and says what its tools do", () => {
  const ceiling = { side_effect_level: "read_only", recursion_limit: 2, workspace_roots: [SANDBOX] };
  const engine = createEngine({ policy, annotations: HARN, ceiling, sandbox: SANDBOX, host });
  assert.equal(engine.evaluate(call("read_file", { path: `${SANDBOX}/src/a` })).decision, "allow");
  for (const [tool, args] of [
    ["run", {}],
    ["read_file", { path: "/etc/passwd" }],
    ["read_file", { file: `${SANDBOX}/src/../../x` }],
  ]) {
    assert.equal(engine.evaluate(call(tool, args)).rule, "structural-capability-ceiling");
  }
  const { checks } = engine.explain(call("run", {}));
  assert.ok(checks.some(({ check, passed }) => check === "capability-ceiling" && !passed));
  assert.equal(engine.ceiling.recursion_limit, 2);
  assert.equal(engine.isReadOnly("harn", "read_file"), true);
  assert.equal(engine.isReadOnly("harn", "run"), false);
  assert.equal(engine.isReadOnly("harn", "nothing"), false);
  assert.equal(engine.semantics("harn", "run").mutationClass, "ambient_side_effect");
  assert.equal(engine.semantics("harn", "nothing"), undefined);
  assert.equal(createEngine({ policy, annotations: HARN, host }).ceiling, undefined);
});

test("one workspace root can be the sandbox", () => {
  const ceiling = { workspace_roots: [SANDBOX] };
  const engine = createEngine({ policy, annotations: HARN, ceiling, options: { workspaceRoots: "sandbox" }, host });
  const prepared = engine.prepare(call("read_file", { path: "src/../src/a" }));
  assert.deepEqual(prepared, {
    argsForTransport: { path: `${SANDBOX}/src/a` },
    argsForPolicy: { path: `${SANDBOX}/src/a` },
  });
});

test("several workspace roots can be one sandbox, and be shown", () => {
  const roots = [SANDBOX, "/srv/b"];
  const config = { policy, annotations: ANNOTATIONS, options: { workspaceRoots: "sandbox" }, host };
  const engine = createEngine({ ...config, ceiling: { workspace_roots: roots } });
  const read = (path) => ({ serverName: "filesystem", toolName: "read_file", arguments: { path } });
  assert.equal(engine.gate(read("/srv/b/x")).verdict.rule, "structural-sandbox-allow");
  assert.equal(engine.gate(read("/srv/c/x")).verdict.rule, "structural-capability-ceiling");
  assert.deepEqual(engine.prepare(read("x"), { containerWorkspaceDir: "/work" }).argsForPolicy, {
    path: `${SANDBOX}/x`,
  });
  assert.deepEqual(engine.prepare(read("/work/x"), { containerWorkspaceDir: "/work" }).argsForTransport, {
    path: `${SANDBOX}/x`,
  });
  const shown = (directories) =>
    extractPolicyRoots(config.policy, directories).map(({ path, name }) => `${name} ${path}`);
  assert.deepEqual(shown(["/none/b", "/none/a", "/none/b/"]), ["sandbox /none/b", "sandbox /none/a"]);
  assert.deepEqual(shown([]), []);
  for (const wrong of [5, null, ["/a", 5], new Array(2), ["\ud800"]]) {
    assert.throws(() => shown(wrong), { name: "CallgateError", code: "invalid-argument" });
  }
});

test("a faulty ceiling is refused with its place", () => {
  assert.throws(
    () => createEngine({ policy, annotations: HARN, ceiling: { tool: [] }, host }),
    (error) => error instanceof CallgateError && error.diagnostics[0].path === "ceiling.tool",
  );
});

test("the drop-in engine takes both", () => {
  const engine = new PolicyEngine(policy, HARN, [], SANDBOX, undefined, undefined, undefined, {
    ceiling: { tools: ["read_file"] },
    host,
  });
  assert.equal(engine.evaluate(call("run", {})).rule, "structural-capability-ceiling");
  const annotation = engine.getAnnotation("harn", "read_file", { path: "src/a" });
  assert.deepEqual(annotation.args, { path: ["read-path"] });
  const { argsForPolicy } = prepareToolArgs({ file: "src/a" }, annotation, SANDBOX);
  assert.deepEqual(argsForPolicy, { path: `${SANDBOX}/src/a` });
  assert.deepEqual(engine.getAnnotation("harn", "run", {}).args, {});
});

test("ceilings are intersected", () => {
  const narrower = intersectCeilings({ tools: ["a", "b"], recursion_limit: 3 }, '{"tools": ["a"]}');
  const limits = { capabilities: {}, workspace_roots: [], tool_arg_constraints: [] };
  assert.deepEqual(narrower, { tools: ["a"], recursion_limit: 3, ...limits });
  for (const [one, other, message] of [
    [{ tools: ["a"] }, { tools: ["b"] }, /exceeds the host's: tool `b`/],
    [{ tools: 1 }, {}, /cannot be read/],
    ["{", {}, /cannot be read/],
  ]) {
    assert.throws(() => intersectCeilings(one, other), { code: "invalid-document", message });
  }
});

test("kinds and levels have their tables", () => {
  assert.equal(isReadOnly("fetch"), true);
  assert.equal(mutationClass("move"), "destructive");
  assert.throws(() => isReadOnly("Read"), { code: "invalid-argument" });
  assert.equal(parseSideEffectLevel("Network"), "none");
  assert.equal(sideEffectRank("network"), 4);
});
