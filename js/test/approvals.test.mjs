// Approvals in the package's API: offers, the list, documents, and when approvals end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CallgateError, createEngine, createRecordedHost, createVirtualHost, PolicyEngine } from "callgate";
import { annotationsOf, call, policyOf } from "./support.mjs";

const disk = createVirtualHost({
  home: "/home/u",
  cwd: "/",
  fs: { files: ["/home/u/docs/a", "/home/u/docs/b", "/home/u/other/c"] },
});
const policy = policyOf({ if: { roles: ["read-path"] }, then: "escalate" });
const annotations = annotationsOf({ s: { read: { path: ["read-path"] }, wait: { time: ["none"] } } });
const read = (path) => call("s", "read", { path });

function engineWith(host = disk, more = {}) {
  return createEngine({ policy, annotations, host, ...more });
}

/** An engine that has approved reading `/home/u/docs/a`, and the id. */
function approved(more = {}) {
  const engine = engineWith();
  const request = read("/home/u/docs/a");
  const offer = engine.approvals.offer(request, engine.gate(request).verdict);
  return { engine, offer, id: engine.approvals.add({ ...offer, ...more }) };
}

const refuses = (code, path) => (thrown) =>
  thrown instanceof CallgateError &&
  thrown.code === code &&
  (path === undefined || thrown.diagnostics.some((fault) => fault.path === path));

test("an offer says what an approval would cover", () => {
  const engine = engineWith();
  const request = read("~/docs/a");
  const { verdict } = engine.gate(request);
  const offer = engine.approvals.offer(request, verdict);
  assert.equal(offer.description, "Allow s/read read-path within /home/u/docs");
  assert.deepEqual(offer.constraints, [{ kind: "directory", role: "read-path", directory: "/home/u/docs" }]);
  assert.equal(offer.originalReason, verdict.reason);
  assert.deepEqual(engine.approvals.list(), []);
  assert.equal(engine.gate(request).verdict.decision, "escalate");
  // Another verdict than the one that the call gets is not a ground for an offer.
  assert.equal(engine.approvals.offer(request, { ...verdict, reason: "something else" }), undefined);
  assert.equal(engine.approvals.offer(request, { ...verdict, decision: "deny" }), undefined);
  assert.equal(engine.approvals.offer(read("/x"), engine.gate(read("/x")).verdict), undefined);
  const unknown = call("s", "walk", {});
  assert.equal(engine.approvals.offer(unknown, engine.gate(unknown).verdict), undefined);
});

test("every way of judging heeds approvals, and names the one that covers the call", () => {
  const { engine, id } = approved();
  assert.equal(id, "approval-1");
  const request = read("/home/u/docs/b");
  const { verdict, argsForTransport } = engine.gate(request);
  assert.deepEqual(verdict, {
    decision: "allow",
    rule: "structural-approval",
    reason: 'Approval "approval-1" covers the call: "Allow s/read read-path within /home/u/docs"',
    approval: id,
  });
  assert.ok(Object.isFrozen(verdict));
  assert.deepEqual(argsForTransport, { path: "/home/u/docs/b" });
  assert.deepEqual(engine.evaluate(request), verdict);
  assert.deepEqual(engine.evaluateText(JSON.stringify(request)), verdict);
  const explained = engine.explain(request);
  assert.deepEqual(explained.verdict, verdict);
  assert.deepEqual(explained.checks.at(-1), {
    check: "approvals",
    passed: true,
    detail: `"approval-1" covers what "${policy.rules[0].name}" escalates: ${policy.rules[0].reason}`,
  });
  assert.deepEqual(engine.explainGate(request).verdict, verdict);
  for (const other of [read("/home/u/other/c"), read("/home/u/docs-old"), read("/home/u")]) {
    const judged = engine.gate(other).verdict;
    assert.equal(judged.decision, "escalate");
    assert.ok(!("approval" in judged));
    assert.equal(engine.evaluate(other).decision, "escalate");
  }
  assert.equal(engine.evaluate(read("/home/u/docs/\0")).decision, "deny");
});

test("the list is of the engine, and can be changed at any time", () => {
  const { engine, offer } = approved();
  const request = read("/home/u/docs/a");
  const second = engine.approvals.add({ ...offer, id: "mine" });
  assert.equal(second, "mine");
  assert.deepEqual(
    engine.approvals.list().map(({ id }) => id),
    ["approval-1", "mine"],
  );
  assert.ok(engine.approvals.list().every((entry) => Object.isFrozen(entry) && Object.isFrozen(entry.constraints)));
  assert.ok(Math.abs(Date.parse(engine.approvals.list()[0].createdAt) - Date.now()) < 60_000);
  assert.equal(engine.approvals.remove("nobody"), false);
  assert.equal(engine.approvals.remove("approval-1"), true);
  assert.equal(engine.evaluate(request).approval, "mine");
  assert.equal(engine.approvals.remove("mine"), true);
  assert.equal(engine.evaluate(request).decision, "escalate");
  assert.equal(engineWith().evaluate(request).decision, "escalate");
});

