// Writes the case files of this folder: `node tests/ceilings/generate.mjs`. What each case expects stands here, worked
// out from SPEC §5 (the last paragraph), §6.1, §8.3.4 and §12 by hand; no engine is asked. tests/README.md has the format.
import { writeFileSync } from "node:fs";

const world = {
  home: "/home/u",
  cwd: "/srv/app",
  fs: {
    dirs: ["/srv/app/src", "/srv/box/src/deep", "/srv/box/docs", "/srv/box/out", "/srv/box2/src", "/etc", "/home/u/notes"],
    files: [
      "/srv/app/src/a.rs", "/srv/box/src/a.rs", "/srv/box/src/b.txt", "/srv/box/src/deep/c.rs", "/srv/box/README.md",
      "/srv/box/out/o.log", "/srv/box2/src/a.rs", "/etc/passwd", "/etc/hosts.md", "/home/u/notes/n.md",
    ],
    links: {
      "/srv/box/link": "/etc",
      "/srv/box/src/etc": "/etc",
      "/srv/box/src/evil.rs": "/etc/passwd",
      "/srv/box/src/good.rs": "deep/c.rs",
      "/srv/box/src/new.rs": "/etc/shadow",
      "/srv/box/docs/src": "../src",
      "/srv/box/loop": "loop",
      "/data": "/srv/box",
    },
  },
};

const workspace = (...operations) => ({ workspace: operations });
const tool = (kind, side_effect_level, more = {}) => ({ kind, side_effect_level, ...more });
const paths = (...path_params) => ({ arg_schema: { path_params } });

// Every tool needs an operation of its own, so that each limit can be hit alone.
const FS = {
  read_file: tool("read", "read_only", {
    capabilities: workspace("read_text"),
    arg_schema: { path_params: ["path"], arg_aliases: { file: "path", filename: "path" }, required: ["path"] },
  }),
  list_dir: tool("search", "read_only", { capabilities: workspace("list"), ...paths("path") }),
  write_file: tool("edit", "workspace_write", { capabilities: workspace("write_text"), ...paths("path") }),
  remove: tool("delete", "workspace_write", { capabilities: workspace("delete"), ...paths("path") }),
  move_file: tool("move", "workspace_write", { capabilities: workspace("list", "move"), ...paths("from", "to") }),
  run: tool("execute", "process_exec", { capabilities: { process: ["spawn"] }, inline_result: true, ...paths("cwd") }),
  read_many: tool("read", "read_only", { capabilities: workspace("read_text"), ...paths("paths", "path") }),
  edit_many: tool("edit", "workspace_write", { capabilities: workspace("write_text"), ...paths("/edits/*/path") }),
  think: tool("think", "none"),
  grab: tool("fetch", "network", { capabilities: { network: [] } }),
};
const NET = {
  get: tool("fetch", "network", { capabilities: { network: ["http"] }, args: { url: ["fetch-url"] } }),
  mystery: { args: { path: ["read-path"], note: ["none"] } },
};

function annotations(servers = { fs: FS, net: NET }) {
  const file = Object.entries(servers).map(([serverName, tools]) => [
    serverName,
    {
      inputHash: "",
      tools: Object.entries(tools).map(([toolName, { args = {}, ...more }]) => ({
        toolName, serverName, comment: "", args, ...more,
      })),
    },
  ]);
  return { generatedAt: "", servers: Object.fromEntries(file) };
}

const rule = (name, condition, effect) => ({
  name, description: "", principle: "", if: condition, then: effect, reason: `because of ${name}`,
});
const policy = (...rules) => ({ generatedAt: "", constitutionHash: "", inputHash: "", rules });
const OPEN = policy(rule("open", { server: ["fs", "net", "harn", "vm", "filesystem", "git"] }, "allow"));

const engine = (ceiling, more = {}) => ({
  compiledPolicy: OPEN,
  toolAnnotations: annotations(),
  allowedDirectory: "/srv/box",
  options: { heuristicPaths: "off" },
  ...(ceiling !== undefined && { ceiling }),
  ...more,
});

// ---- expectations
const ALLOW = { decision: "allow", rule: "open" };
const above = (...reasonHas) => ({ decision: "deny", rule: "structural-capability-ceiling", reasonHas });
const deny = (name, ...reasonHas) => ({ decision: "deny", rule: name, ...(reasonHas.length > 0 && { reasonHas }) });

const call = (name, args = {}) => {
  const at = name.indexOf("/");
  return { serverName: name.slice(0, at), toolName: name.slice(at + 1), arguments: args };
};
const gate = (name, args, expect, why) => ({ op: "gate", call: call(name, args), ...(why && { why }), expect });
const evaluate = (name, args, expect, why) => ({ op: "evaluate", call: call(name, args), ...(why && { why }), expect });
const ask = (op, args, expect) => ({ op, args, expect });

