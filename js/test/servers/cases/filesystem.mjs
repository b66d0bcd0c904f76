// Calls of the filesystem server. It may use the whole tree: what it must not touch is the gate's to refuse.

export const CASES = ({ tree: { at, root } }) => [
  ...reading(at),
  ...refusedReading(at, root),
  ...writing(at),
  ...refusedWriting(at),
  ...moving(at),
  ...unreadable(at),
  ...relative(at),
  ...equivalent(at),
];

const read = (path, expect, rest) => ({ tool: "read_text_file", args: { path }, expect, ...rest });
const write = (path, expect, rest) => ({ tool: "write_file", args: { path, content: "new" }, expect, ...rest });

const reading = (at) => [
  read(at("sandbox/a.txt"), "allow", { rule: "structural-sandbox-allow", reads: ["sandbox/a.txt"] }),
  { tool: "read_file", args: { path: at("sandbox/a.txt") }, expect: "allow", reads: ["sandbox/a.txt"] },
  { tool: "read_file", args: { path: at("sandbox/a.txt"), head: 1 }, expect: "allow", reads: ["sandbox/a.txt"] },
  { tool: "read_text_file", args: { path: at("sandbox/a.txt"), tail: 2 }, expect: "allow", reads: ["sandbox/a.txt"] },
  read(at("sandbox/with space.txt"), "allow", { reads: ["sandbox/with space.txt"] }),
  read(at("sandbox/ü.txt"), "allow", { reads: ["sandbox/ü.txt"] }),
  read(at("sandbox/[draft] notes.txt"), "allow", { reads: ["sandbox/[draft] notes.txt"] }),
  read(at("sandbox/sub/deep/d.txt"), "allow", { reads: ["sandbox/sub/deep/d.txt"] }),
  read(`${at("sandbox")}/./sub//c.txt`, "allow", {
    sends: { path: at("sandbox/sub/c.txt") },
    reads: ["sandbox/sub/c.txt"],
  }),
  read(`${at("sandbox")}/sub/../a.txt`, "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read(`${at("docs")}/../sandbox/a.txt`, "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read(`${at("sandbox")}/a.txt/`, "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read(at("sandbox/down/c.txt"), "allow", { sends: { path: at("sandbox/sub/c.txt") }, reads: ["sandbox/sub/c.txt"] }),
  read(at("entrance/a.txt"), "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read("~/../sandbox/a.txt", "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read(at("docs/d.txt"), "allow", { rule: "read the documents", reads: ["docs/d.txt"] }),
  read(at("docs/in.txt"), "allow", { sends: { path: at("docs/d.txt") }, reads: ["docs/d.txt"] }),
  read(at("bench/to-docs/d.txt"), "allow", { sends: { path: at("docs/d.txt") }, reads: ["docs/d.txt"] }),
  read(at("sandbox/missing.txt"), "allow", { fails: true }),
  read(at("sandbox/sub"), "allow", { fails: true }),
  { tool: "read_media_file", args: { path: at("sandbox/b.txt") }, expect: "allow", reads: ["sandbox/b.txt"] },
  { tool: "read_media_file", args: { path: at("docs/e.txt") }, expect: "allow", reads: ["docs/e.txt"] },
  {
    tool: "read_multiple_files",
    args: { paths: [at("sandbox/a.txt"), at("docs/d.txt")] },
    expect: "allow",
    reads: ["sandbox/a.txt", "docs/d.txt"],
  },
  {
    tool: "read_multiple_files",
    args: { paths: [at("sandbox/down/c.txt"), `${at("sandbox")}//b.txt`] },
    expect: "allow",
    sends: { paths: [at("sandbox/sub/c.txt"), at("sandbox/b.txt")] },
    reads: ["sandbox/sub/c.txt", "sandbox/b.txt"],
  },
  { tool: "list_directory", args: { path: at("sandbox/sub") }, expect: "allow", says: ["c.txt", "deep"] },
  {
    tool: "list_directory",
    args: { path: at("sandbox/down") },
    expect: "allow",
    sends: { path: at("sandbox/sub") },
    says: "c.txt",
  },
  { tool: "list_directory_with_sizes", args: { path: at("docs"), sortBy: "size" }, expect: "allow", says: "d.txt" },
  { tool: "directory_tree", args: { path: at("sandbox/sub") }, expect: "allow", says: "d.txt" },
  { tool: "directory_tree", args: { path: at("docs"), excludePatterns: ["e.txt"] }, expect: "allow", says: "d.txt" },
  { tool: "search_files", args: { path: at("docs"), pattern: "*.txt" }, expect: "allow", says: at("docs/e.txt") },
  {
    tool: "search_files",
    args: { path: at("sandbox/sub"), pattern: "**/d.txt" },
    expect: "allow",
    says: at("sandbox/sub/deep/d.txt"),
  },
  { tool: "get_file_info", args: { path: at("sandbox/a.txt") }, expect: "allow", says: "size" },
  {
    tool: "list_allowed_directories",
    args: {},
    expect: "allow",
    rule: "structural-introspection-allow",
    says: "Allowed",
  },
];

const refusedReading = (at, root) => [
  read(at("outside/x.txt"), "deny", { rule: "default-deny", otherwise: { reads: ["outside/x.txt"] } }),
  read(`${at("sandbox")}/../outside/x.txt`, "deny", { rule: "default-deny", otherwise: { reads: ["outside/x.txt"] } }),
  read(at("sandbox-old/z.txt"), "deny", { rule: "default-deny", otherwise: { reads: ["sandbox-old/z.txt"] } }),
  read(at("sandbox/out.txt"), "deny", { rule: "default-deny", otherwise: { reads: ["outside/x.txt"] } }),
  read(at("sandbox/out/y.txt"), "deny", { rule: "default-deny", otherwise: { reads: ["outside/y.txt"] } }),
  read(at("docs/out.txt"), "deny", { rule: "default-deny", otherwise: { reads: ["outside/x.txt"] } }),
  read(at("bench/out/x.txt"), "deny", { rule: "default-deny", otherwise: { reads: ["outside/x.txt"] } }),
  read(at("sandbox/keys/id"), "deny", { rule: "structural-protected-path", otherwise: { reads: ["sandbox/keys/id"] } }),
  read(at("sandbox/old-keys/id"), "deny", {
    rule: "structural-protected-path",
    otherwise: { reads: ["sandbox/keys/id"] },
  }),
  read(at("sandbox/key.txt"), "deny", { rule: "structural-protected-path", otherwise: { reads: ["secret/key.txt"] } }),
  read(at("sandbox/token.txt"), "deny", {
    rule: "structural-protected-path",
    otherwise: { reads: ["sandbox/token.txt"] },
  }),
  read(`${at("sandbox")}/sub/../token.txt/`, "deny", { rule: "structural-protected-path" }),
  read("~/.ssh/id", "deny", { rule: "structural-protected-path", otherwise: { reads: ["home/.ssh/id"] } }),
  read(at("home/.ssh/id"), "deny", { rule: "structural-protected-path" }),
  read("~/h.txt", "deny", { rule: "default-deny", otherwise: { reads: ["home/h.txt"] } }),
  read("~nobody/x", "deny", { rule: "structural-unresolvable-value" }),
  read(`file://${at("sandbox/a.txt")}`, "deny", { rule: "structural-unresolvable-value" }),
  read("/proc/self/environ", "deny", { rule: "structural-unresolvable-value" }),
  read("/proc/self/cwd/a.txt", "deny", { rule: "structural-unresolvable-value" }),
  read("/dev/stdin", "deny", { rule: "structural-unresolvable-value" }),
  read(at("sandbox/loop"), "deny", { rule: "structural-unresolvable-value" }),
  read(`${at("sandbox")}/down/../a.txt`, "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read(`${at("sandbox")}/out/../outside/x.txt`, "deny"),
  read(`${at("sandbox")}/a.txt\0.png`, "deny", { rule: "structural-unresolvable-value" }),
  read("", "deny", { rule: "structural-unresolvable-value" }),
  read(at("drafts/f.txt"), "escalate", { rule: "ask about drafts" }),
  read("/etc/hostname", "deny", { rule: "default-deny" }),
  {
    tool: "read_multiple_files",
    args: { paths: [at("sandbox/a.txt"), at("outside/x.txt")] },
    expect: "deny",
    otherwise: { reads: ["sandbox/a.txt", "outside/x.txt"] },
  },
  {
    tool: "read_multiple_files",
    args: { paths: [at("sandbox/a.txt"), at("secret/key.txt")] },
    expect: "deny",
    rule: "structural-protected-path",
  },
  { tool: "read_multiple_files", args: { paths: [at("docs/d.txt"), at("drafts/f.txt")] }, expect: "escalate" },
  {
    tool: "read_media_file",
    args: { path: at("secret/key.txt") },
    expect: "deny",
    rule: "structural-protected-path",
    otherwise: { reads: ["secret/key.txt"] },
  },
  { tool: "list_directory", args: { path: at("outside") }, expect: "deny", otherwise: { says: "x.txt" } },
  { tool: "list_directory", args: { path: at("sandbox/out") }, expect: "deny", otherwise: { says: "x.txt" } },
  { tool: "directory_tree", args: { path: root }, expect: "deny" },
  {
    tool: "search_files",
    args: { path: root, pattern: "**/key.txt" },
    expect: "deny",
    otherwise: { says: at("secret/key.txt") },
  },
  { tool: "get_file_info", args: { path: at("home/.ssh/id") }, expect: "deny", rule: "structural-protected-path" },
  { tool: "list_allowed_directories", args: { path: at("secret") }, expect: "deny" },
  {
    tool: "read_text_file",
    args: { path: at("sandbox/a.txt"), encoding: "base64" },
    expect: "deny",
    rule: "structural-unknown-argument",
  },
  { tool: "no_such_tool", args: { path: at("sandbox/a.txt") }, expect: "deny", rule: "structural-unknown-tool" },
];

const writing = (at) => [
  write(at("sandbox/a.txt"), "allow", { lands: ["sandbox/a.txt"] }),
  write(at("sandbox/new.txt"), "allow", { lands: ["sandbox/new.txt"] }),
  write(at("sandbox/-new.txt"), "allow", { lands: ["sandbox/-new.txt"] }),
  write(at("sandbox/down/new.txt"), "allow", {
    sends: { path: at("sandbox/sub/new.txt"), content: "new" },
    lands: ["sandbox/sub/new.txt"],
  }),
  write(at("sandbox/new-in.txt"), "allow", {
    sends: { path: at("sandbox/sub/new.txt"), content: "new" },
    lands: ["sandbox/sub/new.txt"],
  }),
  write(`${at("sandbox")}/sub//./new.txt`, "allow", { lands: ["sandbox/sub/new.txt"] }),
  write(at("bench/w.txt"), "allow", { rule: "work on the bench", lands: ["bench/w.txt"] }),
  write(at("bench/sub/new.txt"), "allow", { lands: ["bench/sub/new.txt"] }),
  {
    tool: "write_file",
    args: { path: at("sandbox/a.txt"), content: "/etc/passwd ~/x" },
    expect: "allow",
    lands: ["sandbox/a.txt"],
  },
  {
    tool: "write_file",
    args: { path: at("sandbox/list.json"), content: '["a", "b"]' },
    expect: "allow",
    lands: ["sandbox/list.json"],
  },
  {
    tool: "create_directory",
    args: { path: at("sandbox/one/two") },
    expect: "allow",
    lands: ["sandbox/one", "sandbox/one/two"],
  },
  { tool: "create_directory", args: { path: at("sandbox/down/one") }, expect: "allow", lands: ["sandbox/sub/one"] },
  { tool: "create_directory", args: { path: at("sandbox/sub") }, expect: "allow" },
  {
    tool: "edit_file",
    args: { path: at("sandbox/a.txt"), edits: [{ oldText: "<<sandbox/a.txt>>", newText: "edited" }] },
    expect: "allow",
    lands: ["sandbox/a.txt"],
    reads: ["sandbox/a.txt"],
  },
  {
    tool: "edit_file",
    args: { path: at("sandbox/down/c.txt"), edits: [{ oldText: "<<sandbox/sub/c.txt>>", newText: "edited" }] },
    expect: "allow",
    lands: ["sandbox/sub/c.txt"],
    reads: ["sandbox/sub/c.txt"],
  },
  {
    tool: "edit_file",
    args: { path: at("docs/d.txt"), edits: [{ oldText: "<<docs/d.txt>>", newText: "edited" }], dryRun: true },
    expect: "allow",
    reads: ["docs/d.txt"],
  },
  {
    tool: "edit_file",
    args: { path: at("sandbox/a.txt"), edits: [{ oldText: "not there", newText: "" }] },
    expect: "allow",
    fails: true,
  },
];

const refusedWriting = (at) => [
  write(at("outside/x.txt"), "deny", { rule: "default-deny", otherwise: { lands: ["outside/x.txt"] } }),
  write(at("sandbox/new-out.txt"), "deny", { rule: "default-deny" }),
  write(at("sandbox/out.txt"), "deny", { rule: "default-deny", otherwise: { lands: ["outside/x.txt"] } }),
  write(at("sandbox/out/new.txt"), "deny", { rule: "default-deny", otherwise: { lands: ["outside/new.txt"] } }),
  write(`${at("sandbox")}/../new.txt`, "deny", { rule: "default-deny", otherwise: { lands: ["new.txt"] } }),
  write(at("docs/d.txt"), "deny", { rule: "default-deny", otherwise: { lands: ["docs/d.txt"] } }),
  write(at("bench/to-docs/new.txt"), "deny", { rule: "default-deny", otherwise: { lands: ["docs/new.txt"] } }),
  write(at("sandbox/keys/new"), "deny", {
    rule: "structural-protected-path",
    otherwise: { lands: ["sandbox/keys/new"] },
  }),
  write(at("sandbox/old-keys/new"), "deny", {
    rule: "structural-protected-path",
    otherwise: { lands: ["sandbox/keys/new"] },
  }),
  write(at("sandbox/token.txt"), "deny", { rule: "structural-protected-path" }),
  write("~/new.txt", "deny", { rule: "default-deny", otherwise: { lands: ["home/new.txt"] } }),
  write(at("drafts/f.txt"), "escalate", { rule: "ask about drafts" }),
  write(at("drafts/new.txt"), "escalate"),
  {
    tool: "create_directory",
    args: { path: at("outside/one") },
    expect: "deny",
    otherwise: { lands: ["outside/one"] },
  },
  {
    tool: "create_directory",
    args: { path: at("sandbox/out/one") },
    expect: "deny",
    otherwise: { lands: ["outside/one"] },
  },
  {
    tool: "edit_file",
    args: { path: at("docs/d.txt"), edits: [{ oldText: "<<docs/d.txt>>", newText: "edited" }] },
    expect: "deny",
    otherwise: { lands: ["docs/d.txt"], reads: ["docs/d.txt"] },
  },
  {
    tool: "edit_file",
    args: { path: at("docs/d.txt"), edits: [{ oldText: "<<docs/d.txt>>", newText: "" }], dryRun: "true" },
    expect: "deny",
  },
  { tool: "edit_file", args: { path: at("drafts/f.txt"), edits: [] }, expect: "escalate" },
];

const move = (source, destination, expect, rest) => ({
  tool: "move_file",
  args: { source, destination },
  expect,
  ...rest,
});

const moving = (at) => [
  move(at("sandbox/a.txt"), at("sandbox/moved.txt"), "allow", { lands: ["sandbox/a.txt", "sandbox/moved.txt"] }),
  move(at("sandbox/sub"), at("sandbox/moved"), "allow", { lands: ["sandbox/sub/**", "sandbox/moved/**"] }),
  move(at("bench/w.txt"), at("sandbox/w.txt"), "allow", { lands: ["bench/w.txt", "sandbox/w.txt"] }),
  move(at("sandbox/a.txt"), at("bench/a.txt"), "allow", { lands: ["sandbox/a.txt", "bench/a.txt"] }),
  move(at("sandbox/a.txt"), at("sandbox/b.txt"), "allow", { fails: true }),
  move(at("sandbox/a.txt"), at("outside/a.txt"), "deny", { otherwise: { lands: ["sandbox/a.txt", "outside/a.txt"] } }),
  move(at("outside/x.txt"), at("sandbox/x.txt"), "deny", { otherwise: { lands: ["outside/x.txt", "sandbox/x.txt"] } }),
  move(at("docs/d.txt"), at("sandbox/d.txt"), "deny", { otherwise: { lands: ["docs/d.txt", "sandbox/d.txt"] } }),
  move(at("sandbox/keys"), at("sandbox/moved"), "deny", { rule: "structural-protected-path" }),
  move(at("sandbox/token.txt"), at("sandbox/sub/t.txt"), "deny", { rule: "structural-protected-path" }),
  // A protected path moves with the directory that holds it.
  move(at("sandbox"), at("bench/moved"), "deny", {
    rule: "structural-protected-path",
    otherwise: { lands: ["sandbox/**", "bench/moved/**"] },
  }),
  move(at("sandbox/out.txt"), at("sandbox/moved.txt"), "deny"),
];

const unreadable = (at) => [
  { tool: "read_text_file", args: {}, expect: "deny", rule: "structural-unreadable-argument" },
  {
    tool: "read_text_file",
    args: { path: null },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_text_file",
    args: { path: 7 },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_text_file",
    args: { path: [at("sandbox/a.txt")] },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_text_file",
    args: { path: { path: at("sandbox/a.txt") } },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_multiple_files",
    args: { paths: [[at("sandbox/a.txt")]] },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_multiple_files",
    args: { paths: at("sandbox/a.txt") },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_multiple_files",
    args: { paths: [at("sandbox/a.txt"), 7] },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "read_multiple_files",
    args: { paths: JSON.stringify([at("outside/x.txt")]) },
    expect: "deny",
  },
  {
    tool: "write_file",
    args: { content: "new" },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
  {
    tool: "move_file",
    args: { source: at("sandbox/a.txt") },
    expect: "deny",
    rule: "structural-unreadable-argument",
  },
];

// The gate judges them in its sandbox; the server would look in a directory of its own.
const relative = (at) => [
  read("a.txt", "allow", { sends: { path: at("sandbox/a.txt") }, reads: ["sandbox/a.txt"] }),
  read("./sub/c.txt", "allow", {
    sends: { path: at("sandbox/sub/c.txt") },
    reads: ["sandbox/sub/c.txt"],
  }),
  read("down/c.txt", "allow", {
    sends: { path: at("sandbox/sub/c.txt") },
    reads: ["sandbox/sub/c.txt"],
  }),
  read("[draft] notes.txt", "allow", { reads: ["sandbox/[draft] notes.txt"] }),
  read("../docs/d.txt", "allow", { sends: { path: at("docs/d.txt") }, reads: ["docs/d.txt"] }),
  read("../server/a.txt", "deny"),
  read("out/x.txt", "deny"),
  read("keys/id", "deny", { rule: "structural-protected-path" }),
  write("new.txt", "allow", { lands: ["sandbox/new.txt"] }),
  write("./down/new.txt", "allow", { lands: ["sandbox/sub/new.txt"] }),
  write("new-out.txt", "deny"),
  move("a.txt", "moved.txt", "allow", { lands: ["sandbox/a.txt", "sandbox/moved.txt"] }),
  move("down", "moved", "allow", {
    sends: { source: at("sandbox/down"), destination: at("sandbox/moved") },
    lands: ["sandbox/sub/**", "sandbox/moved/**"],
  }),
];

// Where a name does not exist, this server takes an entry whose name is the same in Unicode's composed form, and follows
// it if it is a link.
const equivalent = (at) => [
  write(at("sandbox/u\u0308.txt"), "allow", {
    sends: { path: at("sandbox/ü.txt"), content: "new" },
    lands: ["sandbox/ü.txt"],
  }),
  write(at("sandbox/o\u0308ut/new.txt"), "deny", { otherwise: { lands: ["outside/new.txt"] } }),
  read(at("sandbox/ke\u0301y.txt"), "deny", { otherwise: { reads: ["sandbox/kéy.txt"] } }),
];
