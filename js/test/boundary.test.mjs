// Values that are copied into the module, values that come back, and values that must never do either.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "callgate";
import { ANNOTATIONS, annotationsOf, CONFIG, call, POLICY, policyOf, SANDBOX, unreadable } from "./support.mjs";

const engine = createEngine(CONFIG);
const read = (args) => engine.evaluate(call("filesystem", "read_file", args));
const gate = (args) => engine.gate(call("filesystem", "read_file", args));

test("a plain call is allowed", () => {
  const verdict = read({ path: `${SANDBOX}/a.txt` });
  assert.equal(verdict.decision, "allow");
  assert.equal(verdict.rule, "structural-sandbox-allow");
});

test("verdicts are shared and frozen", () => {
  const first = read({ path: `${SANDBOX}/a.txt` });
  assert.equal(first, read({ path: `${SANDBOX}/b.txt` }));
  assert.ok(Object.isFrozen(first));
  const escalated = read({ path: "/etc/passwd" });
  assert.deepEqual(escalated.escalatedRoles, ["read-path"]);
  assert.ok(Object.isFrozen(escalated.escalatedRoles));
  assert.equal(escalated, read({ path: "/etc/hosts" }));
});

test("accessors are refused before they run", () => {
  let ran = 0;
  const args = {
    get path() {
      ran += 1;
      return `${SANDBOX}/a.txt`;
    },
  };
  unreadable(read(args), /`path` has an accessor/);
  unreadable(gate(args).verdict, /`path` has an accessor/);
  assert.equal(ran, 0);
  // An accessor next to a judged argument could change that argument after the verdict.
  const beside = {
    path: `${SANDBOX}/a.txt`,
    get head() {
      ran += 1;
      this.path = "/etc/passwd";
      return 1;
    },
  };
  unreadable(read(beside), /`head` has an accessor/);
  unreadable(gate(beside).verdict, /`head` has an accessor/);
  const items = Object.defineProperty([`${SANDBOX}/a.txt`], 1, { get: () => "/etc/passwd", enumerable: true });
  unreadable(engine.evaluate(call("filesystem", "read_many", { paths: items })), /array with an accessor/);
  const edits = [
    {
      get path() {
        ran += 1;
        return "/etc/passwd";
      },
    },
  ];
  unreadable(engine.evaluate(call("filesystem", "edit_file", { edits })), /`path` has an accessor/);
  assert.equal(ran, 0);
});

test("a Proxy answers once or not at all", () => {
  const args = () => new Proxy({ path: `${SANDBOX}/a.txt` }, {});
  unreadable(read(args()), /Proxy/);
  const paths = new Proxy([`${SANDBOX}/a.txt`], {});
  unreadable(engine.evaluate(call("filesystem", "read_many", { paths })), /Proxy/);
  // `gate` sends on what it read, so that may come from a Proxy.
  let reads = 0;
  const changing = new Proxy(
    { path: "" },
    {
      getOwnPropertyDescriptor: () => {
        reads += 1;
        const value = reads === 1 ? `${SANDBOX}/a.txt` : "/etc/passwd";
        return { value, writable: true, enumerable: true, configurable: true };
      },
    },
  );
  const gated = gate(changing);
  assert.equal(gated.verdict.decision, "allow");
  assert.deepEqual(gated.argsForTransport, { path: `${SANDBOX}/a.txt` });
  assert.equal(reads, 1);
});

test("a Proxy that throws, or calls the engine while it is read, is denied", () => {
  const trap = (ownKeys) => new Proxy({}, { ownKeys });
  unreadable(
    gate(
      trap(() => {
        throw new Error("no");
      }),
    ).verdict,
    /failed/,
  );
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  unreadable(gate(revoked).verdict, /failed/);
  unreadable(gate({ path: revoked }).verdict, /failed/);
  assert.throws(() => engine.prepare(call("filesystem", "read_file", revoked)), { code: "unprepared" });
  let inner;
  const nested = trap(() => {
    inner = read({ path: `${SANDBOX}/a.txt` });
    return ["path"];
  });
  unreadable(gate(nested).verdict, /was gone when it was read/);
  assert.equal(inner.rule, "structural-host-error");
  assert.equal(read({ path: `${SANDBOX}/a.txt` }).decision, "allow");
});

test("only own members count", () => {
  unreadable(read(Object.create({ path: "/etc/passwd" })), /not a plain object/);
  assert.equal(read(Object.assign(Object.create(null), { path: `${SANDBOX}/a.txt` })).decision, "allow");
  Object.prototype.path = "/etc/passwd";
  try {
    unreadable(read({}), /inherit the member `path`/);
  } finally {
    delete Object.prototype.path;
  }
});

