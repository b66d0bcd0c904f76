// The order of what is done after a change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { Due } = await load("engine/due.ts");

/** The steps after changes, in their order. `meanwhile` has the change that follows a step. */
function steps(change, meanwhile = {}) {
  const due = new Due();
  const done = [];
  due.changed(change);
  for (let step = due.first; step !== undefined; step = due.first) {
    due.done(step);
    done.push(step);
    const next = meanwhile[step];
    if (next !== undefined) {
      delete meanwhile[step];
      due.changed(next);
    }
  }
  return done;
}

test("after a change of the call the verdict is first, and no document is read anew", () => {
  assert.deepEqual(steps({ call: "" }), ["verdict", "explanation"]);
});

test("after a change of documents the verdict is first once they are read", () => {
  const all = ["documents", "verdict", "faults", "explanation", "scenarios"];
  assert.deepEqual(steps({ files: {}, machine: "", call: "", scenarios: [] }), all);
  assert.deepEqual(steps({ machine: "" }), all);
  assert.deepEqual(steps({ scenarios: [] }), ["scenarios"]);
});

test("a key comes before what is still to be done, which is done once", () => {
  const meanwhile = { verdict: { call: "" }, faults: { call: "" } };
  assert.deepEqual(steps({ files: {} }, meanwhile), [
    "documents",
    "verdict",
    "verdict",
    "faults",
    "verdict",
    "explanation",
    "scenarios",
  ]);
  assert.deepEqual(steps({ call: "" }, { verdict: { files: {} } }), [
    "verdict",
    "documents",
    "verdict",
    "faults",
    "explanation",
    "scenarios",
  ]);
});