// A call of each tool that nothing but its semantics can stop.
const PLAIN = {
  "fs/read_file": { path: "src/a.rs" },
  "fs/list_dir": { path: "src" },
  "fs/write_file": { path: "out/n", content: "x" },
  "fs/remove": { path: "out/o.log" },
  "fs/move_file": { from: "out/o.log", to: "out/p.log" },
  "fs/run": { cwd: "src" },
  "fs/read_many": { paths: ["src/a.rs"] },
  "fs/edit_many": { edits: [{ path: "src/a.rs" }] },
  "fs/think": {},
  "fs/grab": {},
  "net/get": { url: "https://docs.rs/" },
  "net/mystery": { path: "src/a.rs" },
};

const files = {};
let lines;
const file = (name) => {
  lines = files[name] = [];
};
const group = (name, says, documents, cases) =>
  lines.push({ format: "cases/1", name, says, world, ...(documents && { engine: documents }), cases });

// ==== tools
file("limits");
const S_TOOLS = "12: a call above the ceiling is denied: its tools";
const toolCases = [
  [["read_file"], ["fs/read_file"]],
  [["fs/read_file"], ["fs/read_file"]],
  [["read_file", "net/get"], ["fs/read_file", "net/get"]],
  [["net/read_file"], []],
  [["read_*"], []],
  [["Read_file"], []],
  [["read_file "], []],
  [["fs"], []],
  [["fs/"], []],
  [["*"], []],
  [["think", "mystery"], ["fs/think", "net/mystery"]],
];
for (const [tools, allowed] of toolCases) {
  group(`tools ${tools}`, S_TOOLS, engine({ tools }), Object.entries(PLAIN).map(([name, args]) =>
    gate(name, args, allowed.includes(name) ? ALLOW : above(`"${name}"`, "tools"))));
}
group("tools empty", "12: empty tools and capabilities are no limit",
  engine({ tools: [], capabilities: {}, workspace_roots: [], tool_arg_constraints: [] }),
  Object.entries(PLAIN).map(([name, args]) => gate(name, args, ALLOW)));
group("ceiling none", "12: empty tools and capabilities are no limit", engine(undefined),
  Object.entries(PLAIN).map(([name, args]) => gate(name, args, ALLOW)));

// ==== capabilities
const S_CAPS = "12: a call above the ceiling is denied: its capabilities";
const NEEDS = {
  "fs/read_file": ["workspace.read_text"], "fs/list_dir": ["workspace.list"], "fs/write_file": ["workspace.write_text"],
  "fs/remove": ["workspace.delete"], "fs/move_file": ["workspace.list", "workspace.move"], "fs/run": ["process.spawn"],
  "fs/read_many": ["workspace.read_text"], "fs/edit_many": ["workspace.write_text"], "fs/think": [],
  "fs/grab": ["network.*"], "net/get": ["network.http"], "net/mystery": [],
};
// Each ceiling with the needs that it does not have, written out.
for (const [capabilities, missing] of [
  [{ workspace: ["read_text", "list"] },
    ["workspace.write_text", "workspace.delete", "workspace.move", "process.spawn", "network.*", "network.http"]],
  [{ workspace: [] }, ["process.spawn", "network.*", "network.http"]],
  [{ workspace: [], network: ["http"] }, ["process.spawn", "network.*"]],
  [{ network: [] }, ["workspace.read_text", "workspace.list", "workspace.write_text", "workspace.delete", "process.spawn"]],
  [{ process: ["kill"], workspace: ["List"] },
    ["workspace.read_text", "workspace.list", "workspace.write_text", "workspace.delete", "process.spawn", "network.*", "network.http"]],
]) {
  group(`capabilities ${JSON.stringify(capabilities)}`,
    Object.values(capabilities).some((list) => list.length === 0)
      ? "12: an empty list of operations is every operation of the capability" : S_CAPS,
    engine({ capabilities }), Object.entries(PLAIN).map(([name, args]) => {
      const first = NEEDS[name].find((need) => missing.includes(need));
      return gate(name, args, first === undefined ? ALLOW : above(`"${name}"`, `"${first}"`));
    }));
}

