import { LEVELS, S_CAPS } from "./limits.mjs";
import { ALLOW, FS, above, annotations, ask, deny, engine, file, gate, group, lines, paths, policy, rule, tool, workspace } from "./vocabulary.mjs";

// ==== intersect
file("intersect");
const S_MEET = "12: intersect gives the narrower of two ceilings";
const S_BEYOND = "12: intersect names what exceeds the host's";
const whole = (ceiling) => ({ tools: [], capabilities: {}, workspace_roots: [], tool_arg_constraints: [], ...ceiling });
const meets = (host, requested, answer) => ask("intersectCeilings", [host, requested], { answer: whole(answer) });
const exceeds = (host, requested, ...refused) => ask("intersectCeilings", [host, requested], { refused });
const A = { tool: "a", arg_patterns: ["x"] };
const B = { tool: "b", arg_patterns: ["y"], arg_key: "k" };
group("narrower", S_MEET, undefined, [
  meets({}, {}, {}),
  ...[{ tools: ["a"] }, { capabilities: { w: ["r"] } }, { capabilities: { w: [] } }, { side_effect_level: "network" },
    { recursion_limit: 0 }, { workspace_roots: ["/a", "~/b"] }, { tool_arg_constraints: [A] },
    { tools: ["a", "s/b"], side_effect_level: "read_only" }]
    .flatMap((one) => [meets(one, {}, one), meets(one, one, one), ...("tools" in one && "side_effect_level" in one ? [] : [meets({}, one, one)])]),
  meets({ tools: ["a", "b", "c"] }, { tools: ["c", "a"] }, { tools: ["c", "a"] }),
  meets({ tools: ["a"] }, { tools: ["s/a", "t/a"] }, { tools: ["s/a", "t/a"] }),
  meets({ capabilities: { w: ["r", "d"], n: [] } }, { capabilities: { w: ["r"] } }, { capabilities: { w: ["r"] } }),
  meets({ capabilities: { w: [] } }, { capabilities: { w: ["r"] } }, { capabilities: { w: ["r"] } }),
  meets({ capabilities: { w: ["r"] } }, { capabilities: { w: [] } }, { capabilities: { w: ["r"] } }),
  meets({ capabilities: { w: ["r"] } }, { tools: ["a"] }, { tools: ["a"], capabilities: { w: ["r"] } }),
  ...LEVELS.flatMap((host, i) => LEVELS.map((requested, j) =>
    meets({ side_effect_level: host }, { side_effect_level: requested }, { side_effect_level: LEVELS[Math.min(i, j)] }))),
  meets({ recursion_limit: 3 }, { recursion_limit: 5 }, { recursion_limit: 3 }),
  meets({ recursion_limit: 5 }, { recursion_limit: 3 }, { recursion_limit: 3 }),
  meets({ recursion_limit: 5 }, { recursion_limit: null }, { recursion_limit: 5 }),
  meets({ tool_arg_constraints: [A] }, { tool_arg_constraints: [B] }, { tool_arg_constraints: [A, B] }),
  meets({ tool_arg_constraints: [A, B] }, { tool_arg_constraints: [B, A] }, { tool_arg_constraints: [A, B] }),
  meets({ workspace_roots: ["/a"] }, { workspace_roots: ["/a/b", "/a"] },
    { workspace_roots: ["/a/b", "/a"], outer_workspace_roots: [["/a"]] }),
  meets({ workspace_roots: ["~"] }, { workspace_roots: ["~/x"] }, { workspace_roots: ["~/x"], outer_workspace_roots: [["~"]] }),
  meets({ workspace_roots: ["/"] }, { workspace_roots: ["/x"] }, { workspace_roots: ["/x"], outer_workspace_roots: [["/"]] }),
  meets({ workspace_roots: ["/a"], outer_workspace_roots: [["/"]] }, { workspace_roots: ["/a/b"] },
    { workspace_roots: ["/a/b"], outer_workspace_roots: [["/"], ["/a"]] }),
  meets({ side_effect_level: "read_only" }, { tools: ["x"] },
    { tools: ["x"], side_effect_level: "read_only", unclassified_tools: [] }),
  meets({ tools: ["x", "y"], side_effect_level: "read_only" }, { side_effect_level: "network" },
    { tools: ["x", "y"], side_effect_level: "read_only", unclassified_tools: [] }),
  meets({ tools: ["x", "y"], side_effect_level: "read_only" }, { tools: ["y"] }, 
    { tools: ["y"], side_effect_level: "read_only", unclassified_tools: ["x", "y"] }),
]);
group("exceeds", S_BEYOND, undefined, [
  exceeds({ tools: ["a"] }, { tools: ["a", "b"] }, "exceeds", "tool `b`"),
  exceeds({ tools: ["a"] }, { tools: ["b", "c"] }, "tool `b`", "tool `c`"),
  exceeds({ tools: ["s/a"] }, { tools: ["a"] }, "tool `a`"),
  exceeds({ tools: ["s/a"] }, { tools: ["t/a"] }, "tool `t/a`"),
  exceeds({ tools: ["a"] }, { tools: ["A"] }, "tool `A`"),
  exceeds({ tools: ["*"] }, { tools: ["a"] }, "tool `a`"),
  exceeds({ capabilities: { w: ["r"] } }, { capabilities: { w: ["r", "d"] } }, "operation `w.d`"),
  exceeds({ capabilities: { w: ["r"] } }, { capabilities: { n: ["http"] } }, "capability `n`"),
  exceeds({ capabilities: { w: [] } }, { capabilities: { n: [] } }, "capability `n`"),
  exceeds({ workspace_roots: ["/a"] }, { workspace_roots: ["/b"] }, "workspace root `/b`"),
  exceeds({ workspace_roots: ["/a"] }, { workspace_roots: ["/ab"] }, "workspace root `/ab`"),
  exceeds({ workspace_roots: ["/a"] }, { workspace_roots: ["/a/../b"] }, "workspace root `/a/../b`"),
  exceeds({ workspace_roots: ["/a"] }, { workspace_roots: ["/"] }, "workspace root `/`"),
  exceeds({ workspace_roots: ["~/x"] }, { workspace_roots: ["~/x/../y"] }, "workspace root"),
  exceeds({ workspace_roots: ["/home/u"] }, { workspace_roots: ["~/x"] }, "workspace root `~/x`"),
  exceeds({ tools: ["a"], capabilities: { w: ["r"] } }, { tools: ["b"], capabilities: { w: ["d"] } }, "tool `b`", "operation `w.d`"),
  exceeds({ tool: ["a"] }, {}, "unknown-key", "ceiling.tool"),
  exceeds({}, { tools: "a" }, "wrong-type", "ceiling.tools"),
  exceeds([], {}, "wrong-type"),
]);
group("narrower ceiling judges", "12: intersect: what it allows, both allow",
  // intersect({side_effect_level: "read_only"}, {tools: ["think", "read_file"]}), as the group before has it.
  engine({ tools: ["think", "read_file"], side_effect_level: "read_only", unclassified_tools: [] }), [
  gate("fs/think", {}, above('"none"'), "the host's ceiling did not name it"),
  gate("fs/read_file", { path: "src/a.rs" }, ALLOW), gate("fs/list_dir", { path: "src" }, above("list_dir")),
]);

