// Worlds in the package's API: contexts, references that cannot be forged, and predicates of the host.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CallgateError, createEngine, createVirtualHost } from "callgate";
import { annotationsOf, CONFIG, call, policyOf } from "./support.mjs";

const WORLD = {
  roots: { r: "/srv/places" },
  visibility: [{ mode: "m", root: "r", subdirectory: null, when: [] }],
  operations: [
    {
      mode: "m",
      root: "r",
      subdirectory: null,
      rules: [
        { commands: [["edit", "read"]], when: [] },
        { commands: [["edit", "write"]], when: ["host:may"] },
      ],
    },
  ],
};
const places = createVirtualHost({ home: "/home/u", cwd: "/", fs: { files: ["/srv/places/a", "/srv/other"] } });

function engineWith(host = places) {
  return createEngine({
    policy: policyOf({ if: { roles: ["address"] }, then: "allow" }),
    annotations: annotationsOf({ s: { edit: { path: ["address"] } } }),
    world: WORLD,
    host,
  });
}

const request = call("s", "edit", { path: "root:r/a" });

test("a context is read only from the options", () => {
  const engine = engineWith();
  const context = { mode: "m", command: "read" };
  assert.deepEqual(engine.gate(request, { context }).argsForTransport, { path: "/srv/places/a" });
  assert.equal(engine.evaluate(request, { context }).decision, "allow");
  assert.equal(engine.evaluateText(JSON.stringify(request), { context }).decision, "allow");
  const container = { context, containerWorkspaceDir: "/work" };
  assert.equal(engine.gate(request, container).verdict.decision, "allow");
  for (const verdict of [
    engine.evaluate(request),
    engine.evaluate({ ...request, context }),
    engine.gate({ ...request, context }).verdict,
    engine.evaluateText(JSON.stringify({ ...request, context })),
  ]) {
    assert.equal(verdict.rule, "structural-visibility");
    assert.match(verdict.reason, /^WA-SYS-I-001/);
  }
});

test("an invalid context denies", () => {
  const engine = engineWith();
  const cyclic = { mode: "m" };
  cyclic.self = cyclic;
  const contexts = [cyclic, null, "m", 5, [], { mode: "\ud800" }, { mode: 1n }, { toJSON: () => undefined }];
  for (const context of contexts) {
    assert.equal(engine.evaluate(request, { context }).decision, "deny");
    assert.equal(engine.resolve("root:r/a", context).reply.code, "WA-SYS-I-001");
  }
  const throwing = {
    get mode() {
      throw new Error("no");
    },
  };
  assert.equal(engine.gate(request, { context: throwing }).verdict.decision, "deny");
});

test("a reference is an object of its engine and cannot be forged", () => {
  const engine = engineWith();
  const { reply, ref } = engine.resolve("root:r/a", { mode: "m" });
  assert.equal(reply.status, "success");
  assert.equal(engine.hostPath(ref), "/srv/places/a");
  assert.equal(JSON.stringify(ref), "{}");
  assert.ok(Object.isFrozen(ref));
  for (const forged of [{}, { ...ref }, Object.create(ref), JSON.parse(JSON.stringify(ref)), 0, "0", null, undefined]) {
    assert.equal(engine.hostPath(forged), undefined);
  }
  assert.equal(engineWith().hostPath(ref), undefined);
  assert.equal(engine.revoke({ ...ref }), false);
  assert.equal(engine.revoke(ref), true);
  assert.equal(engine.revoke(ref), false);
  assert.equal(engine.hostPath(ref), undefined);
  const again = engine.resolve("root:r/new", { mode: "m" }, { requireExists: false });
  assert.equal(engine.hostPath(again.ref), "/srv/places/new");
  engine.revoke();
  assert.equal(engine.hostPath(again.ref), undefined);
});

test("a predicate of the host decides, and one that fails denies without showing its message", () => {
  const asked = [];
  const told = engineWith({
    ...places,
    condition: (name, subject) => {
      asked.push([name, JSON.parse(subject)]);
      return true;
    },
  });
  const context = { mode: "m", command: "write", host: { ticket: 7 } };
  assert.equal(told.evaluate(request, { context }).decision, "allow");
  const subject = { mode: "m", tool: "edit", command: "write", root_key: "r", subdirectory: "a" };
  assert.deepEqual(asked, [["may", { ...subject, address: "root:r/a", host: { ticket: 7 } }]]);
  const operation = { mode: "m", tool: "edit", command: "write", root: "r" };
  assert.equal(told.enforce(operation).code, "EN-WRITE-S-001");
  const thrower = () => {
    throw new Error("/srv/places is on fire");
  };
  for (const condition of [thrower, () => "yes", () => Promise.resolve(true), () => undefined]) {
    const engine = engineWith({ ...places, condition });
    assert.deepEqual(
      { ...engine.evaluate(request, { context }) },
      { decision: "deny", rule: "structural-host-error", reason: "The host failed to answer" },
    );
    assert.equal(engine.enforce(operation).code, "EN-WRITE-D-002");
    const shown = JSON.stringify(engine.explain(request, { context, audience: "agent" }));
    assert.ok(!shown.includes("/srv"), shown);
  }
});

test("an engine without a world says so", () => {
  const engine = createEngine(CONFIG);
  for (const ask of [
    () => engine.resolve("root:r/a", { mode: "m" }),
    () => engine.enforce({ mode: "m", tool: "t", command: "c", root: "r" }),
  ]) {
    assert.throws(ask, (error) => error instanceof CallgateError && error.code === "invalid-argument");
  }
});