// ==== side-effect levels
const LEVELS = ["none", "read_only", "workspace_write", "process_exec", "network"];
const S_LEVEL = "12: a call above the ceiling is denied: its side-effect level";
const S_NONE = "12: a level of none is unknown, and denied under a ceiling with a level unless tools names the tool";
const leveled = Object.fromEntries(LEVELS.map((level) => [`t_${level}`, tool("other", level)]));
leveled.t_absent = { kind: "read" };
leveled.t_unknown = tool("read", "readonly");
for (const [most, word] of [...LEVELS.entries(), [0, "Network"]]) {
  for (const names of [undefined, Object.keys(leveled)]) {
    const ceiling = { side_effect_level: word, ...(names && { tools: names }) };
    const documents = engine(ceiling, { toolAnnotations: annotations({ fs: leveled }) });
    group(`level ${word}${names ? " named" : ""}`, names ? S_NONE : S_LEVEL, documents,
      Object.entries(leveled).map(([name, { side_effect_level }]) => {
        const rank = Math.max(LEVELS.indexOf(side_effect_level ?? "none"), 0);
        const shown = `"${LEVELS[rank]}"`;
        const passes = rank === 0 ? names !== undefined : rank <= most;
        return gate(`fs/${name}`, {}, passes ? ALLOW : above(`"fs/${name}"`, shown, `"${LEVELS[most]}"`));
      }));
  }
}
group("level absent", S_NONE, engine({ tools: ["mystery", "think", "read_file"] }), [
  gate("net/mystery", { path: "src/a.rs" }, ALLOW, "no level is set"),
  gate("fs/think", {}, ALLOW),
]);
group("unclassified", "12: intersect: what it allows, both allow",
  engine({ tools: ["mystery", "think", "read_file"], side_effect_level: "read_only", unclassified_tools: ["fs/think"] }), [
  gate("net/mystery", { path: "src/a.rs" }, above('"none"', '"read_only"')),
  gate("fs/think", {}, ALLOW),
  gate("fs/read_file", { path: "src/a.rs" }, ALLOW),
]);

// ==== reasons, order
group("reasons", "12: the reason names the tool, the operation, the level or the pattern", engine({
  tools: ["read_file", "write_file", "run", "get", "list_dir"], capabilities: { workspace: [], network: [] },
  side_effect_level: "read_only", tool_arg_constraints: [{ tool: "read_file", arg_patterns: ["src/*", "docs/*"] }],
}), [
  gate("fs/remove", {}, { ...above(), reason: 'Above the capability ceiling: tool "fs/remove" is not among the ceiling\'s tools' }),
  gate("fs/run", {}, { ...above(),
    reason: 'Above the capability ceiling: tool "fs/run" needs "process.spawn", which the ceiling does not have' }),
  gate("fs/write_file", {}, { ...above(), reason: "Above the capability ceiling: the side-effect level of tool " +
    '"fs/write_file" is "workspace_write", above the ceiling\'s "read_only"' }),
  gate("fs/read_file", { path: "README.md" }, { ...above(), reason: 'Above the capability ceiling: argument "path" of tool ' +
    '"fs/read_file" does not match the ceiling\'s patterns "src/*", "docs/*"' }),
  gate("fs/nothing", {}, above('"fs/nothing"'), "an unknown tool is above a list of tools"),
]);
const S_ORDER = "8.3.4: where the ceiling stands among the checks";
group("order trusted", S_ORDER, engine({ tools: ["think"] }, { trustedServers: ["fs"] }), [
  gate("fs/remove", { path: "out/o.log" }, { decision: "allow", rule: "trusted-server" }, "8.1 comes first"),
  gate("net/get", { url: "https://docs.rs" }, above("net/get")),
]);
group("order protected", S_ORDER, engine({ tools: ["think"] }, { protectedPaths: ["/etc"] }), [
  gate("fs/read_file", { path: "/etc/passwd" }, deny("structural-protected-path", "/etc/passwd")),
  gate("fs/read_file", { path: "link/passwd" }, deny("structural-protected-path")),
  gate("fs/read_file", { path: "src/a.rs" }, above("read_file")),
  gate("fs/read_file", { path: "~root/x" }, deny("structural-unresolvable-value")),
  gate("fs/read_file", { path: { a: 1 } }, deny("structural-unreadable-argument")),
  gate("fs/read_file", {}, deny("structural-unreadable-argument", "path")),
]);
const introspection = annotations({ filesystem: { list_allowed_directories: {}, ...FS } });
group("order introspection and sandbox", S_ORDER, engine({ tools: ["read_file"] }, { toolAnnotations: introspection }), [
  gate("filesystem/list_allowed_directories", {}, { decision: "allow", rule: "structural-introspection-allow" }),
  gate("filesystem/read_file", { path: "src/a.rs" }, { decision: "allow", rule: "structural-sandbox-allow" }),
  gate("filesystem/write_file", { path: "src/a.rs" }, above("write_file"), "the sandbox does not let it through"),
]);
group("order sandbox constraint", S_ORDER,
  engine({ tool_arg_constraints: [{ tool: "*", arg_patterns: ["src/**"] }] }, { toolAnnotations: introspection }), [
  gate("filesystem/read_file", { path: "src/a.rs" }, { decision: "allow", rule: "structural-sandbox-allow" }),
  gate("filesystem/read_file", { path: "README.md" }, above("path", "src/**")),
]);
group("order allowlist", S_ORDER, engine({ side_effect_level: "network" }, { serverDomainAllowlists: { net: ["docs.rs"] } }), [
  gate("net/get", { url: "https://evil.test/" }, { decision: "escalate", rule: "structural-domain-escalate" }),
  gate("net/nothing", {}, above('"net/nothing"', '"none"'), "what is not annotated has an unknown level"),
]);
group("order unknown tool", S_ORDER, engine({ capabilities: { workspace: [] } }), [
  gate("fs/nothing", {}, deny("structural-unknown-tool"), "it needs nothing that is not given"),
]);
group("order rules", S_ORDER, engine({ tools: ["read_file"] },
  { compiledPolicy: policy(rule("shut", { server: ["fs"] }, "deny")) }), [
  gate("fs/read_file", { path: "src/a.rs" }, deny("shut"), "a ceiling allows nothing by itself"),
  gate("net/get", { url: "https://docs.rs" }, above("net/get")),
]);
group("order no rule", S_ORDER, engine({ tools: ["read_file"] }, { compiledPolicy: policy() }), [
  gate("fs/read_file", { path: "src/a.rs" }, deny("default-deny")),
]);