// ==== documents
file("documents");
const S_LOAD = "7: the same care holds for everything that an engine is built from";
const refuses = (name, ceiling, ...refused) =>
  group(`refused ${name}`, S_LOAD, engine(ceiling), [{ op: "construct", expect: { refused } }]);
refuses("unknown key", { tool: [] }, "unknown-key", "ceiling.tool", "did you mean `tools`");
refuses("no object", [], "wrong-type", "ceiling");
refuses("tools", { tools: "read_file" }, "wrong-type", "ceiling.tools");
refuses("a tool", { tools: [1] }, "wrong-type", "ceiling.tools[0]");
refuses("an empty tool", { tools: [""] }, "invalid-value", "ceiling.tools[0]");
refuses("capabilities", { capabilities: ["w"] }, "wrong-type", "ceiling.capabilities");
refuses("operations", { capabilities: { w: "r" } }, "wrong-type", "ceiling.capabilities.w");
refuses("relative root", { workspace_roots: ["src"] }, "invalid-path", "ceiling.workspace_roots[0]");
refuses("variable root", { workspace_roots: ["$HOME"] }, "invalid-path");
refuses("level", { side_effect_level: 3 }, "wrong-type", "ceiling.side_effect_level");
refuses("recursion", { recursion_limit: 1.5 }, "wrong-type", "ceiling.recursion_limit");
refuses("negative recursion", { recursion_limit: -1 }, "wrong-type");
refuses("constraint", { tool_arg_constraints: [{ tool: "a" }] }, "missing-field", "arg_patterns");
refuses("constraint key", { tool_arg_constraints: [{ tool: "a", arg_pattern: "x", arg_patterns: [] }] }, "unknown-key");
refuses("negated glob", { tool_arg_constraints: [{ tool: "*", arg_patterns: ["!/etc/**"] }] }, "invalid-value", "`!`");
refuses("open bracket", { tool_arg_constraints: [{ tool: "[", arg_patterns: ["x"] }] }, "invalid-value", "tool_arg_constraints[0].tool");
refuses("open brace", { tool_arg_constraints: [{ tool: "*", arg_patterns: ["{a"] }] }, "invalid-value");
refuses("long glob", { tool_arg_constraints: [{ tool: "*", arg_patterns: ["a".repeat(2000)] }] }, "glob_bytes");
refuses("many alternatives", { tool_arg_constraints: [{ tool: "*", arg_patterns: ["{a,b,c,d}".repeat(4)] }] }, "glob_alternatives");
refuses("bad pointer", { tool_arg_constraints: [{ tool: "*", arg_patterns: ["x"], arg_key: "/a~" }] }, "invalid-value", "arg_key");

