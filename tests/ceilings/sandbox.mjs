import { ALLOW, FS, above, annotations, ask, deny, evaluate, file, gate, group, policy, rule } from "./vocabulary.mjs";

// ==== several workspace roots as one sandbox
file("sandbox");
const S_SANDBOX = "issue: workspace roots are usable as a sandbox";
const S_PROTECTED = "8.3.2: what lies within the sandbox is excepted, where it lies within the protected path itself";
const S_GIT = "8.3.7: the repository must lie within the sandbox";
const S_NARROW = "12: intersect: what it allows, both allow";
const S_PUBLISHED = "10: the sandbox first, each directory once";

const machine = (more = {}, fs = {}) => ({
  home: "/home/u",
  cwd: "/srv/app",
  fs: {
    dirs: ["/work/a/src", "/work/b/src", "/work/b/secret/open", "/work/b/repo", "/work/b/fork", "/work/c/repo", "/work/ab",
      "/home/u/notes", "/home/u/.ssh", "/etc", "/srv/app"],
    files: ["/work/a/src/a.rs", "/work/b/src/b.rs", "/work/b/secret/key", "/work/c/x", "/home/u/notes/n.md", "/home/u/.ssh/id"],
    links: {
      "/work/a/to-b": "../b/src",
      "/work/a/to-c": "/work/c",
      "/work/a/new": "../b/new",
      "/work/a/new-c": "../c/new",
      "/work/b/to-a": "../a/src/a.rs",
      "/work/c/back": "../a",
      "/work/door": "b",
      "/work/loop": "loop",
      "/work/nowhere": "/srv/none",
      "/home/u/notes/key": "/work/b/secret/key",
      "/work/a/note": "/home/u/notes/n.md",
      "/work/b/src/open": "../secret/open",
    },
    errors: { "/work/locked": "EACCES" },
    ...fs,
  },
  git: {
    "/work/b/repo": { branch: "main", branchRemotes: { main: "origin" }, remotes: { origin: "https://github.com/acme/app" } },
    "/work/b/fork": { branch: "main", branchRemotes: { main: "origin" }, remotes: { origin: "https://evil.test/app" } },
    "/work/c/repo": { branch: "main", branchRemotes: { main: "origin" }, remotes: { origin: "https://evil.test/app" } },
  },
  ...more,
});
const GIT = {
  git_push: { args: { path: ["read-path"], remote: ["git-remote-url"] } },
  git_fetch: { args: { remote: ["git-remote-url"] } },
  git_log: { args: { path: ["read-path"] } },
};
const documents = (workspace_roots, { options, ceiling, ...more } = {}) => ({
  compiledPolicy: policy(),
  toolAnnotations: annotations({ filesystem: { list_allowed_directories: {}, ...FS }, fs: FS, git: GIT }),
  ceiling: { workspace_roots, ...ceiling },
  options: { heuristicPaths: "off", workspaceRoots: "sandbox", ...options },
  ...more,
});
const within = (name, says, engine, cases, on = machine()) => group(name, says, engine, cases, on);
const INSIDE = { decision: "allow", rule: "structural-sandbox-allow" };
const OUTSIDE = above("workspace roots");
const PROTECTED = deny("structural-protected-path");
const UNRESOLVABLE = deny("structural-unresolvable-value");
const read = (path, expect, why) => gate("filesystem/read_file", { path }, expect, why);
const remove = (path, expect, why) => gate("filesystem/remove", { path }, expect, why);
const move = (from, to, expect, why) => gate("filesystem/move_file", { from, to }, expect, why);
const contained = (path, expect, why) => ({ ...read(path, expect, why), containerWorkspaceDir: "/workspace" });
const denies = (name, where) => rule(name, { paths: { roles: ["read-path"], within: where } }, "deny");
const AB = ["/work/a", "/work/b"];
const BA = ["/work/b", "/work/a"];