test("arguments that are not an object are denied as what they are", () => {
  for (const [given, found] of [
    [[], "an array"],
    [() => 1, "a function"],
    ["x", "a string"],
    [1, "a number"],
    [true, "a boolean"],
  ]) {
    unreadable(read(given), new RegExp(`\`arguments\` are ${found}`));
  }
  for (const none of [undefined, null]) {
    assert.equal(engine.evaluate({ serverName: "memory", toolName: "note", arguments: none }).decision, "allow");
  }
  for (const request of [undefined, null, 1]) {
    unreadable(engine.evaluate(request), /not an object/);
  }
  for (const request of [{}, { serverName: 1, toolName: "x" }, { serverName: ["memory"], toolName: "note" }]) {
    unreadable(engine.evaluate(request), /strings/);
  }
});

test("a value that JSON does not have is denied under a role, and passed on elsewhere", () => {
  class Path {
    path = "/etc/passwd";
  }
  for (const path of [
    Symbol("x"),
    1n,
    () => "/",
    new String("/etc/passwd"),
    new Map(),
    new Date(0),
    Buffer.from("/"),
    new Path(),
  ]) {
    unreadable(read({ path }), /does not have/);
  }
  for (const path of [{}, [["/x"]], [{}]]) {
    unreadable(read({ path }), /object/);
  }
  const head = new Map();
  const gated = gate({ path: `${SANDBOX}/a.txt`, head });
  assert.equal(gated.verdict.decision, "allow");
  assert.equal(gated.argsForTransport.head, head);
  unreadable(read({ path: `${SANDBOX}/a.txt`, toJSON: () => ({}) }), /toJSON/);
});

test("ill-formed Unicode is denied where it matters", () => {
  const rule = (args) => read(args).rule;
  assert.equal(rule({ path: `${SANDBOX}/\ud800` }), "structural-unresolvable-value");
  assert.equal(rule({ path: `${SANDBOX}/${"x".repeat(100)}\ud800` }), "structural-unresolvable-value");
  assert.equal(read({ path: `${SANDBOX}/\ud83d\ude00` }).decision, "allow");
  assert.equal(read({ path: `${SANDBOX}/a.txt`, head: "\ud800" }).decision, "allow");
  unreadable(read({ "path\ud800": "/etc/passwd" }), /well-formed/);
  unreadable(engine.evaluate(call("file\ud800", "read_file", {})), /well-formed/);
});

test("nesting is limited", () => {
  const cycle = { path: `${SANDBOX}/a.txt` };
  cycle.head = cycle;
  assert.equal(read(cycle).decision, "allow");
  const edits = [];
  edits[0] = edits;
  assert.equal(engine.evaluate(call("filesystem", "edit_file", { edits })).rule, "structural-limit");
  const sparse = [];
  sparse.length = 4_000_000_000;
  const long = engine.evaluate(call("filesystem", "read_many", { paths: sparse }));
  assert.equal(long.rule, "structural-limit");
  assert.match(long.reason, /argument `paths` holds more than 262144 items and members/);
  // Each level holds the next one twice: however little is there, no program would come to the end of it.
  const array = [];
  array.push(array, array);
  const object = {};
  object.one = object;
  object.other = object;
  for (const twice of [array, object]) {
    assert.equal(read({ path: twice }).rule, "structural-limit");
    assert.equal(gate({ path: twice }).verdict.rule, "structural-limit");
    assert.deepEqual(engine.prepare(call("filesystem", "read_file", { path: twice })).argsForTransport, {
      path: twice,
    });
  }
  const many = Object.fromEntries(Array.from({ length: 65_537 }, (_, at) => [`x${at}`, at]));
  unreadable(read(many), /`arguments`: more than 65536 members$/);
});

test("no array hides a protected path, however long it is and however much of it is holes", () => {
  const guarded = createEngine({ ...CONFIG, protectedPaths: ["/home/u/.ssh"] });
  const path = `${SANDBOX}/a.txt`;
  const rule = (head) => guarded.evaluate(call("filesystem", "read_file", { path, head })).rule;
  const key = "/home/u/.ssh/id";
  const sparse = (length, at) => Object.assign([], { length, [at]: key });
  for (const items of [sparse(4_000_000_000, 3_999_999_999), sparse(600_000, 599_999), sparse(10, 9)]) {
    assert.equal(rule(items), "structural-protected-path", String(items.length));
  }
  const dense = new Array(600_000).fill("x");
  dense[dense.length - 1] = key;
  assert.equal(rule(dense), "structural-protected-path");
});

