// Files that somebody else wrote: what is wrong with one is said, and keeps no other out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { importFiles } = await load("files/import.ts");
const { scenarioLines } = await load("files/bundle.ts");
const { plainValue, readJson, withoutComments, withoutSpace } = await load("jsonc.ts");

const STATE = { files: { "callgate.json": "{}" }, machine: "{}", call: "{}", scenarios: [] };
const CALL = { serverName: "s", toolName: "t", arguments: {} };
const GOOD = { name: "good.jsonl", text: `${JSON.stringify({ call: CALL })}\n${JSON.stringify(CALL)}\n` };

/** Long enough for every machine, unless a text is read again from each of its places. */
const LONG = { timeout: 600_000 };

test("a text in which nothing ends is read once", LONG, () => {
  for (const piece of ['\\"', '"\\', "/*", "//", ", ", '{"a', '"", ', "/", ",\n", "[", "\\"]) {
    const text = `\n"${piece.repeat(1_000_000)}`;
    importFiles([{ name: "a.jsonl", text }], STATE);
    importFiles([{ name: "a.jsonl", text: `{}${text}` }], STATE);
    withoutSpace(text);
    readJson(text, 1);
  }
});

test("a list in which every item has a name twice is read once", LONG, () => {
  const text = `[\n${Array.from({ length: 100_000 }, () => '{"call": {"a": 1, "a": 2}}').join(",\n")}]`;
  const { said } = importFiles([{ name: "a.json", text }], STATE);
  assert.match(said, /100000 not imported, since the name `a` occurs twice, the second time in line 2, column 19/);
});

test("comments and trailing commas are left out, and no string changes", () => {
  for (const [text, bare] of [
    ['{"a": "//b", /* c */ "d": [1, 2, ], } // e\n{}', '{"a": "//b",  "d": [1, 2 ] } \n{}'],
    ['["\\"/*", "," , /* , */ ]', '["\\"/*", ","   ]'],
    ['"a, ] // b', '"a, ] // b'],
    ['"a\n// b\n"c"', '"a\n\n"c"'],
  ]) {
    assert.equal(withoutComments(text), bare);
  }
  assert.equal(withoutSpace('{ "a b" :\n "\\" c" }'), '{"a b":"\\" c"}');
  assert.deepEqual(plainValue(readJson('{"a\\"b": "c\\\\", "d": "e')), { 'a"b': "c\\", d: "e" });
});

test("a file that cannot be read is named, and the one beside it is imported", () => {
  const recorded = (recording, cases = []) => JSON.stringify({ format: "cases/1", engine: {}, recording, cases });
  const deep = `{"serverName": "s", "toolName": "t", "arguments": {"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}}`;
  for (const [text, why] of [
    [recorded({}), /no `homeDir`/],
    [recorded({ homeDir: "/h", currentDir: "/" }), /`exchanges` of its recording/],
    [recorded({ homeDir: "/h", currentDir: "/", exchanges: [null] }), /`exchanges` of its recording/],
    [deep, /nested more than 200 deep/],
    [`${deep}\n`, /nested more than 200 deep/],
    [`[${deep}]`, /nested more than 200 deep/],
    [`{}\n${deep}`, /nested more than 200 deep/],
  ]) {
    for (const given of [
      [{ name: "bad.json", text }, GOOD],
      [GOOD, { name: "bad.json", text }],
    ]) {
      const { change, said } = importFiles(given, STATE);
      assert.equal(change.scenarios.length, 2, text.slice(0, 80));
      assert.match(said, /^Imported 2 scenarios.*; 1 not imported, since/);
      assert.match(said, why);
    }
  }
});

test("a recording says that it replaces the bundle and the machine", () => {
  const recording = { homeDir: "/h", currentDir: "/", exchanges: [] };
  const text = JSON.stringify({ format: "cases/1", engine: { folder: "/" }, recording, cases: [{ call: CALL }] });
  const { said, change } = importFiles([{ name: "r.json", text }], STATE);
  const replaced = "a recording, whose bundle and machine replace those that were here";
  assert.equal(said, `Imported ${replaced}, 1 scenario`);
  assert.equal(change.scenarios.length, 1);
});

test("a scenario that a link brought with a machine that is not JSON is left out of the file, not everything", () => {
  const call = JSON.stringify(CALL);
  const { text, leftOut } = scenarioLines([{ call, world: "{" }, { call }, { call, recording: "no" }]);
  assert.equal(leftOut, 2);
  assert.deepEqual(JSON.parse(text), { call: CALL });
});

test("a bundle takes the place of the scenarios that were about another one", () => {
  const state = { ...STATE, scenarios: [{ call: "{}" }] };
  const bundle = { name: "callgate.json", text: '{"policy": {"rules": []}}' };
  assert.deepEqual(importFiles([bundle], state).change.scenarios, []);
  assert.equal(importFiles([bundle, GOOD], state).change.scenarios.length, 2);
  assert.equal(importFiles([GOOD], state).change.scenarios.length, 3);
});
