// The package's command beside the one that is built for this machine: the same bytes, on the same input.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isThere } from "./tools/hosts.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGE = join(ROOT, "js/dist/command.js");
// `cargo test`, which the suite runs before this, builds it.
const NATIVE = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target", "debug/callgate");

const ANNOTATIONS = '{"servers": {"s": {"tools": [{"toolName": "t", "args": {"a": "read-path", "b": "none"}}]}}}';
const policy = (then) =>
  `{"rules": [{"name": "n", "if": {"roles": "read-path"}, "then": "${then}", "reason": "é \\u2028"}]}`;
const bundle = (then) => `{"policy": ${policy(then)}, "annotations": ${ANNOTATIONS}}`;
const call = (a, rest = "") => `{"serverName": "s", "toolName": "t", "arguments": {"a": ${JSON.stringify(a)}${rest}}}`;
const frame = (params, id = 1) => `{"jsonrpc": "2.0", "id": ${id}, "method": "tools/call", "params": ${params}}`;
const CALLS = [
  call("/etc/hosts"),
  "",
  ' {"id": 12345678901234567890, "serverName": "s", "toolName": "t", "arguments": {"a": "x", "b": {"2": 1.0, "1": 1e400}}} ',
  call("x", ', "a": "y"'),
  '{"serverName": "s", "serverName": "s", "toolName": "t", "arguments": {}}',
  '{"serverName": "s", "toolname": "t"}',
  '{"serverName": "z", "toolName": "t", "arguments": {}}',
  '{"serverName": "s", "toolName": "tt", "arguments": {}}',
  '{"serverName": "s", "toolName": "other", "arguments": {}}',
  '{"serverName": "s", "toolName": "t", "arguments": [1]}',
  '{"serverName": "s", "toolName": "t", "arguments": {"a": "\\ud800"}}',
  '{"serverName": "s", "toolName": "t",, "arguments": {}}',
  '{"serverName": "s", "toolName": "t", "id": "é\\n\\u007f", "arguments": {"a": "/tmp/../etc"}, "context": [1]}',
  "[1]",
  "5",
  '\ufeff{"serverName": "s"}',
  '{"jsonrpc": "2.0", "id": 4, "result": {}}',
  '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
  '{"jsonrpc": "2.0", "method": "initialize"}',
  '{"jsonrpc": "2.0", "method": "initialize"}',
  frame('{"name": "t", "arguments": {"a": "~/x"}}', '"one"'),
  frame('{"name": "t"}', "null"),
  frame('{"nam": "t"}', 7),
  frame("[]"),
].join("\n");
const FILES = {
  "allow/callgate.json": bundle("allow"),
  "escalate/callgate.json": bundle("escalate"),
  "deny/callgate.json": bundle("deny"),
  "calls.jsonl": CALLS,
  "crlf.jsonl": `${call("a")}\r\n\r\n${call("b")}\r\n`,
  "many.json": `${call("a")}\n${call("b")}`,
  "one.json": `\n{\n  "serverName": "s",\n  "toolName": 5\n}\n`,
  "other.json": '{"jsonrpc": "2.0", "method": "ping"}',
  "blank.jsonl": " \n\t\n",
  "empty.json": "",
  "latin.jsonl": Buffer.concat([Buffer.from(call("é"), "latin1"), Buffer.from(`\n${call("ok")}`)]),
  "long.jsonl": `${call("x".repeat(16 << 20))}\n${call("a")}`,
  "faulty/callgate.json": `{"sandbox": 5,\n "policy": "sub/../policy.json", "annotations": {"servers": []}}`,
  "faulty/policy.json": '{"rules": [],\n "rules": []}',
  "faulty/sub/x": "",
  "unknown/callgate.json": '{\n"polcy": {}, "policy": 1}',
  "missing/callgate.json": "{}",
  "unread/callgate.json": `{"policy": "gone.json", "annotations": ${ANNOTATIONS}}`,
  "latin/callgate.json": `{"policy": "p.json", "annotations": "a.json"}`,
  "latin/p.json": Buffer.from([0x22, 0xe9, 0x22]),
  "latin/a.json": " ",
  "bom/callgate.json": "\ufeff{}",
  "text/callgate.json": "{",
  "warned/callgate.json": bundle("deny").replace('"if": {', '"if": {"server": "zz", '),
  "above/below/x": "",
  "above/callgate.json": bundle("allow"),
};

const project = realpathSync(mkdtempSync(join(tmpdir(), "callgate-command-")));
after(() => rmSync(project, { recursive: true, force: true }));
cpSync(join(ROOT, "host-shim/examples/bundle"), join(project, "example"), { recursive: true });
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

const answer = (command, args, { folder = "", input }) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: join(project, folder), input: input ?? "" });
  return { status, stdout: String(stdout), stderr: String(stderr) };
};