for (const directories of ["fresh", "pinned"]) {
  within(`two roots, ${directories}`, S_SANDBOX, documents(AB, { options: { directories } }), [
    read("/work/a/src/a.rs", INSIDE), read("/work/b/src/b.rs", INSIDE),
    read("/work/a", INSIDE, "a root itself"), read("/work/b/", INSIDE),
    read("/work/c/x", OUTSIDE), read("/work", OUTSIDE, "what holds both roots"), read("/work/ab/x", OUTSIDE, "no name goes on"),
    read("/work/a/../b/src/b.rs", INSIDE, "from one root into the other"), read("/work/a/../c/x", OUTSIDE),
    read("/work/b/../b/../a", INSIDE), read("/work/./b//src/../../a/src/a.rs", INSIDE),
    gate("filesystem/read_many", { paths: ["/work/a/src/a.rs", "/work/b/src/b.rs"] }, INSIDE),
    gate("filesystem/read_many", { paths: ["/work/a/src/a.rs", "/work/c/x"] }, OUTSIDE),
    move("/work/a/src/a.rs", "/work/b/src/new.rs", INSIDE, "each value lies in a root, in another one each"),
    move("/work/b/src/b.rs", "src/new.rs", { ...INSIDE, transport: { from: "/work/b/src/b.rs", to: "/work/a/src/new.rs" } }),
    move("/work/a/src/a.rs", "/work/c/new.rs", above('"to"')), move("/work/c/x", "/work/b/x", above('"from"')),
    gate("filesystem/list_allowed_directories", {}, { decision: "allow", rule: "structural-introspection-allow" }),
    gate("fs/read_file", { path: "/work/b/src/b.rs" }, deny("default-deny"), "the sandbox is that of filesystem and git"),
    gate("git/git_log", { path: "/work/b/repo" }, INSIDE), gate("git/git_log", { path: "/work/c/repo" }, OUTSIDE),
  ]);
}
within("links between roots", S_SANDBOX, documents(AB), [
  read("/work/a/to-b", INSIDE), read("/work/a/to-b/b.rs", INSIDE), read("/work/b/to-a", INSIDE),
  read("/work/a/to-c", OUTSIDE, "a link out of both"), read("/work/a/to-c/x", OUTSIDE),
  remove("/work/a/to-b", INSIDE, "the link lies in one root, what it stands for in the other"),
  remove("/work/b/to-a", INSIDE), remove("/work/a/to-c", OUTSIDE),
  read("/work/c/back/src/a.rs", INSIDE, "what it stands for lies within"), remove("/work/c/back", OUTSIDE, "the link does not"),
  gate("filesystem/write_file", { path: "/work/a/new" }, INSIDE, "a dangling link: a write lands in the other root"),
  gate("filesystem/write_file", { path: "/work/a/new-c" }, OUTSIDE), remove("/work/a/new", INSIDE), remove("/work/a/new-c", OUTSIDE),
  move("/work/a/to-b", "/work/b/to-b", INSIDE), move("/work/a/to-c", "/work/b/to-c", OUTSIDE),
  read("/work/a/to-b/../x", UNRESOLVABLE, ".. after a link is ambiguous, be it from root to root"),
  read("/work/door/src/b.rs", INSIDE), remove("/work/door", OUTSIDE),
]);