// ==== argument constraints
file("constraints");
const S_GLOB = "12: arg_patterns are globs";
const constrained = (arg_patterns, more = {}) => engine({
  tool_arg_constraints: [{ tool: "read_file", arg_patterns, ...more }],
});
const path = (value, passes, pattern, why) =>
  gate("fs/read_file", { path: value }, passes ? ALLOW : above('"path"', pattern), why);
for (const [pattern, passing, failing] of [
  ["src/*", ["src/a.rs", "./src/a.rs", "src//a.rs", "src/new-file", "src/.env", "/srv/box/src/a.rs"],
    ["src", "src/deep/c.rs", "README.md", "srcs/a.rs", "a/src/b", "SRC/a.rs", "/srv/app/src/a.rs", "/srv/box2/src/a.rs", "~/src/a.rs"]],
  ["src/**", ["src/a.rs", "src/deep/c.rs", "src/x/y/z"], ["README.md", "srcs/a", "docs/a", "."]],
  ["**/*.md", ["README.md", "docs/x/y.md", "/srv/box/README.md"], ["src/a.rs", "/etc/hosts.md", "~/notes/n.md", "x.md/y"]],
  ["*", ["README.md", "x"], ["src/a.rs", "/etc", ".", "/srv/box"]],
  ["**", ["README.md", "src/deep/c.rs", ".", "/srv/box"], ["/etc/passwd", "..", "~/notes/n.md", "/srv/box2/src/a.rs"]],
  ["src/?.rs", ["src/a.rs", "src/z.rs"], ["src/ab.rs", "src/.rs", "src/a.txt"]],
  ["src/[a-c].{rs,txt}", ["src/a.rs", "src/b.txt"], ["src/d.rs", "src/a.md"]],
  ["/srv/box/src/*", ["/srv/box/src/a.rs", "src/a.rs"], ["/srv/box2/src/a.rs", "src/deep/c.rs", "README.md"]],
  ["/etc/*", ["/etc/passwd"], ["link/passwd", "src/a.rs", "/etc"]],
  ["/**", ["/etc/passwd", "src/a.rs", "~/notes/n.md"], []],
  ["~/notes/*", ["~/notes/n.md", "/home/u/notes/n.md"], ["src/a.rs", "notes/n.md", "~/n.md"]],
  ["src/a.rs", ["src/a.rs"], ["src/a.rsx", "src/b.txt"]],
  ["./src/*", ["src/a.rs"], ["README.md"]],
  ["src\\*", ["src*"], ["src/a.rs", "srcx"]],
]) {
  group(`glob ${pattern}`, S_GLOB, constrained([pattern]), [
    ...passing.map((value) => path(value, true, pattern)),
    ...failing.map((value) => path(value, false, pattern)),
  ]);
}
group("globs several", S_GLOB, constrained(["src/*", "docs/**"]), [
  path("src/a.rs", true), path("docs/x/y", true), path("README.md", false, '"src/*", "docs/**"'),
]);
group("globs none", S_GLOB, constrained([]), [path("src/a.rs", false, "none")]);