/** Runs both, and returns what the process ends with. */
function same(args, options = {}) {
  const native = answer(NATIVE, [...args, "--engine", "native", "--format", "json"], options);
  const found = answer(process.execPath, [PACKAGE, ...args], options);
  assert.deepEqual(found, native, args.join(" "));
  return found.status;
}

const there = (t) => isThere(t, NATIVE, existsSync(NATIVE));

test("both commands give the same answers", (t) => {
  if (!there(t)) {
    return;
  }
  for (const command of ["eval", "explain"]) {
    for (const flags of [[], ["--prepared"], ["--home", ".", "--cwd", ".."], ["--cwd", "."]]) {
      assert.equal(same([command, ...flags, "calls.jsonl"], { folder: "example" }), 2);
    }
    assert.equal(same([command, "-b", "allow", "--server", "s", "calls.jsonl"]), 1);
    assert.equal(same([command, "-b", "allow", "--server", "s", "--contexts", "calls.jsonl"]), 1);
    assert.equal(same([command, "-b", "allow", "calls.jsonl"]), 1);
    assert.equal(same([command, "-b", "allow/", "-"], { input: CALLS }), 1);
    for (const file of ["crlf.jsonl", "many.json", "one.json", "other.json", "latin.jsonl", "long.jsonl"]) {
      same([command, "-b", "allow/callgate.json", file]);
    }
    for (const [then, status] of Object.entries({ allow: 0, escalate: 3, deny: 2 })) {
      assert.equal(same([command, "-b", then, call("/etc/hosts")]), status);
      assert.equal(same([command, "-v", call("/etc/hosts")], { folder: then }), status);
    }
  }
});

test("both commands name the same faults", (t) => {
  if (!there(t)) {
    return;
  }
  for (const name of ["faulty", "unknown", "missing", "latin", "bom", "text"]) {
    assert.equal(same(["validate", "--bundle", name]), 4);
    assert.equal(same(["eval", "--bundle", name, call("x")]), 4);
    assert.equal(same(["validate"], { folder: name }), 4);
  }
  assert.equal(same(["validate", "--bundle", "warned"]), 0);
  assert.equal(same(["validate", "--bundle", "warned", "--strict"]), 4);
  assert.equal(same(["validate", "--bundle", join(project, "faulty")]), 4);
  for (const args of [
    ["eval", "-b", "allow", "gone.jsonl"],
    ["eval", "-b", "allow", "allow"],
    ["eval", "-b", "allow", "blank.jsonl"],
    ["eval", "-b", "allow", "empty.json"],
    ["eval", "-b", "allow"],
    ["eval", "-b", "allow", "--context", "[1]", call("x")],
    ["eval", "-b", "allow", "--cwd", "gone", call("x")],
    ["eval", "-b", "allow", "--home", "one.json", call("x")],
  ]) {
    assert.equal(same(args), 1, args.join(" "));
  }
  for (const args of [
    ["validate"],
    ["eval", call("x")],
    ["eval", "-b", "gone", call("x")],
    ["validate", "-b", "gone"],
    ["validate", "-b", "example/../latin/.."],
    ["validate", "-b", "unread"],
    ["validate", "-b", "one.json/x"],
    ["validate", "-b", "gone\u202e\n"],
  ]) {
    assert.equal(same(args), 4, args.join(" "));
  }
  assert.equal(same(["validate"], { folder: "above/below" }), 4);
});

test("the bundle that `init` writes is judged alike", (t) => {
  if (!there(t)) {
    return;
  }
  assert.equal(answer(NATIVE, ["init", "new"], {}).status, 0);
  assert.equal(same(["validate"], { folder: "new" }), 0);
  assert.equal(same(["eval", "calls.jsonl"], { folder: "new" }), 2);
  assert.equal(same(["explain", "calls.jsonl"], { folder: "new" }), 2);
});

test("a flag that the package's command cannot take is a fault", () => {
  const run = (...args) => answer(process.execPath, [PACKAGE, ...args], {});
  for (const args of [
    [],
    ["guard"],
    ["eval", "--policy", "p.json"],
    ["eval", "--format", "human", call("x")],
    ["eval", "--server", "a", "--server", "b", call("x")],
    ["eval", "--prepared", "--container-workspace-dir", "/w", call("x")],
    ["eval", "--context", "{}", "--contexts", call("x")],
    ["eval", call("x"), call("y")],
    ["validate", "x"],
  ]) {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [1, ""], args.join(" "));
    assert.match(stderr, /^error: .+\n {2}help: `callgate --help`/);
  }
  assert.match(run("--help").stdout, /Answers are JSON, one a line/);
  assert.match(run("eval", "--help").stdout, /^Decides/);
  assert.match(run("--version").stdout, /^callgate \d/);
});