test("arguments without a role are passed on by reference, as plain own members", () => {
  const values = { content: "x".repeat(10_000_000), buffer: Buffer.alloc(8), date: new Date(0), nested: { deep: [1] } };
  const args = Object.defineProperty({ path: "new/../b.txt", ...values }, "__proto__", {
    value: "isAdmin",
    enumerable: true,
    writable: true,
    configurable: true,
  });
  Object.freeze(args);
  const copy = { ...args };
  const { verdict, argsForTransport } = engine.gate(call("filesystem", "write_file", args));
  assert.equal(verdict.decision, "allow");
  assert.equal(Object.getPrototypeOf(argsForTransport), Object.prototype);
  assert.deepEqual(Object.keys(argsForTransport), ["path", "content", "buffer", "date", "nested", "__proto__"]);
  assert.equal(argsForTransport.path, `${SANDBOX}/b.txt`);
  for (const [name, value] of Object.entries(values)) {
    assert.equal(argsForTransport[name], value, name);
  }
  assert.equal(Object.getOwnPropertyDescriptor(argsForTransport, "__proto__").value, "isAdmin");
  assert.equal(argsForTransport.isAdmin, undefined);
  assert.deepEqual(args, copy);
  // A server in JavaScript could make the object the prototype of its arguments.
  const polluting = JSON.parse('{"path": "b.txt", "__proto__": {"isAdmin": true}}');
  assert.equal(engine.gate(call("filesystem", "write_file", polluting)).verdict.rule, "structural-unknown-argument");
});

test("arguments with a role are passed on as they were judged", () => {
  const paths = [`${SANDBOX}/../sandbox/a.txt`, "relative", null];
  const { argsForTransport } = engine.gate(call("filesystem", "read_many", { paths }));
  assert.deepEqual(argsForTransport, { paths: [`${SANDBOX}/a.txt`, `${SANDBOX}/relative`, null] });
  assert.equal(paths[0], `${SANDBOX}/../sandbox/a.txt`);
  paths.push("/etc/passwd");
  assert.equal(argsForTransport.paths.length, 3);
  const edits = [{ path: `${SANDBOX}//x`, text: "t" }];
  const nested = engine.gate(call("filesystem", "edit_file", { edits, other: edits }));
  assert.deepEqual(nested.argsForTransport.edits, [{ path: `${SANDBOX}/x`, text: "t" }]);
  assert.equal(nested.argsForTransport.other, edits);
  assert.equal(edits[0].path, `${SANDBOX}//x`);
});

test("a link is judged and sent as its target", () => {
  const gated = gate({ path: `${SANDBOX}/link` });
  assert.equal(gated.verdict.decision, "escalate");
  assert.deepEqual(gated.argsForTransport, { path: "/etc/passwd" });
});

test("aliases are sent under their keys", () => {
  const annotations = annotationsOf({ filesystem: { read_file: { path: ["read-path"] } } });
  annotations.servers.filesystem.tools[0].arg_schema = { arg_aliases: { file: "path" }, required: ["path"] };
  const aliased = createEngine({ ...CONFIG, annotations });
  const gated = aliased.gate(call("filesystem", "read_file", { file: `${SANDBOX}//a.txt`, x: 1 }));
  assert.deepEqual(gated.argsForTransport, { path: `${SANDBOX}/a.txt`, x: 1 });
  assert.equal(aliased.evaluate(call("filesystem", "read_file", { file: "/etc/passwd" })).decision, "escalate");
  for (const args of [{}, { path: null }, { path: undefined }, { file: "/a", path: "/a" }]) {
    assert.equal(aliased.evaluate(call("filesystem", "read_file", args)).rule, "structural-unreadable-argument");
  }
});

test("protected paths are found whatever the role", () => {
  const guarded = createEngine({ ...CONFIG, protectedPaths: ["/home/u/.ssh"] });
  const rule = (args) => guarded.evaluate(call("memory", "note", args)).rule;
  assert.equal(rule({ text: "~/.ssh/id" }), "structural-protected-path");
  assert.equal(rule({ other: ["a", "/home/u/.ssh"] }), "structural-protected-path");
  assert.equal(rule({ text: "see ~/.ssh/id" }), "rule-3");
  assert.equal(guarded.evaluate(call("nobody", "knows", { x: "~/.ssh" })).rule, "structural-protected-path");
  const off = createEngine({ ...CONFIG, protectedPaths: ["/home/u/.ssh"], options: { heuristicPaths: "off" } });
  assert.equal(off.evaluate(call("memory", "note", { text: "~/.ssh/id" })).rule, "rule-3");
});