// The servers with a sandbox are listed, so that nothing is said of the others.
const options = { heuristicPaths: "off", sandboxServers: ["filesystem", "git"] };
const notices = (name, says, ceiling, ...found) =>
  group(`noticed ${name}`, says, engine(ceiling, { compiledPolicy: policy(), options }), [{ op: "warnings", expect: { lines: found } }]);
const S_WARN = "12: a constraint without a key to look at is warned of";
notices("nothing", S_WARN, { tools: ["read_file"], tool_arg_constraints: [{ tool: "read_file", arg_patterns: ["x"] }] });
notices("no key", S_WARN, { tool_arg_constraints: [{ tool: "think", arg_patterns: ["x"] }] },
  "warning[unbound] at ceiling.tool_arg_constraints[0]: found no key to look at in `fs/think`");
notices("no key in some", S_WARN, { tool_arg_constraints: [{ tool: "net/*", arg_patterns: ["x"] }] },
  "warning[unbound] at ceiling.tool_arg_constraints[0]: found no key to look at in `net/get` and 1 more");
notices("a key", S_WARN, { tool_arg_constraints: [{ tool: "*", arg_patterns: ["x"], arg_key: "k" }] });
notices("no tool", S_WARN, { tool_arg_constraints: [{ tool: "reed_*", arg_patterns: ["x"] }] },
  "warning[unbound] at ceiling.tool_arg_constraints[0].tool: found `reed_*`");
notices("unknown tool", S_LOAD, { tools: ["read_flie"] }, "warning[unbound] at ceiling.tools[0]: found `read_flie`");
notices("unknown level", "5: an unknown word parses to none", { tools: ["think"], side_effect_level: "Network" },
  'warning[unknown-value] at ceiling.side_effect_level: found `"Network"`');
notices("no limit", S_LOAD, {}, "warning[empty-condition] at ceiling: ");
notices("dots", S_LOAD, { tool_arg_constraints: [{ tool: "read_file", arg_patterns: ["../x"] }] },
  "warning[never-matches] at ceiling.tool_arg_constraints[0].arg_patterns[0]: ");
notices("no patterns", S_LOAD, { tool_arg_constraints: [{ tool: "read_file", arg_patterns: [] }] },
  "warning[never-matches] at ceiling.tool_arg_constraints[0].arg_patterns: ");
notices("undeclared capabilities", S_CAPS, { capabilities: { workspace: [] } },
  "warning[unbound] at ceiling.capabilities: found capabilities that do not bind `fs/think` and 1 more");
group("a constraint without a key", S_WARN, engine({ tool_arg_constraints: [{ tool: "think", arg_patterns: ["x"] }] }), [
  gate("fs/think", { path: "y" }, ALLOW, "it does not apply"),
]);

// ==== artifact routes
const S_ROUTE = "12: lint: an execute tool with artifacts needs readers that exist, or inline results";
for (const [name, run, more, ok] of [
  ["none", {}, {}, false], ["inline", { inline_result: true }, {}, true],
  ["reader", { result_readers: ["tail"] }, { tail: {} }, true],
  ["placed reader", { result_readers: ["fs/tail"] }, { tail: {} }, true],
  ["missing reader", { result_readers: ["tail"] }, {}, false],
  ["reader elsewhere", { result_readers: ["net/tail"] }, { tail: {} }, false],
  ["one of two", { result_readers: ["gone", "tail"] }, { tail: {} }, true],
  ["no artifacts", { emits_artifacts: false }, {}, true],
  ["another kind", { kind: "read" }, {}, true],
]) {
  const tools = { run: { kind: "execute", emits_artifacts: true, ...run }, ...more };
  group(`route ${name}`, S_ROUTE, engine(undefined, { toolAnnotations: annotations({ fs: tools }) }), [
    { op: "construct", expect: ok ? { answer: null } : { refused: ["missing-route", "servers.fs.tools[0]", "`run`"] } },
  ]);
}

