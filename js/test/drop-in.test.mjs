// The existing runtime's names that the recorded cases do not call.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as callgate from "callgate";
import { ANNOTATIONS, annotationsOf, call, host, POLICY, policyOf, SANDBOX } from "./support.mjs";

/** Role, category, whether it names a resource, and its servers; empty for any server. */
const ROLES = [
  ["read-path", "path", true, ["filesystem", "git"]],
  ["write-path", "path", true, ["filesystem", "git"]],
  ["delete-path", "path", true, ["filesystem", "git"]],
  ["write-history", "path", true, ["git"]],
  ["delete-history", "path", true, ["git"]],
  ["fetch-url", "url", true, ["fetch"]],
  ["git-remote-url", "url", true, ["git"]],
  ["github-owner", "identifier", true, ["github"]],
  ["github-repo", "identifier", true, ["github"]],
  ["proxy-domain", "identifier", true, ["proxy"]],
  ["share-permission", "opaque", false, ["google-workspace"]],
  ["branch-name", "opaque", false, ["git", "github"]],
  ["commit-message", "opaque", false, ["git"]],
  ["email-address", "opaque", false, ["google-workspace"]],
  ["email-body", "opaque", false, ["google-workspace"]],
  ["none", "opaque", false, []],
  ["text", "opaque", false, []],
  ["resource-uri", "url", true, []],
  ["shell-command", "command", false, []],
  ["execute", "identifier", true, ["shell"]],
];
const named = (keep) => ROLES.filter(keep).map(([role]) => role);

test("the registry is the table of roles", () => {
  assert.deepEqual([...callgate.ARGUMENT_ROLE_REGISTRY.keys()].sort(), named(() => true).sort());
  for (const [role, category, isResource, servers] of ROLES) {
    const definition = callgate.getRoleDefinition(role);
    assert.equal(definition, callgate.ARGUMENT_ROLE_REGISTRY.get(role));
    assert.equal(definition.category, category, role);
    assert.equal(definition.isResourceIdentifier, isResource, role);
    assert.deepEqual([...definition.serverNames].sort(), servers, role);
    assert.ok(definition.description.length > 20 && definition.annotationGuidance.length > 20, role);
    assert.equal(callgate.isArgumentRole(role), true);
  }
  const same = (actual, keep) => assert.deepEqual([...actual].sort(), named(keep).sort());
  same(callgate.getArgumentRoleValues(), () => true);
  same(callgate.getResourceRoles(), ([, , isResource]) => isResource);
  same(callgate.getPathRoles(), ([, category]) => category === "path");
  same(callgate.SANDBOX_SAFE_PATH_ROLES, ([, category]) => category === "path");
  same(callgate.getUrlRoles(), ([, category]) => category === "url");
  same(callgate.getIdentifierRoles(), ([, category]) => category === "identifier");
  same(callgate.getRolesByCategory("opaque"), ([, category]) => category === "opaque");
  const forGit = callgate.getRolesForServer("git");
  assert.ok(forGit.every(([role, definition]) => definition === callgate.getRoleDefinition(role)));
  same(
    forGit.map(([role]) => role),
    ([, , , servers]) => servers.length === 0 || servers.includes("git"),
  );
  for (const word of ["", "path", "toString", "__proto__", null, 1, ["read-path"]]) {
    assert.equal(callgate.isArgumentRole(word), false);
    assert.throws(() => callgate.getRoleDefinition(word), { code: "invalid-argument" });
  }
});

test("a role's `canonicalize` works", () => {
  callgate.setDefaultHost(host);
  try {
    const canonical = (role, value) => callgate.getRoleDefinition(role).canonicalize(value);
    assert.equal(canonical("read-path", `${SANDBOX}/../sandbox/link`), "/etc/passwd");
    assert.equal(canonical("fetch-url", "HTTPS://A.example:443/"), "https://a.example");
    assert.equal(canonical("git-remote-url", "git@A.example:x/y"), "git@A.example:x/y");
    assert.equal(canonical("github-owner", "OctoCat"), "octocat");
    assert.equal(canonical("branch-name", "Main"), "Main");
  } finally {
    callgate.setDefaultHost(undefined);
  }
});

