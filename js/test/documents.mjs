// Documents for several tests. This does not need the package.
export const HOME = "/home/u";
export const SANDBOX = "/home/u/sandbox";

/** A policy, from rules in short form: `{name?, if, then}`. */
export function policyOf(...rules) {
  const full = rules.map((rule, index) => ({
    name: `rule-${index}`,
    description: "",
    principle: "",
    reason: `because of ${index}`,
    ...rule,
  }));
  return { generatedAt: "", constitutionHash: "", inputHash: "", rules: full };
}

/** Annotations, from a short form: `{server: {tool: {argument: roles}}}`. */
export function annotationsOf(servers) {
  const file = Object.entries(servers).map(([serverName, tools]) => [
    serverName,
    {
      inputHash: "",
      tools: Object.entries(tools).map(([toolName, args]) => ({ toolName, serverName, comment: "", args })),
    },
  ]);
  return { generatedAt: "", servers: Object.fromEntries(file) };
}

export const ANNOTATIONS = annotationsOf({
  filesystem: {
    read_file: { path: ["read-path"], head: ["none"] },
    read_many: { paths: ["read-path"] },
    write_file: { path: ["write-path"], content: ["none"] },
    edit_file: { "/edits/*/path": ["write-path"] },
  },
  fetch: { get: { url: ["fetch-url"], headers: ["none"] } },
  memory: { note: { text: ["none"] } },
});

export const POLICY = policyOf(
  { if: { paths: { roles: ["read-path"], within: "/home/u/docs" } }, then: "allow" },
  { if: { roles: ["read-path", "write-path"] }, then: "escalate" },
  { if: { domains: { roles: ["fetch-url"], allowed: ["example.com"] } }, then: "allow" },
  { if: { server: ["memory"] }, then: "allow" },
);

export const WORLD = {
  home: HOME,
  cwd: "/srv",
  fs: {
    dirs: [SANDBOX, "/home/u/docs", "/srv", "/etc"],
    files: [`${SANDBOX}/a.txt`, "/home/u/docs/d.txt", "/etc/passwd"],
    links: { [`${SANDBOX}/link`]: "/etc/passwd" },
  },
};

/** A call. */
export function call(serverName, toolName, args) {
  return { serverName, toolName, arguments: args };
}