const S_WALK = "issue: a pattern cannot be walked around with .. or a link";
group("walk around src/**", S_WALK, constrained(["src/**"]), [
  path("src/../README.md", false, "src/**"),
  path("src/../../../etc/passwd", false, "src/**"),
  path("src/deep/../../out/o.log", false, "src/**"),
  path("src/../src/a.rs", true, "src/**", "both forms are within"),
  path("src/deep/../a.rs", true, "src/**"),
  path("src/etc/passwd", false, "src/**", "a link to a directory outside"),
  path("src/etc", false, "src/**"),
  path("src/evil.rs", false, "src/**", "a link to a file outside"),
  path("src/new.rs", false, "src/**", "a dangling link: a write would land outside"),
  path("src/good.rs", true, "src/**", "a link that stays within"),
  path("docs/src/a.rs", false, "src/**", "canonical within, as given not"),
  path("/data/src/a.rs", false, "src/**", "the same through a link above"),
  gate("fs/read_file", { path: "link/../src/a.rs" }, deny("structural-unresolvable-value"), ".. after a link is ambiguous"),
  gate("fs/read_file", { path: "src/etc/../a.rs" }, deny("structural-unresolvable-value")),
  gate("fs/read_file", { path: "src/a.rs\0.txt" }, deny("structural-unresolvable-value")),
  gate("fs/read_file", { path: "file:///srv/box/src/a.rs" }, deny("structural-unresolvable-value")),
  gate("fs/read_file", { path: "" }, deny("structural-unresolvable-value")),
  gate("fs/read_file", { path: "~root/src/a.rs" }, deny("structural-unresolvable-value")),
  gate("fs/read_file", { path: "loop/src" }, deny("structural-unresolvable-value")),
  path("src%2fa.rs", false, "src/**"),
  path("src\\a.rs", false, "src/**"),
  path("ſrc/a.rs", false, "src/**"),
  path(" src/a.rs", false, "src/**"),
  path("src /a.rs", false, "src/**"),
  path("//srv/box/src/a.rs", true, "src/**"),
  path("/srv/box/./src/./a.rs", true, "src/**"),
  path("/srv/box/../box/src/a.rs", true, "src/**"),
  path("/srv/boxx/../box2/src/a.rs", false, "src/**"),
  path("...", false, "src/**"),
  path("src/...", true, "src/**", "three dots are a name"),
]);
group("walk around with evaluate", S_WALK, constrained(["src/**"]), [
  evaluate("fs/read_file", { path: "/srv/box/src/a.rs" }, ALLOW, "prepared arguments are absolute"),
  evaluate("fs/read_file", { path: "src/a.rs" }, above("src/**"), "evaluate takes it relative to /srv/app"),
  evaluate("fs/read_file", { path: "/srv/box/src/../README.md" }, above("src/**")),
  evaluate("fs/read_file", { path: "/srv/box/src/evil.rs" }, above("src/**")),
]);
group("relative without sandbox", S_WALK, { ...constrained(["src/**"]), allowedDirectory: null }, [
  evaluate("fs/read_file", { path: "src/a.rs" }, ALLOW),
  evaluate("fs/read_file", { path: "/srv/app/src/a.rs" }, ALLOW),
  gate("fs/read_file", { path: "../box/src/a.rs" }, above("src/**")),
]);
group("sandbox by a link", S_WALK, { ...constrained(["src/*", "/data/docs/*"]), allowedDirectory: "/data" }, [
  gate("fs/read_file", { path: "src/a.rs" }, ALLOW, "the workspace is where its link leads"),
  gate("fs/read_file", { path: "/data/src/a.rs" }, ALLOW),
  gate("fs/read_file", { path: "/data/docs/x" }, ALLOW),
  gate("fs/read_file", { path: "src/evil.rs" }, above("src/*")),
  gate("fs/read_file", { path: "/srv/box/src/a.rs" }, above("src/*"), "as given it is not below /data"),
]);
group("through aliases", S_WALK, constrained(["src/**"]), [
  gate("fs/read_file", { file: "src/a.rs" }, { ...ALLOW, transport: { path: "src/a.rs" } }),
  gate("fs/read_file", { file: "README.md" }, above('"path"', "src/**")),
  gate("fs/read_file", { filename: "/etc/passwd" }, above('"path"', "src/**")),
  gate("fs/read_file", { file: "src/a.rs", path: "README.md" }, deny("structural-unreadable-argument", "alias")),
  gate("fs/read_file", { file: "src/a.rs", filename: "README.md" }, deny("structural-unreadable-argument", "alias")),
]);
group("key is an alias", "12: the value is that of arg_key", constrained(["src/**"], { arg_key: "file" }), [
  path("src/a.rs", true), path("README.md", false, "src/**", "the alias stands for the key"),
  gate("fs/read_file", { file: "README.md" }, above("src/**")),
]);

const S_KEY = "12: the value is that of arg_key, else of the first of path_params with a string";
const keyed = (name, arg_key, ...arg_patterns) =>
  engine({ tool_arg_constraints: [{ tool: name, arg_patterns, ...(arg_key && { arg_key }) }] });
