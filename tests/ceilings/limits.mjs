import { ALLOW, FS, PLAIN, above, annotations, call, deny, engine, file, gate, group, policy, rule, tool, workspace } from "./vocabulary.mjs";

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
export const S_CAPS = "12: a call above the ceiling is denied: its capabilities";
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
export const LEVELS = ["none", "read_only", "workspace_write", "process_exec", "network"];
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
export const introspection = annotations({ filesystem: { list_allowed_directories: {}, ...FS } });
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
