// Each line below a mark must not compile. An unused mark is an error too.
import {
  createEngine,
  createVirtualHost,
  defineAnnotations,
  definePolicy,
  type Engine,
  getRoleDefinition,
  type Host,
  PolicyEngine,
  type Verdict,
} from "callgate";

const head = { generatedAt: "", constitutionHash: "", inputHash: "" } as const;
const rule = { name: "", description: "", principle: "", reason: "" } as const;
const policy = { ...head, rules: [] };
const annotations = { generatedAt: "", servers: {} };
const tool = { toolName: "t", serverName: "s", comment: "" } as const;
const servers = <Tool>(one: Tool) => ({ generatedAt: "", servers: { s: { inputHash: "", tools: [one] } } });
const host: Host = createVirtualHost({ home: "/", cwd: "/" });
const engine: Engine = createEngine({ policy, annotations, host });

// These compile, so that the ones below fail for the reason given.
createEngine({ policy, annotations: servers({ ...tool, args: { x: ["read-path"] as const } }) });
createEngine({ policy: { ...head, rules: [{ ...rule, if: { roles: ["read-path"] }, then: "deny" }] }, annotations });
createEngine({
  policy: { ...head, rules: [{ ...rule, if: { roles: ["note"] }, then: "deny" }] },
  annotations,
  roles: [{ name: "note", description: "", category: "opaque", canonicalize: (value) => value.trim() }],
});
createEngine({ policy: "{}", annotations: "{}" });
createEngine({
  policy: {
    ...head,
    rules: [{ ...rule, if: { tool: ["get_*"], args: [{ arg: "/a/b", in: [1, "x", null] }] }, then: "deny" }],
  },
  annotations,
  options: {
    serverAliases: { fs: "filesystem" },
    sandboxServers: ["fs"],
    sandboxRoles: ["read-path"],
    sandbox: "after-rules",
    workingDirectory: { git: "/srv/repo" },
  },
});

// @ts-expect-error: a policy is required
createEngine({ annotations });
// @ts-expect-error: annotations are required
createEngine({ policy });
// @ts-expect-error: a misspelled member
createEngine({ policy, annotations, allowedDirectories: "/" });
// @ts-expect-error: one directory, not several
createEngine({ policy, annotations, sandbox: ["/"] });
// @ts-expect-error: paths are an array
createEngine({ policy, annotations, protectedPaths: "/etc" });
// @ts-expect-error: patterns are an array
createEngine({ policy, annotations, domainAllowlists: { fetch: "*" } });
// @ts-expect-error: an unknown option
createEngine({ policy, annotations, options: { heuristics: "off" } });
// @ts-expect-error: an unknown value of an option
createEngine({ policy, annotations, options: { unknownArguments: "allow" } });
// @ts-expect-error: an unknown kind of server
createEngine({ policy, annotations, options: { serverAliases: { web: "fetch" } } });
// @ts-expect-error: a role that the sandbox cannot decide about
createEngine({ policy, annotations, options: { sandboxRoles: ["fetch-url"] } });
// @ts-expect-error: an unknown order
createEngine({ policy, annotations, options: { sandbox: "after" } });
createEngine({
  // @ts-expect-error: a condition without an argument
  policy: { ...head, rules: [{ ...rule, if: { args: [{ is: "present" }] }, then: "deny" }] },
  annotations,
});
// @ts-expect-error: an unknown effect
createEngine({ policy: { ...head, rules: [{ ...rule, if: {}, then: "permit" }] }, annotations });
// @ts-expect-error: an unknown role
createEngine({ policy: { ...head, rules: [{ ...rule, if: { roles: ["read"] }, then: "deny" }] }, annotations });
// @ts-expect-error: a misspelled condition
createEngine({ policy: { ...head, rules: [{ ...rule, if: { rolls: [] }, then: "deny" }] }, annotations });
// @ts-expect-error: an unknown role of an argument
createEngine({ policy, annotations: { servers: { s: { tools: [{ ...tool, args: { x: ["path"] } }] } } } });
// @ts-expect-error: a role that the host does not define
createEngine<"note">({ policy, annotations, roles: [{ name: "other", description: "", category: "opaque" }] });
// @ts-expect-error: a role without a category
createEngine({ policy, annotations, roles: [{ name: "note", description: "" }] });
createEngine({
  policy,
  annotations,
  // @ts-expect-error: a callback returns a string, not a promise
  roles: [{ name: "note", description: "", category: "opaque", canonicalize: async (value: string) => value }],
});
createEngine({
  policy,
  annotations,
  // @ts-expect-error: an unknown step
  roles: [{ name: "note", description: "", category: "opaque", canonicalize: "uppercase" }],
});