group("first path", S_KEY, keyed("move_file", undefined, "out/*"), [
  gate("fs/move_file", { from: "out/o.log", to: "out/p" }, ALLOW),
  gate("fs/move_file", { from: "out/o.log", to: "src/p" }, ALLOW, "only the first is looked at"),
  gate("fs/move_file", { from: "src/a.rs", to: "out/p" }, above('"from"')),
  gate("fs/move_file", { to: "src/p" }, above('"to"'), "from is absent, so to is the first"),
  gate("fs/move_file", { from: null, to: "src/p" }, above('"to"'), "null is no string"),
  gate("fs/move_file", { from: 5, to: "src/p" }, above('"to"'), "a number is no string"),
  gate("fs/move_file", { from: 5, to: "out/p" }, ALLOW),
]);
group("both paths", S_KEY, engine({ tool_arg_constraints: [
  { tool: "move_file", arg_patterns: ["out/*"], arg_key: "from" }, { tool: "move_file", arg_patterns: ["out/*"], arg_key: "to" },
] }), [
  gate("fs/move_file", { from: "out/o.log", to: "out/p" }, ALLOW),
  gate("fs/move_file", { from: "out/o.log", to: "src/p" }, above('"to"')),
  gate("fs/move_file", { from: "src/a.rs", to: "out/p" }, above('"from"')),
]);
const S_ABSENT = "12: where the argument is absent, the constraint does not apply";
group("absent", S_ABSENT, keyed("*", "cwd", "src"), [
  gate("fs/run", { cwd: "src" }, ALLOW), gate("fs/run", {}, ALLOW), gate("fs/run", { cwd: null }, ALLOW),
  gate("fs/run", { cwd: "out" }, above('"cwd"', '"src"')), gate("fs/run", { command: "x" }, ALLOW),
  gate("fs/think", {}, ALLOW), gate("fs/read_file", { path: "README.md" }, ALLOW),
  gate("fs/think", { cwd: "out" }, above('"cwd"'), "the glob concerns every tool"),
  gate("fs/think", { cwd: "src" }, ALLOW),
]);
group("absent path", S_ABSENT, keyed("list_dir", undefined, "src"), [
  gate("fs/list_dir", {}, ALLOW), gate("fs/list_dir", { path: null }, ALLOW),
  gate("fs/list_dir", { path: "out" }, above('"path"')), gate("fs/list_dir", { path: ["out"] }, above('"path"'), "an array of strings"),
  gate("fs/list_dir", { path: [] }, ALLOW, "no value"),
]);
group("arrays", S_KEY, keyed("read_many", undefined, "src/**"), [
  gate("fs/read_many", { paths: ["src/a.rs", "src/deep/c.rs"] }, ALLOW),
  gate("fs/read_many", { paths: ["src/a.rs", "README.md"] }, above('"paths"'), "each of them must match"),
  gate("fs/read_many", { paths: ["README.md", "src/a.rs"] }, above('"paths"')),
  gate("fs/read_many", { paths: ["src/a.rs", "src/../README.md"] }, above('"paths"')),
  gate("fs/read_many", { paths: [], path: "README.md" }, above('"path"'), "paths holds no string"),
  gate("fs/read_many", { paths: [["README.md"]] }, deny("structural-unreadable-argument")),
  gate("fs/read_many", { paths: [null, "src/a.rs"] }, ALLOW),
]);
group("pointer", S_KEY, keyed("edit_many", "/edits/*/path", "src/**"), [
  gate("fs/edit_many", { edits: [{ path: "src/a.rs" }] }, ALLOW),
  gate("fs/edit_many", { edits: [{ path: "src/a.rs" }, { path: "README.md" }] }, above('"edits"')),
  gate("fs/edit_many", { edits: [{ path: "src/evil.rs" }] }, above('"edits"')),
  gate("fs/edit_many", { edits: [] }, ALLOW), gate("fs/edit_many", {}, ALLOW),
]);
group("pointer in path_params", S_KEY, keyed("edit_many", undefined, "src/**"), [
  gate("fs/edit_many", { edits: [{ path: "src/a.rs" }] }, ALLOW),
  gate("fs/edit_many", { edits: [{ path: "out/x" }] }, above('"edits"')),
]);
const S_TEXT = "12: arg_patterns are globs, over values that are no paths";
group("command", S_TEXT, keyed("run", "command", "git status*", "cargo **", "cargo {test,check} *"), [
  gate("fs/run", { command: "git status" }, ALLOW), gate("fs/run", { command: "git status -s" }, ALLOW),
  gate("fs/run", { command: "git push" }, above('"command"')), gate("fs/run", { command: "agit status" }, above('"command"')),
  gate("fs/run", { command: "git status; rm -rf /" }, above('"command"'), "* stops at the slash"),
  gate("fs/run", { command: "cargo test -p x" }, ALLOW), gate("fs/run", { command: "cargo run x" }, ALLOW, "** in a name is *"),
  gate("fs/run", { command: "GIT status" }, above('"command"')), gate("fs/run", { command: "" }, above('"command"')),
  gate("fs/run", { command: 5 }, above('"command"'), "no string matches no pattern"),
  gate("fs/run", { command: true }, above('"command"')), gate("fs/run", { command: { a: "git status" } }, above('"command"')),
  gate("fs/run", { command: ["git status"] }, ALLOW), gate("fs/run", { command: ["git status", "rm"] }, above('"command"')),
  gate("fs/run", { command: ["git status", 5] }, above('"command"')), gate("fs/run", { command: null }, ALLOW),
]);
group("path under no role", S_WALK, keyed("mystery", "note", "/srv/box/src/**", "src/**", "plain*"), [
  gate("net/mystery", { note: "/srv/box/src/a.rs" }, ALLOW), gate("net/mystery", { note: "plain text" }, ALLOW),
  gate("net/mystery", { note: "/srv/box/src/../README.md" }, above('"note"')),
  gate("net/mystery", { note: "/srv/box/src/evil.rs" }, above('"note"'), "what looks like a path is judged as one"),
  gate("net/mystery", { note: "src/../../etc/passwd" }, above('"note"')),
  gate("net/mystery", { note: "./src/a.rs" }, ALLOW),
  gate("net/mystery", { note: "plain/../x" }, above('"note"')),
]);
group("url", "issue: values are compared in canonical form as well as given", keyed("get", "url", "https://docs.rs/**"), [
  gate("net/get", { url: "https://docs.rs/serde" }, ALLOW), gate("net/get", { url: "https://docs.rs/a/b?q" }, ALLOW),
  gate("net/get", { url: "https://evil.test/docs.rs/" }, above('"url"')),
  gate("net/get", { url: "https://docs.rs.evil.test/" }, above('"url"')),
  gate("net/get", { url: "https://docs.rs@evil.test/" }, above('"url"')),
  gate("net/get", { url: "http://docs.rs/serde" }, above('"url"')),
  gate("net/get", { url: "https:\\\\docs.rs\\x" }, above('"url"'), "as given it does not match"),
]);
group("tool glob", "12: the tool of a constraint is a glob", engine({ tool_arg_constraints: [
  { tool: "read_*", arg_patterns: ["src/**"] }, { tool: "net/*", arg_patterns: ["https://docs.rs/**"], arg_key: "url" },
  { tool: "fs/{remove,write_file}", arg_patterns: ["out/**"] },
] }), [
  gate("fs/read_file", { path: "README.md" }, above("src/**")), gate("fs/read_file", { path: "src/a.rs" }, ALLOW),
  gate("fs/read_many", { paths: ["README.md"] }, above("src/**")), gate("fs/list_dir", { path: "docs" }, ALLOW),
  gate("fs/remove", { path: "src/a.rs" }, above("out/**")), gate("fs/remove", { path: "out/o.log" }, ALLOW),
  gate("fs/write_file", { path: "src/a.rs" }, above("out/**")), gate("fs/edit_many", { edits: [{ path: "src/a.rs" }] }, ALLOW),
  gate("net/get", { url: "https://x.test" }, above('"url"')),
]);
group("tool with a slash", "12: the tool of a constraint is a glob", {
  ...engine({ tool_arg_constraints: [{ tool: "*", arg_patterns: ["src/**"], arg_key: "path" }] }),
  toolAnnotations: annotations({ fs: { "a/b": tool("read", "read_only", paths("path")) } }),
}, [
  gate("fs/a/b", { path: "README.md" }, above("src/**"), "what restricts is broad"), gate("fs/a/b", { path: "src/a.rs" }, ALLOW),
]);
group("remove a link", "2.8: a link to be removed is judged at both places", keyed("remove", undefined, "src/**"), [
  gate("fs/remove", { path: "src/good.rs" }, ALLOW), gate("fs/remove", { path: "src/evil.rs" }, above("src/**")),
  gate("fs/remove", { path: "docs/src" }, above("src/**")),
]);
group("own names only", S_WALK, keyed("think", "constructor", "x"), [
  gate("fs/think", {}, ALLOW), gate("fs/think", { constructor: "x" }, ALLOW), gate("fs/think", { constructor: "y" }, above('"constructor"')),
]);

