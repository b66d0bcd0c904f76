// The editor and a text that is being written.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { cursorAt, follow, plainValue, readJson } = await load("jsonc.ts");
const { keysOf, schemasAt, valuesOf } = await load("editor/schema.ts");
const { callTitle } = await load("panes/call-title.ts");
const { parseStrictly } = await load("strict.ts");

const read = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const TEXT = read("core/authoring/src/start/usual/callgate.json");
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
  assert.equal(plainValue(follow(bundle, ["protectedPaths", 1])), "**/.env");
  assert.deepEqual(plainValue(follow(bundle, ["protectedPaths", 2])), { path: "callgate.json", against: "write" });
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

test("a name that occurs twice is refused, however it is written", () => {
  assert.deepEqual(parseStrictly('{"a": {"b": 1}, "c": [{"b": 2}, {"b": 3}]}'), {
    a: { b: 1 },
    c: [{ b: 2 }, { b: 3 }],
  });
  for (const [text, fault] of [
    ['{"a": 1,\n "\\u0061": 2}', "the name `a` occurs twice, the second time in line 2, column 2"],
    ['{"é": [0, {"x": {}, "x": []}]}', "the name `x` occurs twice, the second time in line 1, column 21"],
    ['{"": 1, "": 1}', "the name `` occurs twice, the second time in line 1, column 9"],
    ['{"__proto__": 1, "__proto__": 2}', "the name `__proto__` occurs twice, the second time in line 1, column 18"],
  ]) {
    assert.throws(() => parseStrictly(text), { message: fault });
  }
  assert.throws(() => parseStrictly("{} {}"), SyntaxError);
});

/** Where the bar in a text stands. */
function at(text) {
  const offset = text.indexOf("|");
  const { path, isKey } = cursorAt(readJson(text.replace("|", "")), offset);
  return [path, isKey];
}

test("the outline of a text has the places of what it passes over", () => {
  for (const text of [
    TEXT,
    read("host-shim/examples/bundle/annotations.json"),
    '{"a": [1, "]\\"}", /* } */ {}], "b": {',
  ]) {
    const [whole, outline] = [readJson(text), readJson(text, 1)];
    const places = ({ members }) => members.map(({ key, value }) => [key, value?.from, value?.to]);
    assert.deepEqual(places(outline), places(whole));
  }
});

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

const { described, nodesOf } = await load("analysis/nodes.ts");

/** A region of calls with a path and, where it is given, a second argument. */
const region = (within, is, decision, second) => ({
  places: [
    { argument: "path", roles: ["read-path"], is, within },
    ...(second === undefined ? [] : [{ argument: "mode", roles: [], is: second }]),
  ],
  decision,
  rule: `r-${decision}`,
  arguments: { path: `${within}/some-file`, mode: second },
});

test("regions are a tree: directories below those that hold them, then other values", () => {
  const nodes = nodesOf([
    region("/srv/app-data", "under /srv/app-data", "allow"),
    region("/", "elsewhere: not under /srv", "deny"),
    region("/srv", "under /srv but not /srv/app or /srv/app-data", "escalate"),
    region("/srv/app", "under /srv/app, matching `**/.env`", "deny"),
    region("/srv/app", "under /srv/app", "allow"),
    region("/home", "/home itself, which holds /home/u", "deny"),
    region(undefined, "absent", "deny"),
  ]);
  assert.deepEqual(
    nodes.map(({ name, level }) => [name, level]),
    [
      ["/", 1],
      ["itself, which holds /home/u", 3],
      ["srv", 2],
      ["app", 3],
      ["matching `**/.env`", 4],
      ["app-data", 3],
      ["absent", 1],
    ],
  );
  assert.equal(nodes[3].title, "under /srv/app");
});

test("what a second argument makes of a place is listed, verdicts alike together", () => {
  const [open, split] = nodesOf([
    region("/a", "under /a", "allow", "`x`"),
    region("/a", "under /a", "allow", "absent"),
    region("/b", "under /b", "deny", "`x`"),
    region("/b", "under /b", "deny", "`y`"),
    region("/b", "under /b", "allow", "absent"),
  ]);
  assert.deepEqual(
    open.variants.map(({ places }) => places),
    [[]],
  );
  assert.deepEqual(
    split.variants.map(({ places, decision }) => [described(places), decision]),
    [
      ["mode: absent", "allow"],
      ["mode: `x`; `y`", "deny"],
    ],
  );
});
