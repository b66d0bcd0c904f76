// Drafts of annotations, and bundles and calls as texts. How they are read is tested in Rust.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createEngine, createVirtualHost, parseBundle, parseCall } from "callgate";
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

const BUNDLE = `{
  "sandbox": ".", // relative to the folder
  "policy": "policy.json",
  "annotations": { "servers": { "filesystem": { "tools": [{ "toolName": "read", "args": { "path": "read-path" } }] } } },
}`;
const host = createVirtualHost({ home: "/home/u", cwd: "/" });
const files = {
  "policy.json": '{\n  "rules": [{ "name": "r", "if": { "server": "nobody" }, "then": "allow", "reason": "" }]\n}',
};
const read = (path) => files[path];

test("a bundle is read from its text, and from the texts that it names", () => {
  const engine = createEngine({ ...parseBundle(BUNDLE, { folder: "/srv/app", read }), host });
  const { call } = parseCall('{"serverName": "filesystem", "toolName": "read", "arguments": {"path": "/srv/app/a"}}');
  assert.equal(engine.gate(call).verdict.rule, "structural-sandbox-allow");
  assert.deepEqual(
    engine.diagnostics.map(({ file, line, column }) => [file, line, column]),
    [["policy.json", 2, 46]],
  );
});

test("faults of a bundle have their places", () => {
  const places = (run) => {
    try {
      return run();
    } catch (thrown) {
      assert.ok(thrown instanceof CallgateError);
      return thrown.diagnostics.map(({ file, path, line }) => [file, path, line]);
    }
  };
  assert.deepEqual(
    places(() => parseBundle('{\n  "polcy": {} }', { file: "a.json" })),
    [["a.json", "bundle.polcy", 2]],
  );
  assert.deepEqual(
    places(() => parseBundle(BUNDLE)),
    [["callgate.json", "bundle.policy", undefined]],
  );
  const wrong = BUNDLE.replace('"read-path"', '"rd-path"');
  assert.deepEqual(
    places(() => createEngine({ ...parseBundle(wrong, { read: () => '{ "rules": [] }', folder: "/srv" }), host })),
    [["callgate.json", "annotations.servers.filesystem.tools[0].args.path", 4]],
  );
});

test("documents are found in a bundle whatever letters stand before them", () => {
  const annotations = { servers: { é: { tools: [{ toolName: "🦀", args: { path: "read-path" } }] } } };
  const text = `{ "description": "é 🦀",\n "annotations": ${JSON.stringify(annotations)}, // 🦀\n "policy": { "rules": [5] } }`;
  const config = parseBundle(text);
  assert.deepEqual(JSON.parse(String(config.annotations)), annotations);
  assert.throws(
    () => createEngine({ ...config, host }),
    ({ diagnostics: [{ path, line, column }] }) => {
      assert.deepEqual([path, line, column], ["policy.rules[0]", 3, 24]);
      return true;
    },
  );
});

test("a call is read as the command reads its lines", () => {
  const { call, context } = parseCall('{"serverName": "s", "toolName": "t", "context": {"mode": "dev"}}');
  assert.deepEqual([call.serverName, context], ["s", { mode: "dev" }]);
  const frame = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t", arguments: { a: 1 } } };
  assert.deepEqual(parseCall(JSON.stringify(frame), "s").call, { serverName: "s", toolName: "t", arguments: { a: 1 } });
  for (const text of ['{"serverName": "s", "toolName": "t", "toolName": "u"}', JSON.stringify(frame), "nope"]) {
    assert.throws(() => parseCall(text), { code: "invalid-call" });
  }
});

test("a name that occurs twice is refused where it stands, since parsers would read it differently", () => {
  const args = (text) => `{"serverName": "s", "toolName": "t",\n "arguments": ${text}}`;
  for (const [text, path, line, column] of [
    [args('{"path": "/a", "path": "/b"}'), "call.arguments.path", 2, 30],
    [args('{"path": "/a", "p\\u0061th": "/b"}'), "call.arguments.path", 2, 30],
    [args('{"list": [{"a": 1}, {"a": {"b": 1, "b": 1}}]}'), "call.arguments.list[1].a.b", 2, 50],
    ['{"serverName": "s", "toolName": "t", "context": {"mode": "dev", "mode": "x"}}', "call.context.mode", 1, 65],
    [
      '{"method": "tools/call", "params": {"name": "t", "arguments": {"a": 1, "a": 2}}}',
      "call.params.arguments.a",
      1,
      72,
    ],
    [args('{"path": "\\ud800"}'), "call", 2, 31],
  ]) {
    assert.throws(
      () => parseCall(text, text.includes("method") ? "s" : undefined),
      ({ code, diagnostics: [fault] }) => {
        assert.equal(code, "invalid-call");
        assert.deepEqual([fault.path, fault.line, fault.column], [path, line, column], text);
        return true;
      },
    );
  }
  const apart = args('{"a": {"b": 1}, "c": [{"b": 2}, {"b": 3}]}');
  assert.deepEqual(parseCall(apart).call.arguments, { a: { b: 1 }, c: [{ b: 2 }, { b: 3 }] });
});