// @ts-expect-error: a host answers synchronously
createEngine({ policy, annotations, host: { ...host, realpath: async (path: string) => path } });
// @ts-expect-error: a host answers about git too
createEngine({ policy, annotations, host: { homeDir: "/", currentDir: "/", realpath: (path: string) => path } });
// @ts-expect-error: an unknown failure
createEngine({ policy, annotations, host: { ...host, realpath: () => ({ error: "ENOENT" }) } });
// @ts-expect-error: URLs are an array
createEngine({ policy, annotations, host: { ...host, gitRemoteUrls: () => "https://a.example" } });

const called: { arguments?: object } = {};
engine.evaluate({ serverName: "s", toolName: "t", arguments: called.arguments });
createEngine({
  policy: definePolicy({ rules: [{ name: "", if: { roles: "read-path", server: "s" }, then: "allow", reason: "" }] }),
  annotations: defineAnnotations({
    servers: { s: { tools: [{ toolName: "t", args: { a: "read-path", b: "none" } }] } },
  }),
});
definePolicy<"note">({ rules: [{ name: "", if: { roles: "note" }, then: "allow", reason: "" }] });
// @ts-expect-error: an unknown effect
definePolicy({ rules: [{ name: "", if: {}, then: "permit", reason: "" }] });
// @ts-expect-error: an unknown role
definePolicy({ rules: [{ name: "", if: { roles: "read" }, then: "deny", reason: "" }] });
// @ts-expect-error: a misspelled condition
definePolicy({ rules: [{ name: "", if: { rolls: "read-path" }, then: "deny", reason: "" }] });
// @ts-expect-error: an unknown role of an argument
defineAnnotations({ servers: { s: { tools: [{ toolName: "t", args: { a: "path" } }] } } });

const verdict: Verdict = engine.evaluate({ serverName: "s", toolName: "t" });
if (verdict.decision === "escalate") {
  verdict.escalatedRoles?.includes("read-path");
} else {
  // @ts-expect-error: only what escalates names the roles that did
  verdict.escalatedRoles?.includes("read-path");
}

// @ts-expect-error: a call, not its text
engine.evaluate('{"serverName":"s","toolName":"t"}');
// @ts-expect-error: a call names its tool
engine.gate({ serverName: "s" });
// @ts-expect-error: arguments are an object
engine.gate({ serverName: "s", toolName: "t", arguments: "x" });
// @ts-expect-error: an unknown option of a gate
engine.gate({ serverName: "s", toolName: "t" }, { workspace: "/" });
// @ts-expect-error: a verdict cannot be changed
engine.evaluate({ serverName: "s", toolName: "t" }).decision = "allow";
// @ts-expect-error: a verdict is not a promise
engine.evaluate({ serverName: "s", toolName: "t" }).then(() => undefined);
// @ts-expect-error: there is no such decision
export const isBlocked = engine.evaluate({ serverName: "s", toolName: "t" }).decision === "block";

// @ts-expect-error: an approval names its tool
engine.approvals.add({ serverName: "s", constraints: [] });
// @ts-expect-error: a constraint of no kind
engine.approvals.add({ serverName: "s", toolName: "t", constraints: [{ role: "read-path", directory: "/a" }] });
// @ts-expect-error: what was approved cannot be changed
engine.approvals.list().push();
// @ts-expect-error: a time is a number or text
engine.gate({ serverName: "s", toolName: "t" }, { now: new Date() });

// @ts-expect-error: protected paths are required, even if empty
new PolicyEngine(policy, annotations);
// @ts-expect-error: the directory comes before the allowlists
new PolicyEngine(policy, annotations, [], new Map());
// @ts-expect-error: the allowlists are a map
new PolicyEngine(policy, annotations, [], "/", { fetch: ["*"] });
// @ts-expect-error: an unknown role
getRoleDefinition("path");