// ---- what is relative
within("relative to the first root", S_SANDBOX, documents(AB), [
  read("src/a.rs", { ...INSIDE, transport: { path: "/work/a/src/a.rs" } }),
  read("to-c/x", OUTSIDE, "a link of the first root leads out"), read("to-b/b.rs", INSIDE),
  read("../b/src/b.rs", { ...INSIDE, transport: { path: "/work/b/src/b.rs" } }, "canonical it lies in the other root"),
  read("../c/x", OUTSIDE), read("..", OUTSIDE),
  evaluate("filesystem/read_file", { path: "/work/b/src/b.rs" }, INSIDE),
  evaluate("filesystem/read_file", { path: "src/a.rs" }, OUTSIDE, "prepared arguments are relative to /srv/app"),
]);
within("relative to the first of the same roots", S_SANDBOX, documents(BA), [
  read("to-c/x", INSIDE, "it does not lead out of this root"), read("to-a", INSIDE), read("../c/x", OUTSIDE),
]);
const patterns = { ceiling: { tool_arg_constraints: [{ tool: "read_*", arg_patterns: ["src/*"] }] } };
within("patterns relative to the first root", S_SANDBOX, documents(AB, patterns), [
  read("src/a.rs", INSIDE), read("/work/a/src/a.rs", INSIDE), read("/work/b/src/b.rs", above("src/*")),
  read("/work/b/to-a", above("src/*"), "as given it lies in the other root"), read("../b/src/b.rs", above("src/*")),
]);
within("patterns relative to the first of the same roots", S_SANDBOX, documents(BA, patterns), [
  read("src/b.rs", INSIDE), read("/work/b/src/b.rs", INSIDE), read("/work/a/src/a.rs", above("src/*")),
]);
const S_LINKED = "12: a path as given starts from a directory that is a link by either of its names";
for (const [name, pattern] of [["relative", "src/*"], ["absolute", "/work/door/src/*"], ["canonical", "/work/b/src/*"]]) {
  const linked = { ceiling: { tool_arg_constraints: [{ tool: "read_*", arg_patterns: [pattern] }] } };
  const isCanonical = name === "canonical";
  within(`${name} patterns below a root that is a link`, S_LINKED, documents(["/work/door"], linked), [
    read("src/b.rs", isCanonical ? above(pattern) : { ...INSIDE, transport: { path: "/work/b/src/b.rs" } }),
    read("/work/door/src/b.rs", isCanonical ? above(pattern) : INSIDE), read("/work/b/src/b.rs", INSIDE, "what is sent passes again"),
    read("/work/b/secret/key", above(pattern)), read("/work/door/secret/key", above(pattern)),
    read("/work/b/to-a", OUTSIDE), read("/work/b/src/open/x", above(pattern), "a link to elsewhere in the root"),
  ]);
}
within("moved from the container", S_SANDBOX, documents(AB), [
  contained("/workspace/src/a.rs", { ...INSIDE, transport: { path: "/work/a/src/a.rs" } }),
  contained("/workspace", { ...INSIDE, transport: { path: "/work/a" } }),
  contained("/workspace/../b/src/b.rs", { ...INSIDE, transport: { path: "/work/b/src/b.rs" } }),
  contained("/workspace/to-c/x", OUTSIDE), contained("/workspace/../c/x", OUTSIDE), contained("/workspaces/x", OUTSIDE),
  contained("/work/b/src/b.rs", { ...INSIDE, transport: { path: "/work/b/src/b.rs" } }, "the host's own path stays"),
]);

