// How many scenarios are judged piece by piece.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { Trial } = await load("engine/trial.ts");

/** A trial of so many scenarios, with what was judged. */
function trial(count) {
  const judged = [];
  const order = Array.from({ length: count }, (_, at) => at);
  const of = new Trial();
  of.replace(order, new Map(order.map((number) => [number, { call: String(number) }])));
  const judge = ({ call }) => {
    judged.push(call);
    return { faults: [] };
  };
  return { of, judge, judged, order };
}

test("however late it is, each piece judges one scenario, and none is judged twice", () => {
  const { of, judge, judged } = trial(5);
  let pieces = 1;
  while (!of.advance(judge, () => true)) {
    assert.equal(judged.length, pieces);
    pieces += 1;
  }
  assert.deepEqual(judged, ["0", "1", "2", "3", "4"]);
  assert.equal(of.results.size, 5);
});

test("what is known is not judged again, whatever is added, removed or moved", () => {
  const { of, judge, judged } = trial(3);
  assert.ok(of.advance(judge, () => false));
  of.replace([2, 7, 0], new Map([[7, { call: "7" }]]));
  assert.ok(of.advance(judge, () => false));
  assert.deepEqual(judged, ["0", "1", "2", "7"]);
  assert.deepEqual([...of.results.keys()].sort(), [0, 2, 7]);
  // The worker holds no scenario that is gone.
  of.replace([1], new Map());
  assert.ok(of.advance(judge, () => false));
  assert.equal(of.results.size, 0);
});

test("after a change of the documents everything is judged anew", () => {
  const { of, judge, judged } = trial(4);
  of.advance(judge, () => true);
  of.forget();
  assert.ok(of.advance(judge, () => false));
  assert.deepEqual(judged, ["0", "0", "1", "2", "3"]);
});
