// How an edit of a long text is handed over and read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine, createVirtualHost, parseBundle } from "../../dist/node.js";
import { load } from "./modules.mjs";

const { editBetween, edited } = await load("engine/edit.ts");
const { editedInner, innerOf } = await load("engine/inner.ts");

/** Numbers that look like chance, and are the same in every run. */
function random(seed) {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % most;
  };
}

test("an edit turns one text into the other", () => {
  const next = random(7);
  const text = (length) => Array.from({ length }, () => "ab"[next(2)]).join("");
  for (let at = 0; at < 500; at += 1) {
    const [before, after] = [text(next(40)), text(next(40))];
    assert.equal(edited(before, editBetween(before, after)), after);
  }
  const long = text(100_000);
  for (const [from, to, insert] of [
    [50_000, 50_000, "c"],
    [99_999, 100_000, ""],
    [0, 3, "c"],
    [16_384, 32_768, "cc"],
  ]) {
    const after = long.slice(0, from) + insert + long.slice(to);
    const edit = editBetween(long, after);
    assert.equal(edited(long, edit), after);
    assert.ok(edit.insert.length <= insert.length, JSON.stringify(edit));
  }
  assert.deepEqual(editBetween(long, long).insert, "");
});

test("the edit that was made last is not looked for", () => {
  const edit = { from: 1, to: 4, insert: "bcde" };
  const after = edited("abcdf", edit);
  assert.equal(after, "abcdef");
  assert.equal(editBetween("abcdf", "abcdef"), edit);
  assert.deepEqual(editBetween("abcdf", "abcf"), { from: 3, to: 4, insert: "" });
  edited("abc", { from: 3, to: 3, insert: "d" });
  assert.deepEqual(editBetween("abcdf", after), { from: 4, to: 4, insert: "e" });
});

const BUNDLE = `// Ours.
{
  "sandbox": "/srv", // "policy": {}
  "policy": {
    "rules": [
      { "name": "a", "if": { "server": "s" }, "then": "allow", "reason": "http://a" }, /* b */
      { "name": "b", "if": {}, "then": "deny", "reason": "}" }
    ]
  },
  "annotations": { "servers": { "s": { "tools": [{ "toolName": "t", "args": {} }] } } }
}`;
const host = createVirtualHost({ home: "/home/u", cwd: "/" });

/** Everything that a bundle says, or nothing if it has faults. */
function saidBy(config) {
  try {
    createEngine({ ...config, host }).dispose();
  } catch {
    return undefined;
  }
  return ["policy", "annotations", "sandbox"].map((key) => String(config[key]).trim());
}

test("a bundle that is edited within a document is read as the whole is, or as a whole", () => {
  const inner = innerOf(BUNDLE);
  assert.equal(inner.key, "policy");
  const config = parseBundle(BUNDLE);
  const next = random(11);
  const pieces = [
    "x",
    " ",
    "}",
    "{",
    '"',
    "//",
    "/*",
    "*/",
    "/",
    ",",
    "]",
    "[",
    "\\",
    "}//",
    "} // {",
    '{"k": 1}',
    ":",
  ];
  let taken = 0;
  let good = 0;
  for (let at = 0; at < 20_000; at += 1) {
    const from = inner.from - 5 + next(inner.to - inner.from + 10);
    const to = Math.min(BUNDLE.length, from + (next(3) === 0 ? next(6) : 0));
    const after = BUNDLE.slice(0, from) + pieces[next(pieces.length)] + BUNDLE.slice(to);
    const found = editedInner(BUNDLE, inner, after);
    if (found === undefined) {
      continue;
    }
    taken += 1;
    const quick = saidBy({ ...config, policy: after.slice(found.from, found.to) });
    if (quick === undefined) {
      continue;
    }
    good += 1;
    let whole;
    try {
      whole = saidBy(parseBundle(after));
    } catch {
      // It has no bundle in it.
    }
    assert.deepEqual(quick, whole, after);
    const again = innerOf(after);
    assert.deepEqual(found, again, after);
  }
  assert.ok(taken > 5000 && good > 500, `${taken} ${good}`);
});

test("an edit that might move what follows is read as a whole", () => {
  const read = (before, after) => editedInner(before, innerOf(before), after);
  const line = '{"policy": {"rules": []}, "sandbox": "/srv/of/the/project"}';
  assert.equal(read(line, line.replace("[]", "[ ]")), undefined);
  const lines = line.replace(", ", ",\n");
  assert.deepEqual(read(lines, lines.replace("[]", "[ ]")), innerOf(lines.replace("[]", "[ ]")));
  assert.equal(read(lines, lines.replace("[]", "[\n]")), undefined);
  assert.equal(read(lines, lines.replace("{}", "").replace("[]}", "[]} // }")), undefined);
  assert.equal(read(lines, lines.replace("/srv", "/src")), undefined);
});
