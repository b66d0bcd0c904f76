// The parts of the cases in this folder: a machine, tools, documents, expectations.

export const theMachine = {
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

export const workspace = (...operations) => ({ workspace: operations });
export const tool = (kind, side_effect_level, more = {}) => ({ kind, side_effect_level, ...more });
export const paths = (...path_params) => ({ arg_schema: { path_params } });

// Every tool needs an operation of its own, so that each limit can be hit alone.
export const FS = {
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
export const NET = {
  get: tool("fetch", "network", { capabilities: { network: ["http"] }, args: { url: ["fetch-url"] } }),
  mystery: { args: { path: ["read-path"], note: ["none"] } },
};

export function annotations(servers = { fs: FS, net: NET }) {
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

export const rule = (name, condition, effect) => ({
  name, description: "", principle: "", if: condition, then: effect, reason: `because of ${name}`,
});
export const policy = (...rules) => ({ generatedAt: "", constitutionHash: "", inputHash: "", rules });
export const OPEN = policy(rule("open", { server: ["fs", "net", "harn", "vm", "filesystem", "git"] }, "allow"));

export const engine = (ceiling, more = {}) => ({
  compiledPolicy: OPEN,
  toolAnnotations: annotations(),
  allowedDirectory: "/srv/box",
  options: { heuristicPaths: "off" },
  ...(ceiling !== undefined && { ceiling }),
  ...more,
});

// ---- expectations
export const ALLOW = { decision: "allow", rule: "open" };
export const above = (...reasonHas) => ({ decision: "deny", rule: "structural-capability-ceiling", reasonHas });
export const deny = (name, ...reasonHas) => ({ decision: "deny", rule: name, ...(reasonHas.length > 0 && { reasonHas }) });

export const call = (name, args = {}) => {
  const at = name.indexOf("/");
  return { serverName: name.slice(0, at), toolName: name.slice(at + 1), arguments: args };
};
export const gate = (name, args, expect, why) => ({ op: "gate", call: call(name, args), ...(why && { why }), expect });
export const evaluate = (name, args, expect, why) => ({ op: "evaluate", call: call(name, args), ...(why && { why }), expect });
export const ask = (op, args, expect) => ({ op, args, expect });

// A call of each tool that nothing but its semantics can stop.
export const PLAIN = {
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

export const files = {};
export let lines;
export const file = (name) => {
  lines = files[name] = [];
};
export const group = (name, says, documents, cases, machine = theMachine) =>
  lines.push({ format: "cases/1", name, says, machine, ...(documents && { engine: documents }), cases });