// ==== semantics
file("semantics");
const KINDS = [
  ["read", true, "read_only"], ["edit", false, "workspace_write"], ["delete", false, "destructive"],
  ["move", false, "destructive"], ["search", true, "read_only"], ["execute", false, "ambient_side_effect"],
  ["think", true, "read_only"], ["fetch", true, "read_only"], ["other", false, "other"],
];
group("tables", "5: kinds, mutation classes, levels and their ranks, as the seed has them", undefined, [
  ...KINDS.flatMap(([kind, readOnly, mutation]) => [
    ask("isReadOnly", [kind], { answer: readOnly }), ask("mutationClass", [kind], { answer: mutation }),
  ]),
  ...["Read", "", "write"].map((kind) => ask("isReadOnly", [kind], { refused: [] })),
  ask("mutationClass", ["READ"], { refused: [] }),
  ...LEVELS.flatMap((level, rank) => [
    ask("parseSideEffectLevel", [level], { answer: level }), ask("sideEffectRank", [level], { answer: rank }),
  ]),
  ...["Network", "", "readOnly", "write"].map((word) => ask("parseSideEffectLevel", [word], { answer: "none" })),
]);
const DEFAULTS = {
  kind: "other", side_effect_level: "none", arg_schema: { path_params: [], arg_aliases: {}, required: [] },
  capabilities: {}, emits_artifacts: false, result_readers: [], inline_result: false,
};
const describes = (server, name, fields, isReadOnly, mutationClass) => ({
  op: "semantics", server, tool: name, expect: { answer: { ...DEFAULTS, ...fields, isReadOnly, mutationClass } },
});
group("described", "12: is_read_only tools may run concurrently; every field has its default", engine(undefined), [
  describes("net", "mystery", {}, false, "other"),
  describes("fs", "think", { kind: "think" }, true, "read_only"),
  describes("fs", "read_file", {
    kind: "read", side_effect_level: "read_only", capabilities: { workspace: ["read_text"] },
    arg_schema: { path_params: ["path"], arg_aliases: { file: "path", filename: "path" }, required: ["path"] },
  }, true, "read_only"),
  describes("fs", "run", {
    kind: "execute", side_effect_level: "process_exec", capabilities: { process: ["spawn"] }, inline_result: true,
    arg_schema: { path_params: ["cwd"], arg_aliases: {}, required: [] },
  }, false, "ambient_side_effect"),
  { op: "semantics", server: "fs", tool: "nothing", expect: { answer: null } },
  { op: "semantics", server: "net", tool: "think", expect: { answer: null } },
]);
group("unknown kind", "5: spellings as in the seed", engine(undefined,
  { toolAnnotations: annotations({ fs: { x: { kind: "Read" } } }) }),
  [{ op: "construct", expect: { refused: ["unknown-value", "tools[0].kind"] } }]);
group("alias of an alias", "5: spellings as in the seed", engine(undefined,
  { toolAnnotations: annotations({ fs: { x: { arg_schema: { arg_aliases: { a: "b", b: "c" } } } } }) }),
  [{ op: "construct", expect: { refused: ["invalid-value", "arg_aliases.a"] } }]);

const S_SHAPE = "6.1: aliases are renamed and required arguments are there before anything else";
group("shape", S_SHAPE, engine(undefined, { protectedPaths: ["/etc"], trustedServers: ["net"] }), [
  gate("fs/read_file", { file: "src/a.rs" }, { ...ALLOW, transport: { path: "/srv/box/src/a.rs" } }),
  gate("fs/read_file", { filename: "/srv/box/src/../README.md" }, { ...ALLOW, transport: { path: "/srv/box/README.md" } }),
  gate("fs/read_file", { file: "/etc/passwd" }, deny("structural-protected-path"), "the alias is judged under its key"),
  gate("fs/read_file", {}, deny("structural-unreadable-argument", "`path`")),
  gate("fs/read_file", { path: null }, deny("structural-unreadable-argument", "`path`")),
  gate("fs/read_file", { file: null }, deny("structural-unreadable-argument", "`path`")),
  gate("fs/read_file", { path: "src/a.rs", file: "src/a.rs" }, deny("structural-unreadable-argument", "`file`", "`path`")),
  gate("fs/read_file", { path: null, file: "src/a.rs" }, deny("structural-unreadable-argument", "`file`"), "the key is there"),
  gate("fs/read_file", { path: "/etc/passwd", file: "src/a.rs" }, deny("structural-unreadable-argument"), "before what is protected"),
]);