// ==== workspace roots
const S_ROOTS = "issue: workspace roots are usable as a sandbox";
group("roots", S_ROOTS, { ...engine({ workspace_roots: ["/srv/box/src", "~/notes"] }), allowedDirectory: null }, [
  gate("fs/read_file", { path: "/srv/box/src/a.rs" }, ALLOW), gate("fs/read_file", { path: "~/notes/n.md" }, ALLOW),
  gate("fs/read_file", { path: "/srv/box/README.md" }, above('"path"', "workspace roots")),
  gate("fs/read_file", { path: "/srv/box/src/../README.md" }, above("workspace roots")),
  gate("fs/read_file", { path: "/srv/box/src/evil.rs" }, above("workspace roots")),
  gate("fs/read_file", { path: "/srv/box/src/etc/passwd" }, above("workspace roots")),
  gate("fs/read_file", { path: "/srv/box/docs/src/a.rs" }, ALLOW, "what it stands for lies within"),
  gate("fs/read_file", { path: "/srv/box/srcx" }, above("workspace roots")),
  gate("fs/read_file", { path: "src/a.rs" }, above("workspace roots"), "relative to /srv/app"),
  gate("fs/write_file", { path: "/srv/box/src/new.rs" }, above("workspace roots"), "a dangling link"),
  gate("fs/move_file", { from: "/srv/box/src/a.rs", to: "/etc/x" }, above('"to"')),
  gate("fs/remove", { path: "/srv/box/docs/src" }, above("workspace roots"), "the link itself lies outside"),
  gate("fs/read_many", { paths: ["/srv/box/src/a.rs", "/etc/passwd"] }, above('"paths"')),
  gate("net/get", { url: "https://docs.rs" }, ALLOW), gate("fs/think", {}, ALLOW),
]);
group("roots do not anchor patterns", S_ROOTS, { ...engine({ workspace_roots: ["/srv/box", "/srv/app"],
  tool_arg_constraints: [{ tool: "*", arg_patterns: ["src/*"] }] }), allowedDirectory: null }, [
  gate("fs/read_file", { path: "/srv/app/src/a.rs" }, ALLOW),
  gate("fs/read_file", { path: "/srv/box/src/a.rs" }, above("src/*"), "in an intersection they would be other roots"),
  gate("fs/read_file", { path: "/srv/box2/src/a.rs" }, above("roots")),
]);
const granted = { ...engine({ workspace_roots: ["/srv/box"] }), allowedDirectory: null, compiledPolicy: policy(),
  toolAnnotations: introspection };
