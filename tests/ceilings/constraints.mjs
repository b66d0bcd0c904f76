import { introspection } from "./limits.mjs";
import { ALLOW, above, annotations, deny, engine, evaluate, file, gate, group, paths, policy, rule, tool, workspace } from "./vocabulary.mjs";

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
  gate("fs/read_file", { path: " src/a.rs" }, deny("structural-unresolvable-value")),
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
  gate("fs/read_file", { path: "/srv/box/src/a.rs" }, ALLOW, "what is sent passes again"),
]);
group("through aliases", S_WALK, constrained(["src/**"]), [
  gate("fs/read_file", { file: "src/a.rs" }, { ...ALLOW, transport: { path: "/srv/box/src/a.rs" } }),
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
  gate("fs/move_file", { from: null, to: "src/p" }, above('"to"'), "null is not a string"),
  gate("fs/move_file", { from: 5, to: "src/p" }, above('"to"'), "a number is not a string"),
  gate("fs/move_file", { from: 5, to: "out/p" }, ALLOW),
]);
group("both paths", S_KEY, engine({ tool_arg_constraints: [
  { tool: "move_file", arg_patterns: ["out/*"], arg_key: "from" }, { tool: "move_file", arg_patterns: ["out/*"], arg_key: "to" },
] }), [
  gate("fs/move_file", { from: "out/o.log", to: "out/p" }, ALLOW),
  gate("fs/move_file", { from: "out/o.log", to: "src/p" }, above('"to"')),
  gate("fs/move_file", { from: "src/a.rs", to: "out/p" }, above('"from"')),
]);
group("several on one", "12: the reason names the first constraint that does not hold, in the order of the ceiling",
  engine({ tool_arg_constraints: [
    { tool: "*", arg_patterns: ["src/**", "out/**"], arg_key: "paths" }, { tool: "*", arg_patterns: ["out/*"], arg_key: "to" },
    { tool: "*", arg_patterns: ["**/*.rs"], arg_key: "paths" }, { tool: "*", arg_patterns: ["src/*"], arg_key: "paths" },
  ] }), [
    gate("fs/read_many", { paths: ["src/a.rs"], to: "out/p" }, ALLOW),
    gate("fs/read_many", { paths: ["src/a.rs", "src/b.txt"], to: "out/p" }, above('"paths"', '"**/*.rs"')),
    gate("fs/read_many", { paths: ["src/deep/c.rs", "src/b.txt"], to: "out/p" }, above('"**/*.rs"')),
    gate("fs/read_many", { paths: ["src/b.txt", "src/deep/c.rs"], to: "out/p" }, above('"**/*.rs"')),
    gate("fs/read_many", { paths: ["src/deep/c.rs"], to: "out/p" }, above('"paths"', '"src/*"')),
    gate("fs/read_many", { paths: ["src/b.txt", "README.md"], to: "out/p" }, above('"src/**", "out/**"')),
    gate("fs/read_many", { paths: ["src/b.txt", 5], to: "out/p" }, above('"src/**", "out/**"')),
    gate("fs/read_many", { paths: ["src/b.txt", "src/deep/c.rs"], to: "docs/p" }, above('"to"', '"out/*"')),
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
const S_READ = "What servers read in another way than this engine is judged under every reading";
const hidden = (path) => [` ${path}`, `\n${path}`, `\u00a0${path}`, `\ufeff${path} `, `file://${path}`, `FILE:${path}`, `view-source:file://${path}`];
group("path under no role, in white space or a URI", S_READ, keyed("mystery", "note", "src/**", "*.md", "/srv/box/src/**", "**.md"), [
  ...hidden("/etc/x.md").flatMap((note) => [
    gate("net/mystery", { note }, above('"note"')), gate("net/mystery", { note: ["x.md", note] }, above('"note"'), "in an array"),
  ]),
  ...hidden("/srv/box/src/a.rs").map((note) => gate("net/mystery", { note }, above('"note"'), "the text as it stands matches nothing")),
  gate("net/mystery", { note: "x.md" }, ALLOW), gate("net/mystery", { note: " x.md" }, ALLOW, "a text that is not like a path"),
  gate("net/mystery", { note: "/srv/box/src/a.rs" }, ALLOW),
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

const S_SPELLED = "5: a name that differs by case alone from one that a ceiling looks at is denied";
const misspelt = deny("structural-unreadable-argument");
group("a constrained argument in other letters", S_SPELLED, keyed("think", "path", "src/**"), [
  gate("fs/think", { path: "src/a.rs" }, ALLOW), gate("fs/think", { path: "/etc/passwd" }, above('"path"')),
  gate("fs/think", { Path: "/etc/passwd" }, misspelt), gate("fs/think", { PATH: "src/a.rs" }, misspelt),
  gate("fs/think", { paths: "/etc/passwd" }, ALLOW),
]);
group("a constrained argument within others, in other letters", S_SPELLED, keyed("think", "/edits/*/path", "src/**"), [
  gate("fs/think", { edits: [{ path: "src/a.rs" }] }, ALLOW), gate("fs/think", { edits: [{ path: "/etc/passwd" }] }, above()),
  gate("fs/think", { edits: [{ Path: "/etc/passwd" }] }, misspelt), gate("fs/think", { Edits: [{ path: "/etc/passwd" }] }, misspelt),
  gate("fs/think", { edits: { a: { pAth: "/etc/passwd" } } }, misspelt),
]);
group("an alias in other letters", S_SPELLED, constrained(["src/**"]), [
  gate("fs/read_file", { file: "src/a.rs" }, ALLOW),
  gate("fs/read_file", { path: "src/a.rs", File: "/etc/passwd" }, misspelt),
]);
const S_TAKEN = "12: a value that the server takes for an absent argument has to match as well";
const taking = (absent) => ({
  ...engine({ tool_arg_constraints: [{ tool: "*", arg_patterns: ["src/**"], arg_key: "path" }] }),
  toolAnnotations: annotations({ fs: {
    save: tool("edit", "workspace_write", { args: { path: { roles: ["write-path"], absent } } }),
    keep: tool("edit", "workspace_write", { args: { path: ["write-path"] }, inputSchema: { type: "object",
      properties: { path: { type: "string", default: absent } } } }),
    first: tool("edit", "workspace_write", { args: { path: { roles: ["write-path"], absent }, to: ["write-path"] } }),
  } }),
});
group("what is taken lies without", S_TAKEN, taking("/etc/passwd"), [
  gate("fs/save", {}, above('"path"')), gate("fs/save", { path: null }, above('"path"')), gate("fs/keep", {}, above('"path"')),
  gate("fs/save", { path: "src/a.rs" }, ALLOW),
]);
group("what is taken lies within", S_TAKEN, taking("/srv/box/src/a.rs"), [
  gate("fs/save", {}, ALLOW), gate("fs/keep", {}, ALLOW), gate("fs/save", { path: "/etc/passwd" }, above('"path"')),
]);
group("nothing is taken", S_TAKEN, taking("nothing"), [gate("fs/save", {}, ALLOW)]);
const params = taking("/etc/passwd");
for (const one of params.toolAnnotations.servers.fs.tools) {
  one.arg_schema = { path_params: ["to", "path"] };
}
group("what is taken, of path_params", S_TAKEN,
  { ...params, ceiling: { tool_arg_constraints: [{ tool: "*", arg_patterns: ["src/**"] }] } }, [
    gate("fs/first", { to: "src/a.rs" }, above('"path"'), "whatever stands first"),
    gate("fs/first", { to: "src/a.rs", path: "src/b.txt" }, ALLOW),
  ]);
group("a NUL in a text", "12: a text has to match up to its first NUL as well, where it ends for a program in C",
  keyed("think", "name", "*.md"), [
    gate("fs/think", { name: "a.md" }, ALLOW), gate("fs/think", { name: "run.sh\0.md" }, above('"name"')),
    gate("fs/think", { name: "a.md\0b.md" }, ALLOW), gate("fs/think", { name: ["a.md", "run.sh\0.md"] }, above('"name"')),
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
  gate("filesystem/read_file", { path: "src/a.rs" }, { decision: "allow", transport: { path: "/srv/box/src/a.rs" } }),
  gate("filesystem/read_file", { path: "/etc/passwd" }, above("workspace roots")),
  gate("filesystem/read_file", { path: "src/evil.rs" }, above("workspace roots")),
]);
for (const [name, documents] of [
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
