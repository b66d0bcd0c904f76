import assert from "node:assert/strict";
import { test } from "node:test";
import { CallgateError, createEngine, createVirtualHost } from "callgate";
import { loadBundle } from "callgate/bundle";

const host = createVirtualHost({ home: "/home/u", cwd: "/srv" });
const engine = createEngine({ policy: { rules: [] }, annotations: { servers: {} }, host });
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
        assert.match(thrown.code, /^invalid-(?:argument|world|call)$/, name);
        return true;
      },
      name,
    );
    assert.equal(engine.evaluate(call).rule, "structural-unknown-tool", name);
  }
});
