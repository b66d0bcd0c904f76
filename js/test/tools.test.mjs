// The entry for tools: drafts of annotations. How arguments are drafted is tested in Rust.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CallgateError, proposeAnnotations } from "callgate/tools";

const recorded = readFileSync(new URL("../../tests/drafts/tools/filesystem.json", import.meta.url), "utf8");
const TOOL = { name: "read_file", inputSchema: { type: "object", properties: { path: { type: "string" } } } };

test("a list is drafted alike as text, as an object, as a reply and as an array", () => {
  const list = JSON.parse(recorded);
  const expected = proposeAnnotations(recorded, "filesystem");
  assert.equal(expected.annotations.servers.filesystem.tools.length, list.tools.length);
  assert.deepEqual(JSON.parse(expected.text), expected.annotations);
  for (const tools of [list, { result: list }, list.tools]) {
    assert.deepEqual(proposeAnnotations(tools, "filesystem"), expected);
  }
});

test("what was written by hand stays as it is", () => {
  const existing = '{ "servers": { "s": { "tools": [ {"toolName":"gone","args":{}} ] } } }\n';
  const { text, drift } = proposeAnnotations([TOOL], "s", existing);
  assert.ok(
    text.startsWith('{ "servers": { "s": { "tools": [ {"toolName":"gone","args":{}}, {"toolName": "read_file"'),
  );
  assert.deepEqual(
    drift.map(({ change, tool }) => [change, tool]),
    [
      ["new-tool", "read_file"],
      ["gone-tool", "gone"],
    ],
  );
  assert.deepEqual(proposeAnnotations([TOOL], "s", JSON.parse(existing)).drift, drift);
});

test("what cannot be read is refused with its place", () => {
  for (const [ask, code, path] of [
    [() => proposeAnnotations([{}], "s"), "invalid-document", "toolsList[0]"],
    [() => proposeAnnotations([TOOL], "s", { servers: [] }), "invalid-document", "toolAnnotations.servers"],
    [() => proposeAnnotations([TOOL], "\ud800"), "invalid-argument", undefined],
  ]) {
    assert.throws(ask, (thrown) => {
      assert.ok(thrown instanceof CallgateError);
      assert.deepEqual([thrown.code, thrown.diagnostics[0]?.path], [code, path]);
      return true;
    });
  }
});