group("roots grant nothing", S_ROOTS, granted, [
  gate("filesystem/read_file", { path: "/srv/box/src/a.rs" }, deny("default-deny")),
]);
group("roots as the sandbox", S_ROOTS, { ...granted, options: { heuristicPaths: "off", workspaceRoots: "sandbox" } }, [
  gate("filesystem/read_file", { path: "/srv/box/src/a.rs" }, { decision: "allow", rule: "structural-sandbox-allow" }),
  gate("filesystem/read_file", { path: "src/a.rs" }, { decision: "allow", transport: { path: "src/a.rs" } }),
  gate("filesystem/read_file", { path: "/etc/passwd" }, above("workspace roots")),
  gate("filesystem/read_file", { path: "src/evil.rs" }, above("workspace roots")),
]);
for (const [name, documents] of [
  ["two roots", { ceiling: { workspace_roots: ["/srv/box", "/srv/app"] }, allowedDirectory: null }],
  ["no root", { ceiling: { tools: ["think"] }, allowedDirectory: null }],
  ["no ceiling", { allowedDirectory: null }],
  ["beside a sandbox", { ceiling: { workspace_roots: ["/srv/box"] } }],
]) {
  group(`roots as the sandbox, ${name}`, S_ROOTS,
    { ...engine(undefined, documents), options: { workspaceRoots: "sandbox" } },
    [{ op: "construct", expect: { refused: ["invalid-value", "options.workspaceRoots"] } }]);
}
group("outer roots", "12: intersect: what it allows, both allow",
  { ...engine({ workspace_roots: ["/srv/box/src"], outer_workspace_roots: [["/srv/box"], ["/srv", "/etc"]] }), allowedDirectory: null }, [
  gate("fs/read_file", { path: "/srv/box/src/a.rs" }, ALLOW), gate("fs/read_file", { path: "/srv/box/src/etc/passwd" }, above("roots")),
]);

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

const notices = (name, says, ceiling, ...found) =>
  group(`noticed ${name}`, says, engine(ceiling, { compiledPolicy: policy() }), [{ op: "diagnostics", expect: { lines: found } }]);
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
  gate("fs/read_file", { file: "src/a.rs" }, { ...ALLOW, transport: { path: "src/a.rs" } }),
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
  gate("harn/read_file", { file: "src/a.rs" }, { ...ALLOW, transport: { path: "src/a.rs" } }),
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
  { op: "construct", expect: { refused: ["missing-route", "toolAnnotations.run"] } },
]);
group("harn unknown arguments", S_HARN,
  engine(undefined, { toolAnnotations: harn, options: { unknownArguments: "deny" } }), [
  gate("harn/read_file", { path: "src/a.rs" }, ALLOW), gate("harn/read_file", { file: "src/a.rs" }, ALLOW),
  gate("harn/read_file", { path: "src/a.rs", more: 1 }, deny("structural-unknown-argument")),
]);

for (const [name, groups] of Object.entries(files)) {
  const text = groups.map((one) => `${JSON.stringify(one)}\n`).join("");
  writeFileSync(new URL(`./${name}.jsonl`, import.meta.url), text);
  console.log(name, groups.reduce((count, { cases }) => count + cases.length, 0));
}
