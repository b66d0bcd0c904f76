// What the editor knows of a text that is being written.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** A module of the page, as Node can load it. */
async function load(path) {
  const input = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

const { cursorAt, follow, plainValue, readJson } = await load("jsonc.ts");
const { keysOf, schemasAt, valuesOf } = await load("editor/schema.ts");
const { callTitle } = await load("panes/call-title.ts");

const read = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const TEXT = read("host-shim/src/bin/callgate/init/callgate.json");
const SCHEMA = JSON.parse(read("js/schemas/bundle.json"));

test("JSON is read as JSON.parse reads it", () => {
  for (const path of ["host-shim/examples/bundle/annotations.json", "js/schemas/bundle.json"]) {
    const text = read(path);
    assert.deepEqual(plainValue(readJson(text)), JSON.parse(text));
  }
  const odd = '{"__proto__": [1, -2.5e3, "\\u00e9\\"", true, null, {}]}';
  assert.deepEqual(plainValue(readJson(odd)), JSON.parse(odd));
});

test("comments and trailing commas are passed over, and places are those in the text", () => {
  const bundle = readJson(TEXT);
  const name = follow(bundle, ["policy", "rules", 1, "name"]);
  assert.equal(TEXT.slice(name.from, name.to), '"keep-the-system"');
  assert.deepEqual(plainValue(follow(bundle, ["protectedPaths"])), ["~/.ssh", "**/.env", "**/.git", "callgate.json"]);
});

test("a text that is cut anywhere is read as far as it goes", () => {
  for (let end = 0; end <= TEXT.length; end += 1) {
    const cut = TEXT.slice(0, end);
    const node = readJson(cut);
    cursorAt(node, end);
    assert.ok(node === undefined || node.to <= end);
  }
  assert.ok(readJson("[".repeat(5000)));
  assert.deepEqual(plainValue(readJson('{"a" 1, "b": , : "c": [2 3,, 4')), {
    a: undefined,
    1: undefined,
    b: undefined,
    c: [2, 3, 4],
  });
});

/** Where the bar in a text stands. */
function at(text) {
  const offset = text.indexOf("|");
  const { path, isKey } = cursorAt(readJson(text.replace("|", "")), offset);
  return [path, isKey];
}

test("a cursor knows whether it stands at a key or at a value", () => {
  assert.deepEqual(at('{"pol|"}'), [[], true]);
  assert.deepEqual(at("{|}"), [[], true]);
  assert.deepEqual(at('{"policy": {"ru|": []}}'), [["policy"], true]);
  assert.deepEqual(at('{"options": {"sandbox": "bef|"}}'), [["options", "sandbox"], false]);
  assert.deepEqual(at('{"options": {"sandbox": |}}'), [["options", "sandbox"], false]);
  assert.deepEqual(at('{"policy": {"rules": [{"then": "a"}, {"th|"}]}}'), [["policy", "rules", 1], true]);
  assert.deepEqual(at('{"sandbox": ".", |}'), [[], true]);
});

test("the schema says what may stand there", () => {
  const keys = (path) => keysOf(schemasAt(SCHEMA, path)).map(({ name }) => name);
  const values = (path) => valuesOf(schemasAt(SCHEMA, path)).map(({ value }) => value);
  assert.ok(keys([]).includes("domainAllowlists"));
  assert.ok(keys(["policy", "rules", 3, "if"]).includes("domains"));
  assert.ok(keys(["annotations", "servers", "any", "tools", 0]).includes("toolName"));
  assert.deepEqual(values(["policy", "rules", 0, "then"]).sort(), ["allow", "deny", "escalate"]);
  assert.ok(values(["policy", "rules", 0, "if", "paths", "roles", 1]).includes("read-path"));
  assert.deepEqual(keys(["nothing", "of", "this"]), []);
});

test("a call has a title, whatever it is", () => {
  assert.equal(callTitle('{"serverName": "s", "toolName": "t", "arguments": {"a": "x", "b": [1]}}'), "s/t x [1]");
  assert.equal(callTitle("{"), "{");
});
