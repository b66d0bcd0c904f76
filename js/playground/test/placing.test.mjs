// Where documents of several files go, and how they come to stand in one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { withDocument, isWrittenOut } = await load("files/place.ts");
const { oneFile } = await load("files/bundle.ts");
const { plainValue, readJson } = await load("jsonc.ts");

const BUNDLE = "callgate.json";
const NAMED = {
  [BUNDLE]:
    '{\n  "policy": "parts/rules.json",\n  "annotations": "./parts/tools.json",\n  "ceiling": "a/c.json",\n  "lists": "b/c.json"\n}',
};

/** Where a file goes in a bundle. */
function placed(files, name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const found = withDocument(files, { name, text });
  assert.ok(found === undefined || found.as === BUNDLE || text === found.files[found.as] || found.as.endsWith(BUNDLE));
  return found;
}

test("a file goes where the bundle names it", () => {
  const as = (name, value) => placed(NAMED, name, value)?.as;
  // By its path, by the end of its path, by its name, or by what it holds.
  assert.equal(as("parts/rules.json", { rules: [] }), "parts/rules.json");
  assert.equal(as("project/parts/rules.json", { rules: [] }), "parts/rules.json");
  assert.equal(as("rules.json", { rules: [] }), "parts/rules.json");
  assert.equal(as("other.json", { rules: [] }), "parts/rules.json");
  assert.equal(as("other.json", { servers: {} }), "parts/tools.json");
  // Two files are called c.json.
  assert.equal(as("c.json", { lists: {} }), "b/c.json");
  assert.equal(as("c.json", { tools: ["fs/*"] }), "a/c.json");
  assert.equal(as("b/c.json", { lists: {} }), "b/c.json");
  // A text with faults is the named file too, and the engine says what is wrong.
  assert.equal(as("rules.json", "{"), "parts/rules.json");
  assert.equal(as("rules.json", "nothing of this"), "parts/rules.json");
  assert.equal(as("other.json", "nothing of this"), undefined);
  assert.equal(as("other.json", { tools: [{ name: "read" }] }), undefined);
  assert.equal(as("call.json", { serverName: "s", toolName: "t" }), undefined);
});

test("a document goes in place of one that stands in the bundle, and a new kind is named there", () => {
  const files = { [BUNDLE]: '// Ours.\n{ "policy": {"rules": []}, "sandbox": ".", "lists": null, }' };
  const policy = placed(files, "policy.json", '// New.\n{"rules": [1]} // End.\n');
  assert.equal(policy.files[BUNDLE], '// Ours.\n{ "policy": {"rules": [1]}, "sandbox": ".", "lists": null, }');
  assert.ok(isWrittenOut(files, { name: "policy.json", text: '{"rules": []}' }));
  assert.ok(!isWrittenOut(NAMED, { name: "policy.json", text: '{"rules": []}' }));
  const world = placed(files, "w.json", { roots: {} });
  assert.equal(world.files["w.json"], '{"roots":{}}');
  assert.deepEqual(Object.keys(plainValue(readJson(world.files[BUNDLE]))), ["world", "policy", "sandbox", "lists"]);
  assert.equal(plainValue(readJson(world.files[BUNDLE])).world, "w.json");
  assert.equal(placed({ [BUNDLE]: "{}" }, "p.json", { rules: [] }).files[BUNDLE], '{\n  "policy": "p.json"\n}');
  // Of a bundle that is none, nothing is made.
  assert.equal(placed({ [BUNDLE]: "[]" }, "p.json", { rules: [] }), undefined);
});

test("the files of a bundle stand in one, whatever comments they begin and end with", () => {
  const files = {
    [BUNDLE]: '{ // Names.\n "policy": "p.json", "annotations": "./a.json", "lists": "none.json", "world": {} }',
    "p.json": '// Rules.\n{ "rules": [] } // The end.',
    "a.json": '{ "$schema": "s", "servers": {} } /* done */\n',
  };
  const { text, missing } = oneFile(files);
  assert.deepEqual(missing, ["none.json"]);
  assert.deepEqual(plainValue(readJson(text)), {
    policy: { rules: [] },
    annotations: { $schema: "s", servers: {} },
    lists: "none.json",
    world: {},
  });
  assert.match(text, /The end\.\n, "annotations"/);
});