const CONDITIONAL = {
  default: ["read-path"],
  when: [{ condition: { arg: "mode", equals: "w" }, roles: ["write-path"] }],
};

test("conditional roles are recognized and resolved", () => {
  const stored = annotationsOf({ s: { t: { path: CONDITIONAL, mode: ["none"] } } });
  const [tool] = stored.servers.s.tools;
  assert.equal(callgate.isConditionalRoles(tool.args.path), true);
  assert.equal(callgate.isConditionalRoles(tool.args.mode), false);
  assert.deepEqual(callgate.extractDefaultRoles(tool.args.path), ["read-path"]);
  assert.deepEqual(callgate.extractDefaultRoles(tool.args.mode), ["none"]);
  const file = callgate.resolveStoredAnnotationsFile(stored);
  assert.deepEqual(file.servers.s.tools[0].args, { path: ["read-path"], mode: ["none"] });
  assert.deepEqual(callgate.collectDistinctRoles(file.servers.s.tools[0]), ["read-path"]);
  const both = callgate.resolveStoredAnnotation(tool, { mode: "w" });
  assert.deepEqual(both.args.path, ["write-path"]);
  const plain = { ...tool, args: { a: ["none", "write-path"], b: ["read-path", "write-path"] } };
  assert.equal(callgate.resolveStoredAnnotation(plain, {}), plain);
  assert.deepEqual(callgate.collectDistinctRoles(plain), ["write-path", "read-path"]);
});

test("a resolved annotation keeps every other field of what is stored", () => {
  const args = { path: CONDITIONAL, mode: ["none"] };
  const tool = {
    toolName: "t",
    serverName: "s",
    comment: "c",
    inputSchema: { type: "object" },
    reviewedBy: { name: "ann" },
    args,
  };
  const { args: resolved, ...others } = callgate.resolveStoredAnnotation(tool, { mode: "w" });
  const { args: _, ...kept } = tool;
  assert.deepEqual(others, kept);
  assert.deepEqual(resolved, { path: ["write-path"], mode: ["none"] });
  const stored = { generatedAt: "now", origin: "ci", servers: { s: { inputHash: "h", version: 2, tools: [tool] } } };
  const file = callgate.resolveStoredAnnotationsFile(stored);
  const expected = { ...kept, args: { path: ["read-path"], mode: ["none"] } };
  assert.deepEqual(file, { ...stored, servers: { s: { ...stored.servers.s, tools: [expected] } } });
});

test("the descriptions of roles have the words that a model's prompt relies on", () => {
  for (const [role, word] of [
    ["write-path", "written"],
    ["delete-path", "deleted"],
    ["write-history", "written"],
    ["delete-history", "deleted"],
  ]) {
    assert.match(callgate.getRoleDefinition(role).description, new RegExp(`\\b${word}\\b`, "u"), role);
  }
});

test("annotated values are extracted as own members, in the annotation's order", () => {
  const annotation = {
    args: {
      b: ["write-path"],
      a: ["read-path"],
      "/edits/*/path": ["write-path"],
      __proto__: null,
      constructor: ["read-path"],
    },
  };
  const args = { a: "/a", b: ["/b1", 2, "/b2"], edits: [{ path: "/e1" }, {}, { path: "/e2" }] };
  const extract = (roles) => callgate.extractAnnotatedPaths(args, annotation, roles);
  assert.deepEqual(extract(["read-path"]), ["/a"]);
  assert.deepEqual(extract(["write-path"]), ["/b1", "/b2", "/e1", "/e2"]);
  assert.deepEqual(extract(["read-path", "write-path"]), ["/b1", "/b2", "/a", "/e1", "/e2"]);
  assert.deepEqual(extract([]), []);
});

test("domains and lists", () => {
  assert.equal(callgate.extractDomainForRole("https://a.example/x/y", "fetch-url"), "a.example");
  assert.equal(callgate.extractDomainForRole("https://a.example/x/y.git", "git-remote-url"), "a.example/x/y");
  assert.deepEqual([...callgate.LIST_TYPE_REGISTRY.keys()], ["domains", "emails", "identifiers"]);
  for (const [type, value, entry, expected] of [
    ["domains", "b.a.example", "*.a.example", true],
    ["domains", "a.example.evil", "*.a.example", false],
    ["emails", "A@b.example", "a@B.example", true],
    ["identifiers", "Main", "main", false],
  ]) {
    assert.equal(callgate.LIST_TYPE_REGISTRY.get(type).matches(value, entry), expected);
    assert.equal(callgate.getListMatcher(type)(value, entry), expected);
  }
  assert.throws(() => callgate.getListMatcher("names"), { code: "invalid-argument" });
});

