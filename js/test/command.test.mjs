// The package's command beside the one that is built for this machine: the same bytes, on the same input.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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
  "lint/callgate.json": bundle("allow").replace(
    '{"rules": [',
    '{"rules": [{"name": "m", "if": {"roles": "read-path"}, "then": "deny", "reason": "m"}, ',
  ),
  "stated/callgate.json": bundle("allow").replace(
    /\}$/,
    ', "invariants": [{"name": "a", "never": {"decision": "allow", "roles": ["read-path"], "within": "/etc"}}]}',
  ),
  "proven/callgate.json": bundle("deny").replace(
    /\}$/,
    ', "invariants": [{"name": "a", "never": {"decision": "allow", "roles": ["read-path"], "within": "/etc"}}]}',
  ),
  "tools.json": '{"tools": [{"name": "read_file", "inputSchema": {"properties": {"path": {"type": "string"}}}}]}',
  "odd-tools.json": "[{}, 5]",
  "tested/callgate.json": bundle("allow").replace(/\}$/, ', "tests": ["good.jsonl", "../bad.json"]}'),
  "tested/good.jsonl": [
    { name: "reads", call: call("/etc/hosts"), expect: "allow", rule: "n" },
    { call: call("~/x"), expect: "not-allow", rule: "m" },
    {
      call: call("/srv/link/x"),
      expect: "deny",
      world: { home: "/h", cwd: "/srv", fs: { links: { "/srv/link": "/etc" } } },
    },
    { call: '{"serverName": "s", "toolName": "tt", "arguments": {}}', rule: "nn", context: { mode: "a" } },
  ]
    .map((scenario) => JSON.stringify(scenario))
    .join("\n"),
  "bad.json": `{"world": {"home": "/h", "cwd": "/w"}, "scenarios": [{"call": ${call("a")}, "expect": "deny"}]}`,
  "faulty.jsonl": `{"call": ${call("a")}, "world": {"home": "/h", "cwd": "w", "fs": 5}, "expect": "allow"}\n{"cal": 5}`,
  "placeless/callgate.json": bundle("allow").replace(/^\{/, '{"sandbox": "gone", '),
  "annotated.json": `{ // kept\n  "servers": {"s": {"tools": [{"toolName": "t", "args": {"a": "read-path"}}]}}\n}\n`,
  "named/callgate.json": `{"policy": {"rules": []}, "annotations": "own.json"}`,
  "held/callgate.json": bundle("deny"),
  "bare/callgate.json": '{"policy": {"rules": []}}',
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
function same(args, { flags = ["--engine", "native", "--format", "json"], ...options } = {}) {
  const native = answer(NATIVE, [...args, ...flags], options);
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

test("both commands see the same in all calls", (t) => {
  if (!there(t)) {
    return;
  }
  for (const name of ["example", "allow", "deny", "escalate", "lint", "warned", "stated"]) {
    for (const args of [["map"], ["map", "--disk"], ["lint"], ["lint", "--disk"]]) {
      assert.equal(same([...args, "--bundle", name]), 0);
    }
    same(["lint", "--deny-warnings"], { folder: name });
    same(["lint", "--sarif", "--deny-warnings"], { folder: name });
    same(["check", "-b", name]);
  }
  assert.equal(same(["lint", "--deny-warnings", "-b", "lint"]), 4);
  assert.equal(same(["check", "-b", "stated"]), 2);
  assert.equal(same(["check", "-b", "proven"]), 0);
  for (const args of [
    ["--only", "allow", "--only", "deny"],
    ["--to", "/etc/passwd"],
    ["--to", "/etc/passwd", "--tool", "s/t"],
    ["--tool", "none", "--only", "allow"],
    ["--tool", "*"],
  ]) {
    assert.equal(same(["map", "-b", "allow", ...args]), args[1] === "*" ? 1 : 0, args.join(" "));
  }
  assert.equal(same(["map", "-b", "allow", "--tool", "none", "--tool", "no-ne"]), 1);
  for (const [old, now, status] of [
    ["allow", "deny", 0],
    ["deny", "allow/callgate.json", 2],
    ["escalate", "escalate", 0],
  ]) {
    assert.equal(same(["diff", old, now, "--fail-on", "looser"]), status);
    same(["diff", old, now, "--disk"]);
  }
  cpSync(join(project, "example"), join(project, "elsewhere"), { recursive: true });
  same(["diff", "elsewhere", "example"]);
  assert.equal(same(["diff", "elsewhere", "example", "--same-folder", "--fail-on", "any"]), 0);
  assert.equal(same(["diff", "allow", "deny", "--fail-on", "stricter", "--fail-on", "any"]), 2);
  for (const name of ["faulty", "gone", "latin"]) {
    for (const command of ["map", "lint", "check"]) {
      assert.equal(same([command, "-b", name]), 4);
    }
    assert.equal(same(["diff", "allow", name]), 4);
  }
});

test("both commands draft the same", (t) => {
  if (!there(t)) {
    return;
  }
  const flags = [];
  const file = (name) => readFileSync(join(project, name), "utf8");
  for (const folder of [[], ["fresh"], ["fresh/"], ["./deep/er"]]) {
    const at = folder[0] ?? ".";
    const where = { flags: ["--format", "json"], folder: folder.length === 0 ? "above/below" : "" };
    // The first writes, and both find what is there.
    const fresh = answer(process.execPath, [PACKAGE, "init", ...folder], where);
    const written = ["callgate.json", "calls.jsonl", "scenarios.jsonl"].map((name) => join(where.folder, at, name));
    const own = at === "fresh/" ? undefined : written.map(file);
    same(["init", ...folder], where);
    same(["init", "--force", ...folder], where);
    assert.deepEqual([fresh.status, own ?? written.map(file)], [at === "fresh/" ? 1 : 0, written.map(file)]);
  }
  assert.equal(same(["init", "/"], { flags: ["--format", "json"] }), 1);
  for (const list of ["tools.json", "odd-tools.json", "gone.json", "empty.json", "latin.jsonl"]) {
    same(["annotate", "--server", "s", list], { flags });
    same(["annotate", "--server", "s", list, "--format", "json"], { flags });
  }
  assert.equal(same(["annotate", "--server", "s", "-"], { flags, input: FILES["tools.json"] }), 0);
});

test("both commands judge scenarios alike", (t) => {
  if (!there(t)) {
    return;
  }
  for (const flags of [[], ["--no-coverage"], ["--disk"], ["--min-coverage", "100"], ["--home", ".", "--cwd", ".."]]) {
    assert.equal(same(["test", "-b", "tested", ...flags]), 1);
    same(["test", ...flags], { folder: "example" });
    same(["test", "-b", "placeless", "bad.json", ...flags]);
  }
  assert.equal(same(["test", "-b", "deny", "bad.json", "--min-coverage", "0"]), 0);
  assert.equal(same(["test", "-b", "deny", "-"], { input: FILES["bad.json"] }), 0);
  for (const file of ["faulty.jsonl", "one.json", "latin.jsonl", "blank.jsonl"]) {
    assert.equal(same(["test", "-b", "allow", "bad.json", file]), 4, file);
  }
  for (const args of [[], ["gone.jsonl"], ["tested"]]) {
    assert.equal(same(["test", "-b", "allow", ...args]), 1, args.join(" "));
  }
  assert.equal(same(["test", "-b", "faulty", "bad.json"]), 4);
});

test("both commands write the same bundles for servers with packs", (t) => {
  if (!there(t)) {
    return;
  }
  const packs = readdirSync(join(ROOT, "core/authoring/packs")).filter((name) => !name.includes("."));
  for (const named of [packs.join(","), "gh=github,git", "filesystem"]) {
    const run = (command, flags, folder) => {
      const { status, stdout } = answer(command, [...flags, "init", "--for", named, "new"], { folder });
      const files = Object.fromEntries(
        readdirSync(join(project, folder, "new")).map((name) => [
          name,
          readFileSync(join(project, folder, "new", name), "utf8"),
        ]),
      );
      rmSync(join(project, folder, "new"), { recursive: true });
      return { status, stdout, files };
    };
    const found = run(process.execPath, [PACKAGE], "above");
    assert.deepEqual(found, run(NATIVE, [], "above"));
    assert.equal(Object.keys(found.files).length, 3);
  }
  for (const named of ["gti", "zzz", "git,git", "*=git", "git=filesystem", ""]) {
    assert.equal(same(["init", "--for", named, "new"], { flags: ["--format", "json"] }), 1, named);
  }
  // The first writes, and both find what is there.
  assert.equal(answer(process.execPath, [PACKAGE, "init", "--for", "git", "packed"], {}).status, 0);
  assert.equal(same(["init", "--for", "git", "packed"], { flags: ["--format", "json"] }), 1);
  assert.equal(same(["test"], { folder: "packed" }), 0);
});

test("both commands add the same to annotations", (t) => {
  if (!there(t)) {
    return;
  }
  const flags = [];
  const into = (command, file, more) => {
    const folder = mkdtempSync(join(project, "into-"));
    for (const name of ["annotated.json", "named", "held", "bare", "example", "tools.json", "latin.jsonl", "text"]) {
      cpSync(join(project, name), join(folder, name), { recursive: true });
    }
    const args = [...command.slice(1), "annotate", "--server", "s", "--into", file, "tools.json", ...more];
    const { status, stdout, stderr } = spawnSync(command[0], args, { cwd: folder, encoding: "utf8" });
    const files = readdirSync(folder, { recursive: true }).sort();
    const texts = files
      .filter((name) => name.endsWith(".json"))
      .map((name) => readFileSync(join(folder, name), "utf8"));
    rmSync(folder, { recursive: true });
    return { status, stdout, stderr, files, texts };
  };
  const files = ["annotated.json", "new.json", "named/callgate.json", "held/callgate.json", "bare/callgate.json"];
  for (const file of [...files, "example/callgate.json", "tools.json", "latin.jsonl", "text/callgate.json", "named"]) {
    for (const more of [[], ["--check"], ["--format", "json"]]) {
      const found = into([process.execPath, PACKAGE], file, more);
      assert.deepEqual(found, into([NATIVE], file, more), `${file} ${more}`);
    }
  }
  const recorded = join(ROOT, "core/authoring/packs/memory/tools.json");
  for (const pack of ["memory", "git", "memry"]) {
    for (const more of [[], ["--check"], ["--format", "json"]]) {
      same(["annotate", "--server", "m", "--pack", pack, recorded, ...more], { flags });
    }
  }
  assert.equal(same(["annotate", "--server", "m", "--pack", "memory", "--check", recorded], { flags }), 0);
});

test("the program for this machine runs in the package's place", () => {
  const program = join(project, "program");
  const write = (text) => writeFileSync(program, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const run = (args, binary = program) => {
    const env = { ...process.env, CALLGATE_BINARY: binary };
    const { status, stdout, stderr } = spawnSync(process.execPath, [PACKAGE, ...args], { env, input: "in" });
    return [status, String(stdout), String(stderr)];
  };
  write('printf "%s|" "$@"; cat; echo err >&2; exit 3');
  assert.deepEqual(run(["guard", "--", "a b", ""]), [3, "guard|--|a b||in", "err\n"]);
  write("kill -KILL $$");
  assert.deepEqual(run(["eval"]), [137, "", ""]);
  // An agent takes any other end of its hook for leave.
  assert.deepEqual(run(["hook", "codex"]), [2, "", ""]);
  const gone = join(project, "gone");
  assert.equal(run(["eval"], gone)[0], 1);
  assert.equal(run(["hook", "install", "codex"], gone)[0], 1);
  assert.equal(run(["hook", "codex"], gone)[0], 2);
  assert.match(run(["guard"], gone)[2], /^error: cannot run `.+gone`/);
  assert.equal(run(["validate", "--bundle", "gone"], "")[0], 4, "the variable is set to nothing");
});

test("a signal to the package's command is one to the program", async () => {
  const program = join(project, "waiting");
  writeFileSync(program, "#!/bin/sh\ntrap 'exit 9' TERM\necho ready\nfor i in 1 2 3 4 5 6 7 8 9; do sleep 1; done\n", {
    mode: 0o755,
  });
  const env = { ...process.env, CALLGATE_BINARY: program };
  const child = spawn(process.execPath, [PACKAGE, "guard"], { env });
  child.stdout.once("data", () => child.kill("SIGTERM"));
  assert.deepEqual(await once(child, "exit"), [9, null]);
});

test("the program is found in the package of the platform", () => {
  const modules = join(project, "installed/node_modules");
  const own = `@callgate/cli-${process.platform}-${process.arch}`;
  for (const name of ["dist", "wasm", "package.json"]) {
    cpSync(join(ROOT, "js", name), join(modules, "callgate", name), { recursive: true });
  }
  const command = join(modules, "callgate/dist/command.js");
  const missing = answer(process.execPath, [command, "guard"], {});
  assert.match(missing.stderr, new RegExp(`^error: .*\n  help: .*${own}.*CALLGATE_BINARY`));
  assert.deepEqual([missing.status, missing.stdout], [1, ""]);
  assert.equal(answer(process.execPath, [command, "hook", "claude-code"], {}).status, 2);
  mkdirSync(join(modules, own), { recursive: true });
  writeFileSync(join(modules, own, "package.json"), JSON.stringify({ name: own, version: "0.1.0" }));
  writeFileSync(join(modules, own, "callgate"), '#!/bin/sh\necho "$0"\n', { mode: 0o755 });
  const found = answer(process.execPath, [command, "guard"], {});
  assert.deepEqual([found.status, found.stdout], [0, `${join(modules, own, "callgate")}\n`]);
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
    ["gard"],
    ["eval", "--policy", "p.json"],
    ["eval", "--format", "human", call("x")],
    ["eval", "--server", "a", "--server", "b", call("x")],
    ["eval", "--prepared", "--container-workspace-dir", "/w", call("x")],
    ["eval", "--context", "{}", "--contexts", call("x")],
    ["eval", call("x"), call("y")],
    ["validate", "x"],
    ["map", "--only", "all"],
    ["diff", "allow"],
    ["diff", "allow", "deny", "-b", "allow"],
    ["init", "a", "b"],
    ["annotate", "tools.json"],
  ]) {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [1, ""], args.join(" "));
    assert.match(stderr, /^error: .+\n {2}help: `callgate --help`/);
  }
  assert.match(run("--help").stdout, /answers are JSON, one a line/);
  assert.match(run("eval", "--help").stdout, /^Decides/);
  assert.match(run("--version").stdout, /^callgate \d/);
});