const S_IMPLIED = "5: path_params bear the role that the kind implies when args says nothing about them";
const READ = rule("reads", { roles: ["read-path"] }, "allow");
const WRITE = rule("writes", { roles: ["write-path"] }, "allow");
const DELETE = rule("deletes", { roles: ["delete-path"] }, "allow");
const byKind = Object.fromEntries(KINDS.map(([kind]) => [`${kind}_tool`, { kind, ...paths("path") }]));
const implies = { read: "r", search: "r", think: "r", fetch: "r", edit: "w", delete: "d", move: "wd", execute: "rwd", other: "rwd" };
for (const [name, rules, given] of [
  ["reads", [READ], "r"], ["writes", [WRITE], "w"], ["deletes", [DELETE], "d"],
  ["writes and deletes", [WRITE, DELETE], "wd"], ["everything", [READ, WRITE, DELETE], "rwd"],
]) {
  group(`implied, ${name} allowed`, S_IMPLIED,
    engine(undefined, { compiledPolicy: policy(...rules), toolAnnotations: annotations({ fs: byKind }) }),
    Object.entries(implies).map(([kind, needs]) => gate(`fs/${kind}_tool`, { path: "src/a.rs" },
      [...needs].every((need) => given.includes(need)) ? { decision: "allow" } : deny("default-deny"))));
}
group("implied, args stands", S_IMPLIED, engine(undefined, {
  compiledPolicy: policy(READ), toolAnnotations: annotations({ fs: {
    said: { kind: "edit", ...paths("path"), args: { path: ["read-path"] } },
    unsaid: { kind: "edit", ...paths("path"), args: { other: ["read-path"] } },
    none: { kind: "edit", ...paths("path"), args: { path: ["none"] } },
  } }),
}), [
  gate("fs/said", { path: "src/a.rs" }, { decision: "allow", rule: "reads" }),
  gate("fs/unsaid", { path: "src/a.rs" }, deny("default-deny")),
]);
group("implied, judged as paths", S_IMPLIED, engine(undefined, { protectedPaths: ["/etc"] }), [
  gate("fs/read_file", { path: "link/passwd" }, deny("structural-protected-path", "/etc/passwd")),
  gate("fs/run", { cwd: "/etc" }, deny("structural-protected-path")),
  gate("fs/edit_many", { edits: [{ path: "src/evil.rs" }] }, deny("structural-protected-path")),
  gate("fs/write_file", { path: ["src/a.rs", 5, "/etc/x"] }, deny("structural-protected-path")),
  gate("fs/list_dir", { path: { a: 1 } }, deny("structural-unreadable-argument")),
  gate("fs/read_file", { path: "/data/src/a.rs" }, { ...ALLOW, transport: { path: "/srv/box/src/a.rs" } }),
]);

const S_HARN = "issue: a file of Harn annotations loads directly";
const { args: _, ...plainRead } = FS.read_file;
const harn = { read_file: plainRead, think: {}, remove: FS.remove };
group("harn", S_HARN, engine({ tools: ["read_file"] }, { toolAnnotations: harn }), [
  gate("harn/read_file", { file: "src/a.rs" }, { ...ALLOW, transport: { path: "/srv/box/src/a.rs" } }),
  gate("harn/remove", { path: "src/a.rs" }, above('"harn/remove"')),
  gate("fs/read_file", { path: "src/a.rs" }, deny("structural-unknown-tool"), "it is another server's"),
  describes("harn", "think", {}, false, "other"),
]);
group("harn elsewhere", S_HARN, engine(undefined, { toolAnnotations: harn, options: { harnServer: "vm" } }), [
  gate("vm/read_file", { path: "src/a.rs" }, ALLOW),
  gate("harn/read_file", { path: "src/a.rs" }, deny("structural-unknown-tool")),
  gate("vm/read_file", {}, deny("structural-unreadable-argument")),
]);
group("harn route", S_HARN, engine(undefined, { toolAnnotations: { run: { kind: "execute", emits_artifacts: true } } }), [
  { op: "construct", expect: { refused: ["missing-route", "annotations.run"] } },
]);
group("harn unknown arguments", S_HARN,
  engine(undefined, { toolAnnotations: harn, options: { unknownArguments: "deny" } }), [
  gate("harn/read_file", { path: "src/a.rs" }, ALLOW), gate("harn/read_file", { file: "src/a.rs" }, ALLOW),
  gate("harn/read_file", { path: "src/a.rs", more: 1 }, deny("structural-unknown-argument")),
]);