test("rules are validated, with one line per fault", () => {
  const good = callgate.validateCompiledRules(policyOf({ if: { roles: ["read-path"] }, then: "deny" }).rules);
  assert.deepEqual([good.valid, good.errors], [true, []]);
  const lists = [{ roles: ["email-address"], allowed: ["@people"], matchType: "emails" }];
  const { rules } = policyOf({ if: { lists }, then: "allow" });
  const undefinedList = callgate.validateCompiledRules(rules);
  assert.equal(undefinedList.valid, false);
  assert.match(undefinedList.errors.join("\n"), /people/);
  const defined = callgate.validateCompiledRules(rules, [
    { name: "people", type: "emails", principle: "", generationPrompt: "" },
  ]);
  assert.deepEqual(defined.errors, []);
});

test("the engine under the existing name takes maps, sets, values, and calls with further members", () => {
  const engine = new callgate.PolicyEngine(
    POLICY,
    annotationsOf({
      filesystem: { open: { path: CONDITIONAL, mode: ["none"] } },
      fetch: { get: { url: ["fetch-url"] } },
    }),
    ["/etc/shadow"],
    SANDBOX,
    new Map([["fetch", ["*.example.com"]]]),
    { generatedAt: "", lists: {} },
    new Set(["clock"]),
    { host },
  );
  const evaluate = (server, tool, args) =>
    engine.evaluate({ ...call(server, tool, args), requestId: "1", timestamp: new Date(0).toISOString() });
  assert.equal(evaluate("clock", "now", {}).rule, "trusted-server");
  assert.deepEqual([engine.isTrustedServer("clock"), engine.isTrustedServer("fetch")], [true, false]);
  assert.equal(evaluate("fetch", "get", { url: "https://other.example" }).rule, "structural-domain-escalate");
  assert.equal(evaluate("filesystem", "open", { path: "/etc/shadow" }).rule, "structural-protected-path");
  assert.equal(evaluate("filesystem", "open", { path: `${SANDBOX}/x` }).decision, "allow");
  const stored = engine.getStoredAnnotation("filesystem", "open");
  assert.deepEqual(stored.args.path, CONDITIONAL);
  assert.deepEqual(engine.getAnnotation("filesystem", "open", { mode: "w" }).args.path, ["write-path"]);
  assert.equal(
    engine.getAnnotation("filesystem", "open", { mode: "w" }),
    engine.getAnnotation("filesystem", "open", { mode: "w" }),
  );
  for (const [server, tool] of [
    ["filesystem", "other"],
    ["__proto__", "constructor"],
    ["other", "open"],
  ]) {
    assert.equal(engine.getStoredAnnotation(server, tool), undefined);
    assert.equal(engine.getAnnotation(server, tool, {}), undefined);
  }
  const none = new callgate.PolicyEngine(POLICY, ANNOTATIONS, []);
  assert.equal(none.evaluate(call("memory", "note", { text: "x" })).decision, "allow");
});

const NOTE = { args: { path: ["read-path"], url: ["fetch-url"], repo: ["read-path"], remote: ["git-remote-url"] } };
const machine = () =>
  callgate.createVirtualHost({
    home: "/home/u",
    cwd: "/srv",
    fs: { dirs: ["/srv/a", "/srv/evil"], files: ["/newfile", "/srv/a/x"], links: { "/srv/evil/link": "/srv/a/x" } },
    git: {
      "/srv/a": { branch: "main", branchRemotes: {}, remotes: { origin: "https://github.com/acme/w" } },
      "/srv/evil": { branch: "main", branchRemotes: {}, remotes: { origin: "https://evil.example/x" } },
    },
  });