test("a document holds them, and is refused as a whole", () => {
  const { engine } = approved({ sourceEscalationId: "e-1" });
  const text = JSON.stringify(engine.approvals);
  assert.equal(JSON.parse(text).format, "approvals/1");
  const other = engineWith();
  other.approvals.fromJSON(text);
  assert.deepEqual(other.approvals.list(), engine.approvals.list());
  assert.deepEqual(other.approvals.toJSON(), engine.approvals.toJSON());
  assert.equal(other.evaluate(read("/home/u/docs/a")).approval, "approval-1");
  const [entry] = engine.approvals.list();
  const document = (...entries) => ({ format: "approvals/1", entries });
  const wrong = (members) => document({ ...entry, ...members });
  for (const [given, path] of [
    [document(entry, entry), "approvals.entries[1].id"],
    [{ ...document(), format: "approvals/2" }, "approvals.format"],
    [{ ...document(), more: 1 }, "approvals.more"],
    [wrong({ constraints: [] }), "approvals.entries[0].constraints"],
    [wrong({ expires: "x" }), "approvals.entries[0].expires"],
    [wrong({ expiresAt: "soon" }), "approvals.entries[0].expiresAt"],
    [wrong({ toolName: 1 }), "approvals.entries[0].toolName"],
    ["{", undefined],
    [5, "approvals"],
    [undefined, "approvals"],
  ]) {
    assert.throws(() => other.approvals.fromJSON(given), refuses("invalid-document", path));
  }
  assert.equal(other.approvals.list().length, 1);
  for (const [given, path] of [
    [{ ...entry }, "approval.id"],
    [{ ...entry, id: undefined, constraints: [{ kind: "directory", role: "read-path", directory: "/" }] }, undefined],
    [{ ...entry, id: 7 }, "approval.id"],
    [{}, "approval"],
    [null, "approval"],
  ]) {
    assert.throws(() => other.approvals.add(given), refuses("invalid-document", path));
  }
  other.approvals.fromJSON(document());
  assert.deepEqual(other.approvals.list(), []);
  assert.equal(other.evaluate(read("/home/u/docs/a")).decision, "escalate");
});

test("an approval ends", () => {
  const { engine, id } = approved({ expiresAt: "2026-03-01T12:00:00Z" });
  const request = read("/home/u/docs/a");
  const end = Date.parse("2026-03-01T12:00:00Z");
  for (const [now, approval] of [
    [end - 1, id],
    [end, undefined],
    ["2026-03-01T13:59:59+02:00", id],
    ["2026-03-01T12:00:00.001Z", undefined],
    [0, id],
  ]) {
    for (const verdict of [
      engine.gate(request, { now }).verdict,
      engine.evaluate(request, { now }),
      engine.evaluateText(JSON.stringify(request), { now }),
      engine.explain(request, { now }).verdict,
      engine.explainGate(request, { now }).verdict,
    ]) {
      assert.equal(verdict.approval, approval, `${now}`);
    }
  }
  // Each call has its own time; without one it is made now.
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const { engine: open } = approved({ expiresAt: inAnHour });
  assert.equal(open.evaluate(request, { now: Date.parse(inAnHour) }).decision, "escalate");
  assert.equal(open.evaluate(request).decision, "allow");
  const { engine: closed } = approved({ expiresAt: "2020-01-01T00:00:00Z" });
  assert.equal(closed.evaluate(request, { now: 0 }).decision, "allow");
  assert.equal(closed.evaluate(request).decision, "escalate");
  for (const now of ["today", "2026-03-01", Number.NaN, Number.POSITIVE_INFINITY, {}, null]) {
    assert.throws(() => engine.gate(request, { now }), refuses("invalid-argument"), `${now}`);
  }
});

test("a recording needs the approvals and the time, and nothing of the host", () => {
  const { engine } = approved({ expiresAt: "2026-03-01T12:00:00Z" });
  const request = read("/home/u/docs/b");
  const explained = engine.explain(request, { now: 0 });
  const again = engineWith(createRecordedHost(explained.recording));
  assert.equal(again.explain(request, { now: 0 }).verdict.decision, "escalate");
  again.approvals.fromJSON(engine.approvals.toJSON());
  assert.deepEqual(again.explain(request, { now: 0 }), explained);
});

test("a host may change approvals while it is asked", () => {
  const { offer } = approved();
  const answers = {
    ...disk,
    realpath: (path) => {
      if (engine.approvals.list().length === 0) {
        engine.approvals.add(offer);
      }
      return disk.realpath(path);
    },
  };
  const engine = engineWith(answers);
  const request = read("/home/u/docs/a");
  assert.equal(engine.evaluate(request).decision, "escalate");
  assert.equal(engine.evaluate(request).decision, "allow");
});

test("the engine of the existing runtime has no approvals", () => {
  const engine = new PolicyEngine(policy, annotations, [], undefined, undefined, undefined, undefined, { host: disk });
  assert.ok(!("approvals" in engine));
});