test("earlier calls change no verdict, even if nothing in a call matters", () => {
  const config = { ...CONFIG, protectedPaths: ["/home/u/.ssh"] };
  const accessor = Object.defineProperty({}, "text", { get: () => "x", enumerable: true });
  const values = ["x", "~/.ssh/id", "x", null, "x", ["/home/u/.ssh/id"], ["x"], undefined, 1, { text: "/" }, "x"];
  const given = [
    ...values.map((text) => ({ text })),
    {},
    { text: "x", more: 1 },
    accessor,
    new Proxy({ text: "x" }, {}),
  ];
  const asked = createEngine(config);
  for (const args of [...given, ...given]) {
    const fresh = createEngine(config);
    assert.deepEqual(asked.evaluate(call("memory", "note", args)), fresh.evaluate(call("memory", "note", args)));
    assert.deepEqual(asked.evaluate(call("memory", "none", args)), fresh.evaluate(call("memory", "none", args)));
  }
  assert.equal(asked.evaluate(call("memory", "note", { text: "~/.ssh/id" })).decision, "deny");
  assert.equal(asked.evaluate(call("memory", "note", { text: "x" })).decision, "allow");
});

test("many unknown tools leave nothing behind", () => {
  for (let index = 0; index < 1000; index++) {
    assert.equal(engine.evaluate(call("filesystem", `tool-${index}`, {})).rule, "structural-unknown-tool");
  }
});

test("a large call is judged, and its memory is freed", () => {
  const engine = createEngine({ ...CONFIG, options: { limits: { values_per_role: 4096 } } });
  const paths = Array.from({ length: 4096 }, (_, index) => `${SANDBOX}/${"d".repeat(100)}/${index}`);
  assert.equal(engine.evaluate(call("filesystem", "read_many", { paths })).decision, "allow");
  assert.equal(engine.evaluate(call("filesystem", "read_many", { paths: [...paths, "x"] })).rule, "structural-limit");
  const long = call("filesystem", "read_file", { path: `${SANDBOX}/${"x".repeat(40_000)}` });
  assert.equal(engine.evaluate(long).rule, "structural-limit");
  assert.equal(engine.evaluate(call("filesystem", "read_file", { path: `${SANDBOX}/a.txt` })).decision, "allow");
});

test("several engines do not get in each other's way", () => {
  const other = createEngine({
    policy: policyOf({ if: {}, then: "deny" }),
    annotations: ANNOTATIONS,
    host: CONFIG.host,
  });
  const asking = createEngine({
    policy: POLICY,
    annotations: ANNOTATIONS,
    host: {
      ...CONFIG.host,
      realpath: (path) => {
        const verdict = other.evaluate(call("filesystem", "read_file", { path: "x".repeat(200_000) }));
        assert.equal(verdict.rule, "structural-limit");
        return CONFIG.host.realpath(path);
      },
    },
  });
  assert.equal(asking.evaluate(call("filesystem", "read_file", { path: "/home/u/docs/d.txt" })).decision, "allow");
});

test("an array or an object that JSON would write as something else is not judged as what it holds", () => {
  const path = `${SANDBOX}/a.txt`;
  const dressed = (value) => Object.assign(value, { toJSON: () => "/etc/passwd" });
  for (const paths of [dressed([path]), [dressed([path])]]) {
    const asked = call("filesystem", "read_many", { paths });
    unreadable(engine.evaluate(asked), /array with a `toJSON`/);
    unreadable(engine.gate(asked).verdict, /array with a `toJSON`/);
  }
  const guarded = createEngine({ ...CONFIG, protectedPaths: ["/home/u/.ssh"] });
  const key = "/home/u/.ssh/id";
  for (const head of [dressed([]), dressed({}), [dressed({})], ["x", dressed([])]]) {
    unreadable(guarded.evaluate(call("filesystem", "read_file", { path, head })), /has a `toJSON`/);
  }
  for (const head of [new String(key), ["x", new String(key)]]) {
    assert.equal(guarded.evaluate(call("filesystem", "read_file", { path, head })).rule, "structural-protected-path");
  }
  // What a library makes is data to whoever does not look at it.
  for (const head of [new Date(0), Buffer.from("x"), new URL("https://a.test"), [new Date(0)], new Number(5)]) {
    assert.equal(guarded.evaluate(call("filesystem", "read_file", { path, head })).decision, "allow");
  }
});
