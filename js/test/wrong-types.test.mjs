import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallgateError,
  createEngine,
  createNodeHost,
  createRecordedHost,
  createVirtualHost,
  PolicyEngine,
  prepareToolArgs,
  resolveRealPath,
  setDefaultHost,
} from "callgate";
import { loadBundle } from "callgate/bundle";

const host = createVirtualHost({ home: "/home/u", cwd: "/srv" });
const engineOf = (asked) => createEngine({ policy: { rules: [] }, annotations: { servers: {} }, host: asked });
const engine = engineOf(host);
const call = { serverName: "s", toolName: "t", arguments: {} };

/** Whatever a program without types passes, by the name of the function that it is passed to. */
const MISTAKES = {
  "evaluateText: a number": () => engine.evaluateText(5),
  "evaluateText: an object": () => engine.evaluateText(call),
  "evaluateText: bytes": () => engine.evaluateText(Buffer.from(JSON.stringify(call))),
  "evaluateText: half a pair": () => engine.evaluateText('"\ud800"'),
  "semantics: numbers": () => engine.semantics(5, 5),
  "semantics: one name": () => engine.semantics("s"),
  "isReadOnly: nothing": () => engine.isReadOnly(),
  "deniesEveryCall: nothing": () => engine.deniesEveryCall(),
  "isTrustedServer: nothing": () => engine.isTrustedServer(),
  "enforce: nothing": () => engine.enforce(),
  "resolve: nothing": () => engine.resolve(),
  "offer: no verdict": () => engine.approvals.offer(call),
  "gate: null as options": () => engine.gate(call, null),
  "gate: text as options": () => engine.gate(call, "/srv"),
  "gate: a number as the container's directory": () => engine.gate(call, { containerWorkspaceDir: 5 }),
  "gate: null as the container's directory": () => engine.gate(call, { containerWorkspaceDir: null }),
  "evaluate: null as options": () => engine.evaluate(call, null),
  "evaluateText: null as options": () => engine.evaluateText(JSON.stringify(call), null),
  "explain: null as options": () => engine.explain(call, null),
  "explainGate: null as options": () => engine.explainGate(call, null),
  "prepare: a number as the container's directory": () => engine.prepare(call, { containerWorkspaceDir: 5 }),
  "offer: null as options": () => engine.approvals.offer(call, { decision: "escalate" }, null),
  "prepareToolArgs: a number as the sandbox": () => prepareToolArgs({}, { args: {} }, 5),
  "prepareToolArgs: half a pair as the sandbox": () => prepareToolArgs({}, { args: {} }, "/\ud800"),
  "a host whose home is a number": () => engineOf({ ...host, homeDir: 5 }),
  "a host whose directory is half a pair": () => engineOf({ ...host, currentDir: "/\ud800" }),
  "createNodeHost: null": () => createNodeHost(null),
  "createRecordedHost: nothing": () => createRecordedHost(),
  "createRecordedHost: no recording": () => createRecordedHost({}),
  "PolicyEngine: null as options": () =>
    new PolicyEngine({ rules: [] }, { servers: {} }, [], undefined, undefined, undefined, undefined, null),
  "createEngine: null as a role": () =>
    createEngine({ policy: { rules: [] }, annotations: { servers: {} }, host, roles: [null] }),
  "a default host without callbacks": () => setDefaultHost({}),
  "a default host whose home is a number": () => {
    setDefaultHost({ ...host, homeDir: 5 });
    try {
      resolveRealPath("/a");
    } finally {
      setDefaultHost(undefined);
    }
  },
  "createEngine: nothing": () => createEngine(),
  "createEngine: text": () => createEngine("callgate.json"),
  "createVirtualHost: nothing": () => createVirtualHost(),
  "loadBundle: null": () => loadBundle(null),
  "loadBundle: another URL": () => loadBundle(new URL("https://a.test/callgate.json")),
};

test("a value of the wrong type is refused at the door, and the engine stays", () => {
  for (const [name, mistake] of Object.entries(MISTAKES)) {
    assert.throws(
      mistake,
      (thrown) => {
        assert.ok(thrown instanceof CallgateError, `${name}: ${thrown}`);
        assert.match(thrown.code, /^invalid-(?:argument|world|call|document)$/, name);
        return true;
      },
      name,
    );
    assert.equal(engine.evaluate(call).rule, "structural-unknown-tool", name);
  }
});