// ---- what roots may be
within("nested roots", S_SANDBOX, documents(["/work/b/src", "/work/b"]), [
  read("b.rs", INSIDE), read("../x", INSIDE), read("/work/b/repo", INSIDE), read("../../a/src/a.rs", OUTSIDE),
  remove("/work/b/src/open", INSIDE),
]);
within("the same root twice", S_SANDBOX, documents(["/work/a", "/work/a/", "/work/a/../a"]), [
  read("src/a.rs", INSIDE), read("/work/b/src/b.rs", OUTSIDE),
]);
within("the root of all", S_SANDBOX, documents(["/work/a", "/"]), [
  read("src/a.rs", INSIDE), read("/etc/passwd", INSIDE), read("/", INSIDE), read("../../etc", INSIDE),
]);
within("the home directory", S_SANDBOX, documents(["/work/a", "~/notes/"]), [
  read("~/notes/n.md", INSIDE), read("/home/u/notes/n.md", INSIDE), read("~/.ssh/id", OUTSIDE), read("~", OUTSIDE),
  read("~/notes/../.ssh/id", OUTSIDE), read("note", INSIDE, "a link from one root into the other"),
]);
within("a root by a link", S_SANDBOX, documents(["/work/a", "/work/door"]), [
  read("/work/door/src/b.rs", INSIDE), read("/work/b/src/b.rs", INSIDE, "where the link leads"),
  read("/work/a/to-b/b.rs", INSIDE), read("/work/door/../c/x", OUTSIDE), remove("/work/door", OUTSIDE, "it lies in no root"),
]);
within("the first root by a link", S_SANDBOX, documents(["/work/door", "/work/a"]), [
  read("src/b.rs", INSIDE), read("repo", INSIDE), read("/work/a/src/a.rs", INSIDE), read("/work/c/x", OUTSIDE),
]);
within("a root that does not exist yet", S_SANDBOX, documents(["/work/a", "/work/later", "/work/nowhere"]), [
  read("/work/later/x", INSIDE), read("/work/a/src/a.rs", INSIDE), read("/srv/none/x", INSIDE, "where the link would lead"),
  read("/work/nowhere/x", INSIDE), read("/work/latest/x", OUTSIDE),
]);
within("a root without a canonical form", S_SANDBOX, documents(["/work/a", "/work/loop", "/work/locked/x", "/work/b"]), [
  read("/work/a/src/a.rs", INSIDE, "the others grant"), read("/work/b/src/b.rs", INSIDE),
  read("/work/loop/x", UNRESOLVABLE), read("/work/locked/x/y", INSIDE, "a closed directory is where it is written"),
  read("/work/c/x", OUTSIDE),
]);
within("the first root without a canonical form", S_SANDBOX, documents(["/work/loop", "/work/a"]), [
  read("src/a.rs", UNRESOLVABLE, "another root is not taken instead"), read("/work/a/src/a.rs", INSIDE),
]);
within("no root with a canonical form", S_SANDBOX, documents(["/work/loop", "/work/locked"]), [
  read("/work/a/src/a.rs", OUTSIDE), gate("git/git_log", { path: "/work/b/repo" }, OUTSIDE),
]);

// ---- protected paths
within("excepted by its own root alone", S_PROTECTED,
  documents(["/home/u/notes", "/work/b", "/work/a"], { protectedPaths: ["/home/u", "/work/b/secret"] }), [
    read("n.md", INSIDE, "the root lies within what is protected"), read("~/notes/n.md", INSIDE),
    read("~/.ssh/id", PROTECTED), read("~", PROTECTED), read("../.ssh/id", PROTECTED),
    read("/work/b/src/b.rs", INSIDE), read("/work/b/secret/key", PROTECTED, "another root's exception is not its own"),
    read("/work/b/secret/open/x", PROTECTED), read("/work/b/src/open/x", PROTECTED, "by a link of its own root"),
    read("key", PROTECTED, "by a link of the root that is excepted"),
    read("/work/a/note", INSIDE, "a link into what is excepted"), remove("/work/a/note", INSIDE),
    move("n.md", "/work/b/secret/n.md", PROTECTED), move("/work/b/secret/key", "n.md", PROTECTED),
    move("n.md", "/work/b/n.md", INSIDE), remove("/work/b", PROTECTED, "it holds what is protected"),
    remove("/work/b/src", INSIDE),
  ]);
for (const [name, roots] of [["outer", ["/work/b", "/work/b/secret/open"]], ["inner", ["/work/b/secret/open", "/work/b"]]]) {
  within(`a root within what another one has protected, ${name} first`, S_PROTECTED,
    documents(roots, { protectedPaths: ["/work/b/secret"] }), [
      read("/work/b/secret/open/x", INSIDE), read("/work/b/src/open/x", INSIDE), read("/work/b/src/b.rs", INSIDE),
      read("/work/b/secret/key", PROTECTED), read("/work/b/secret", PROTECTED), read("/work/b/secret/openx", PROTECTED),
      read("/work/b/secret/open/../key", PROTECTED), remove("/work/b/secret", PROTECTED),
    ]);
}
within("several protected paths around several roots", S_PROTECTED,
  documents(AB, { protectedPaths: ["/", "/work", "/work/b/secret"] }), [
    read("/work/a/src/a.rs", INSIDE), read("/work/b/src/b.rs", INSIDE), read("/work/b/secret/key", PROTECTED),
    read("/work/c/x", PROTECTED), read("/etc/passwd", PROTECTED), read("/work/a/to-c/x", PROTECTED),
  ]);