/** Approves one call and answers whether the others are covered. */
function covered(approvedArgs, roles, others, annotation = NOTE) {
  callgate.setDefaultHost(machine());
  try {
    const list = callgate.createApprovalWhitelist();
    const { patterns, ipcs } = callgate.extractWhitelistCandidates(
      "s",
      "t",
      approvedArgs,
      annotation,
      roles,
      "e-1",
      "why",
    );
    for (const pattern of patterns) {
      list.add(pattern);
    }
    assert.deepEqual(
      ipcs,
      patterns.map(({ description }) => ({ description })),
    );
    return others.map((args) => list.match("s", "t", args, annotation, roles).matched);
  } finally {
    callgate.setDefaultHost(undefined);
  }
}

test("an approval has the runtime's shapes", () => {
  callgate.setDefaultHost(machine());
  try {
    const list = callgate.createApprovalWhitelist();
    const args = { url: "https://a.test/x" };
    const { patterns } = callgate.extractWhitelistCandidates("s", "t", args, NOTE, ["fetch-url"], "e-1", "why");
    const { createdAt, ...rest } = patterns[0];
    assert.equal(new Date(createdAt).toISOString(), createdAt);
    assert.deepEqual(rest, {
      serverName: "s",
      toolName: "t",
      constraints: [{ kind: "domain", role: "fetch-url", domain: "a.test" }],
      sourceEscalationId: "e-1",
      originalReason: "why",
      description: "Allow s/t fetch-url domain a.test",
    });
    const id = list.add(patterns[0]);
    const found = list.match("s", "t", args, NOTE, ["fetch-url"]);
    assert.deepEqual(found, { matched: true, patternId: id, pattern: { ...patterns[0], id } });
    assert.deepEqual([list.entries(), list.size], [[{ ...patterns[0], id }], 1]);
    assert.throws(
      () => list.add({ ...patterns[0], constraints: [] }),
      /Refusing to add zero-constraint whitelist pattern/,
    );
    assert.deepEqual(callgate.DEFAULT_WHITELIST_OPTIONS, { whitelistSelection: 0 });
    const none = callgate.extractWhitelistCandidates("s", "t", {}, NOTE, undefined, "e", "r");
    assert.deepEqual(none, { patterns: [], ipcs: [] });
  } finally {
    callgate.setDefaultHost(undefined);
  }
});

test("an approval covers no more than was approved", () => {
  const urls = ["https://a.test/y", "http://A.test:81/", "file://a.test/etc/passwd", "gopher://a.test/", "a.test"];
  assert.deepEqual(
    covered(
      { url: "https://a.test/" },
      ["fetch-url"],
      urls.map((url) => ({ url })),
    ),
    [true, true, false, false, false],
  );
  const remotes = ["git@github.com:acme/w", "-v@github.com:acme/w", "github.com/acme/w", "ext::github.com/acme/w"];
  assert.deepEqual(
    covered(
      { remote: "https://github.com/acme/w" },
      ["git-remote-url"],
      remotes.map((remote) => ({ remote })),
    ),
    [true, false, false, false],
  );
  assert.deepEqual(
    covered(
      { repo: "/srv/a", remote: "origin" },
      ["git-remote-url"],
      [{ repo: "/srv/a", remote: "origin" }, { repo: "/srv/evil", remote: "origin" }, { remote: "origin" }],
    ),
    [true, false, false],
  );
  assert.deepEqual(covered({ path: "/newfile" }, ["read-path"], [{ path: "/newfile" }, { path: "/etc/passwd" }]), [
    false,
    false,
  ]);
  assert.deepEqual(
    covered(
      { path: "/srv/a/x" },
      ["delete-path"],
      [{ path: "/srv/a/y" }, { path: "/srv/evil/link" }, { path: ["/srv/a/y", "\ud800"] }, { path: ["/srv/a/y", 1] }],
      { args: { path: ["delete-path"] } },
    ),
    [true, false, false, false],
  );
});

test("a git URL is the same with and without a slash", () => {
  assert.equal(callgate.normalizeGitUrl("https://GitHub.com/user/repo.git/"), "https://github.com/user/repo.git");
  assert.equal(callgate.normalizeGitUrl("git@github.com:user/repo.git/"), "git@github.com:user/repo.git/");
});

test("required servers are a set", () => {
  const policy = policyOf({ if: { server: ["git", "fetch", "git"] }, then: "deny" });
  assert.deepEqual(callgate.extractRequiredServers(policy), new Set(["git", "fetch"]));
});