within("a root that is protected", S_PROTECTED, documents(AB, { protectedPaths: ["/work/door", "/work/a/src"] }), [
  read("/work/b/src/b.rs", INSIDE, "the entry leads to the root, which is as specific"), read("src/a.rs", PROTECTED),
  read("/work/b/to-a", PROTECTED),
]);
within("text that looks like a path", S_PROTECTED,
  documents(["/home/u/notes", "/work/b"], { protectedPaths: ["~", "/work/b/secret"], options: { heuristicPaths: "on" } }), [
    gate("filesystem/write_file", { path: "n.md", content: "~/notes/x" }, INSIDE),
    gate("filesystem/write_file", { path: "n.md", content: "/work/b/secret/key" }, PROTECTED),
    gate("filesystem/write_file", { path: "/work/b/x", content: "~/.ssh/id" }, PROTECTED),
    gate("filesystem/write_file", { path: "/work/b/x", content: "./key" }, PROTECTED),
  ]);
for (const [where, outer, expected] of [["out of", "/work/a", PROTECTED], ["within", "/work", INSIDE]]) {
  const narrowed = documents(["/work/a", "/work/a/to-c"], {
    protectedPaths: ["/work/c"], options: { heuristicPaths: "on" }, ceiling: { outer_workspace_roots: [[outer]] },
  });
  within(`a root that is a link ${where} an outer root`, S_NARROW, narrowed, [
    gate("filesystem/write_file", { path: "src/n.rs", content: "n" }, INSIDE),
    gate("filesystem/write_file", { path: "src/n.rs", content: "/work/c/x" }, expected, "it excepts what it may hold"),
    gate("filesystem/write_file", { path: "src/n.rs", content: "/work/a/to-c/x" }, expected), read("/work/c/x", expected),
  ]);
}
const folding = machine({}, { caseInsensitive: true });
within("a disk that folds names", "2.7: folding denies and never grants",
  documents(["/work/a", "/work/b", "/home/u/notes"], {
    protectedPaths: ["/WORK/B/SECRET", "/HOME"], options: { pathCase: "insensitive" },
  }), [
    read("/work/b/src/b.rs", INSIDE), read("/WORK/B/src/b.rs", OUTSIDE, "as it is spelled it lies in no root"),
    read("/work/b/Secret/key", PROTECTED), read("~/notes/n.md", INSIDE),
    read("/home/U/notes/n.md", PROTECTED, "no root holds that spelling"), read("~/.SSH/id", PROTECTED),
    move("/work/a/src/a.rs", "/work/b/sEcret/a", PROTECTED),
  ], folding);

// ---- git
const allowlist = {
  serverDomainAllowlists: { git: ["github.com"] },
  compiledPolicy: policy(rule("pushes", { server: ["git"], roles: ["git-remote-url"] }, "allow")),
};
const gated = { decision: "escalate", rule: "structural-domain-escalate", reasonHas: ["evil.test"] };
const unknown = { decision: "escalate", rule: "structural-domain-escalate", reasonHas: ["not known"] };
const PUSHED = { decision: "allow", rule: "pushes" };
const push = (path, expect, why) => gate("git/git_push", { path }, expect, why);
const fetch = (expect, why) => gate("git/git_fetch", {}, expect, why);
within("repositories of both roots", S_GIT, documents(AB, allowlist), [
  push("/work/b/repo", PUSHED, "git is asked about the second root's repository"),
  push("/work/b/fork", gated), push("../b/fork", gated), push("/work/c/repo", OUTSIDE),
  fetch(unknown, "of the current directory nothing is asked: it may not be the server's, so its remote is not known"),
]);
within("a repository around the agent", S_GIT, documents(AB, allowlist), [
  fetch(unknown, "the current directory lies in the second root, but it may not be the server's"),
], machine({ cwd: "/work/b/fork" }));
within("a repository beside the agent", S_GIT, documents(["/work/a", "/work/b/src", "/work/loop"], allowlist), [
  fetch(unknown, "the current directory lies in no root, and may not be the server's"),
], machine({ cwd: "/work/b/fork" }));

// ---- ceilings that are narrower
within("outer roots bound every root", S_NARROW,
  documents(AB, { ceiling: { outer_workspace_roots: [["/work"], ["/work/b", "/etc"]] } }), [
    read("/work/b/src/b.rs", INSIDE), read("/work/a/src/a.rs", OUTSIDE, "a root of the sandbox outside of an outer set"),
    read("/etc/passwd", OUTSIDE), read("/work/b/to-a", OUTSIDE), move("/work/b/src/b.rs", "src/b.rs", OUTSIDE),
  ]);
within("other limits hold for every root", S_NARROW, documents(AB, { ceiling: { tools: ["read_file"] } }), [
  read("/work/b/src/b.rs", INSIDE), remove("/work/b/src/b.rs", above('"filesystem/remove"')),
]);
within("roots that only bound", S_SANDBOX, documents(AB, { options: { workspaceRoots: "bounds" } }), [
  read("/work/a/src/a.rs", deny("default-deny")), read("/work/b/src/b.rs", deny("default-deny")), read("/work/c/x", OUTSIDE),
]);
within("rules beside roots", S_SANDBOX,
  documents(AB, { compiledPolicy: policy(denies("no-b", "/work/b"), rule("open", {}, "allow")) }), [
    read("/work/b/src/b.rs", deny("no-b"), "a deny rule is heard in the sandbox as outside"),
    gate("fs/read_file", { path: "/work/b/src/b.rs" }, deny("no-b")), gate("fs/read_file", { path: "/work/a/src/a.rs" }, ALLOW),
  ]);

// ---- documents
for (const [name, engine, ...refused] of [
  ["no root", documents([]), "no workspace root"],
  ["no root, others outside", documents([], { ceiling: { outer_workspace_roots: [["/work"]] } }), "no workspace root"],
  ["beside a sandbox", documents(AB, { allowedDirectory: "/work/a" }), "beside `sandbox`"],
]) {
  within(`refused: ${name}`, S_SANDBOX, engine, [
    { op: "construct", expect: { refused: ["invalid-value", "options.workspaceRoots", ...refused] } },
  ]);
}
const published = policy(
  rule("b-too", { paths: { roles: ["read-path"], within: "/work/b" } }, "allow"),
  rule("notes", { paths: { roles: ["read-path"], within: "~/notes" } }, "escalate"),
  denies("not", "/etc"),
);
const roots = (...pairs) => ({ answer: pairs.map(([path, name]) => ({ path, name })) });
group("roots to show", S_PUBLISHED, undefined, [
  ask("extractPolicyRoots", [published, AB], roots(["/work/a", "sandbox"], ["/work/b", "sandbox"], ["/home/u/notes", "notes"])),
  ask("extractPolicyRoots", [published, BA], roots(["/work/b", "sandbox"], ["/work/a", "sandbox"], ["/home/u/notes", "notes"])),
  ask("extractPolicyRoots", [published, ["/work/door", "/work/b/", "/work/loop", "/work/a/../b"]],
    roots(["/work/b", "sandbox"], ["/home/u/notes", "notes"])),
  ask("extractPolicyRoots", [published, "/work/a"], roots(["/work/a", "sandbox"], ["/work/b", "b-too"], ["/home/u/notes", "notes"])),
  ask("extractPolicyRoots", [published, []], roots(["/work/b", "b-too"], ["/home/u/notes", "notes"])),
], machine());
