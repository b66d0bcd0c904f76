// Every exported function, each of its parameters in turn, and every wrong value: the answer is one of its type, or an error of the
// package. Programs without types pass what they have.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as callgate from "callgate";
import * as bundle from "callgate/bundle";
import * as mcp from "callgate/mcp";
import * as tools from "callgate/tools";
import { ANNOTATIONS, POLICY, WORLD } from "./support.mjs";

const { CallgateError, createEngine, createVirtualHost, createRecordedHost } = callgate;

const folder = mkdtempSync(join(tmpdir(), "callgate-wrong-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Makes each value anew, since a function may keep it. */
const WRONG = {
  undefined: () => undefined,
  null: () => null,
  "a number": () => 5,
  NaN: () => Number.NaN,
  "a bigint": () => 5n,
  "a symbol": () => Symbol("s"),
  "a boolean": () => true,
  "a string": () => "x",
  "half a pair": () => "\ud800",
  "a function": () => () => undefined,
  "an object": () => ({ x: 1 }),
  "an object of anything": () => ({ x: 5n, y: Symbol("s"), toString: null }),
  "an object without a prototype": () => Object.create(null),
  "an array": () => [1, null, {}],
  "a date": () => new Date(0),
  "a map": () => new Map([[5n, Symbol("s")]]),
  "a boxed string": () => new String("x"),
  "a boxed bigint": () => Object(5n),
  "a promise": () => Promise.resolve(),
  "an accessor that throws": () =>
    Object.defineProperty({}, "name", {
      get() {
        throw new Error("no");
      },
      enumerable: true,
    }),
  "a Proxy that throws": () =>
    new Proxy(
      {},
      new Proxy(
        {},
        {
          get() {
            throw new Error("no");
          },
        },
      ),
    ),
  "a Proxy that was revoked": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "something that holds itself": () => {
    const loop = [];
    loop.push(loop, { loop });
    return loop;
  },
};

const host = createVirtualHost(WORLD);
const config = { policy: POLICY, annotations: ANNOTATIONS, host };
const engine = createEngine(config);
const call = { serverName: "filesystem", toolName: "read_file", arguments: { path: "/etc/passwd" } };
const annotation = { args: { path: ["read-path"] } };
const stored = { args: { path: { default: ["read-path"], when: [] } } };
const file = {
  generatedAt: "",
  servers: { s: { inputHash: "", tools: [{ toolName: "t", args: { path: ["read-path"] } }] } },
};
const verdict = engine.evaluate(call);
const offer = { serverName: "s", toolName: "t", constraints: [], originalReason: "r", description: "d" };
const pattern = {
  ...offer,
  sourceEscalationId: "e",
  createdAt: "",
  constraints: [{ role: "read-path", condition: { kind: "directory", value: "/a" } }],
};
const whitelist = tools.createApprovalWhitelist();
const recording = {
  homeDir: "/h",
  currentDir: "/h",
  exchanges: [{ ask: "realpath", path: "/a", answer: { path: "/a" } }],
};
const policyEngine = new callgate.PolicyEngine(POLICY, ANNOTATIONS, [], undefined, undefined, undefined, undefined, {
  host,
});
const end = () => ({ connect: () => Promise.resolve() });
const bundleText = JSON.stringify({ policy: POLICY, annotations: ANNOTATIONS });

/** Functions, each with arguments that are right. */
const RIGHT = {
  createEngine: [createEngine, config],
  "engine.gate": [engine.gate, call, { containerWorkspaceDir: "/w", context: {}, now: 0 }],
  "engine.evaluate": [engine.evaluate, call, {}],
  "engine.evaluateText": [engine.evaluateText, JSON.stringify(call), {}],
  "engine.explain": [engine.explain, call, { audience: "agent" }],
  "engine.explainGate": [engine.explainGate, call, {}],
  "engine.prepare": [engine.prepare, call, {}],
  "engine.resolve": [engine.resolve, "a:b", {}, { requireExists: true }],
  "engine.hostPath": [engine.hostPath, {}],
  "engine.revoke": [engine.revoke, {}],
  "engine.enforce": [engine.enforce, { tool: "t", command: "c", root: "r", context: {} }],
  "engine.semantics": [engine.semantics, "filesystem", "read_file"],
  "engine.isReadOnly": [engine.isReadOnly, "filesystem", "read_file"],
  "engine.isTrustedServer": [engine.isTrustedServer, "filesystem"],
  "engine.deniesEveryCall": [engine.deniesEveryCall, "filesystem", "read_file"],
  "approvals.offer": [engine.approvals.offer, call, verdict, {}],
  "approvals.add": [engine.approvals.add, offer],
  "approvals.remove": [engine.approvals.remove, "a"],
  "approvals.fromJSON": [engine.approvals.fromJSON, { format: "approvals/1", entries: [] }],
  PolicyEngine: [
    (...given) => new callgate.PolicyEngine(...given),
    POLICY,
    ANNOTATIONS,
    [],
    "/",
    new Map(),
    {},
    new Set(),
    { host },
  ],
  "PolicyEngine.evaluate": [(one) => policyEngine.evaluate(one), call],
  "PolicyEngine.getAnnotation": [(...given) => policyEngine.getAnnotation(...given), "filesystem", "read_file", {}],
  "PolicyEngine.getStoredAnnotation": [
    (...given) => policyEngine.getStoredAnnotation(...given),
    "filesystem",
    "read_file",
  ],
  "PolicyEngine.isTrustedServer": [(one) => policyEngine.isTrustedServer(one), "filesystem"],
  createVirtualHost: [createVirtualHost, WORLD],
  createRecordedHost: [createRecordedHost, recording],
  createNodeHost: [callgate.createNodeHost, { homeDir: "/h", currentDir: "/h" }],
  setDefaultHost: [callgate.setDefaultHost, host],
  loadBundle: [bundle.loadBundle, join(folder, "callgate.json")],
  parseBundle: [callgate.parseBundle, bundleText, { folder: "/srv", file: "a.json", read: () => "{}" }],
  parseCall: [callgate.parseCall, JSON.stringify(call), "filesystem"],
  proposeAnnotations: [tools.proposeAnnotations, { tools: [] }, "s", file],
  map: [tools.map, config, { tools: ["filesystem/*"], to: "/a", only: ["allow"], disk: false, each: () => undefined }],
  regions: [tools.regions, config, { tools: ["filesystem/*"], to: "/a", disk: false }],
  lint: [tools.lint, config, { disk: false }],
  check: [tools.check, config, { disk: false }],
  diff: [tools.diff, config, config, { disk: false }],
  filterTools: [mcp.filterTools, [{ name: "read_file" }], { engine, serverName: "filesystem" }],
  gateClient: [mcp.gateClient, end(), { engine, serverName: "filesystem" }],
  gateServer: [mcp.gateServer, end(), { engine, serverName: "filesystem" }],
  prepareToolArgs: [callgate.prepareToolArgs, {}, annotation, "/a", "/w"],
  isConditionalRoles: [tools.isConditionalRoles, ["none"]],
  extractDefaultRoles: [tools.extractDefaultRoles, ["none"]],
  resolveStoredAnnotation: [tools.resolveStoredAnnotation, stored, {}],
  resolveStoredAnnotationsFile: [tools.resolveStoredAnnotationsFile, file],
  extractAnnotatedPaths: [tools.extractAnnotatedPaths, { path: "/a" }, annotation, ["read-path"]],
  collectDistinctRoles: [tools.collectDistinctRoles, annotation],
  extractWhitelistCandidates: [
    tools.extractWhitelistCandidates,
    "s",
    "t",
    { path: "/a" },
    annotation,
    ["read-path"],
    "e",
    "r",
  ],
  "whitelist.add": [whitelist.add, pattern],
  "whitelist.match": [whitelist.match, "s", "t", { path: "/a" }, annotation, ["read-path"]],
  intersectCeilings: [tools.intersectCeilings, {}, {}],
  isReadOnly: [tools.isReadOnly, "read"],
  mutationClass: [tools.mutationClass, "read"],
  parseSideEffectLevel: [tools.parseSideEffectLevel, "none"],
  sideEffectRank: [tools.sideEffectRank, "none"],
  expandTilde: [tools.expandTilde, "~"],
  resolveRealPath: [tools.resolveRealPath, "/a"],
  isWithinDirectory: [tools.isWithinDirectory, "/a", "/"],
  directoryForPath: [tools.directoryForPath, "/a"],
  validateCompiledRules: [tools.validateCompiledRules, [], []],
  extractPolicyRoots: [tools.extractPolicyRoots, POLICY, "/a"],
  toMcpRoots: [tools.toMcpRoots, [{ path: "/a", name: "a" }]],
  extractRequiredServers: [tools.extractRequiredServers, POLICY],
  rewriteResultContent: [tools.rewriteResultContent, [{ type: "text", text: "/a" }], "/a", "/b"],
  getRoleDefinition: [tools.getRoleDefinition, "read-path"],
  isArgumentRole: [tools.isArgumentRole, "read-path"],
  getRolesForServer: [tools.getRolesForServer, "git"],
  getRolesByCategory: [tools.getRolesByCategory, "path"],
  normalizeUrl: [tools.normalizeUrl, "https://a.test"],
  normalizeGitUrl: [tools.normalizeGitUrl, "https://a.test"],
  extractDomain: [tools.extractDomain, "https://a.test"],
  extractGitDomain: [tools.extractGitDomain, "https://a.test"],
  extractDomainForRole: [tools.extractDomainForRole, "https://a.test", "fetch-url"],
  domainMatchesAllowlist: [tools.domainMatchesAllowlist, "a.test", ["a.test"]],
  isIpAddress: [tools.isIpAddress, "a.test"],
  resolveGitRemote: [tools.resolveGitRemote, "origin", { path: "/a" }],
  resolveDefaultGitRemote: [tools.resolveDefaultGitRemote, "/a"],
  getListMatcher: [tools.getListMatcher, "domains"],
};

/** Where a right value is an object, each of its members is wrong in turn too. */
function* mistakes(given) {
  for (const [at, right] of given.entries()) {
    for (const [what, make] of Object.entries(WRONG)) {
      yield [`argument ${at} is ${what}`, () => given.with(at, make())];
      if (typeof right !== "object" || right === null || Array.isArray(right)) {
        continue;
      }
      for (const name of Object.keys(right)) {
        yield [`\`${name}\` of argument ${at} is ${what}`, () => given.with(at, { ...right, [name]: make() })];
      }
    }
  }
}

for (const [name, [run, ...given]] of Object.entries(RIGHT)) {
  test(`${name} refuses what is of a wrong type, or takes it for what it is`, () => {
    try {
      for (const [what, made] of mistakes(given)) {
        try {
          const found = run(...made());
          if (name.startsWith("engine.")) {
            assert.notEqual((found?.verdict ?? found)?.decision, "allow", `${name}: ${what}`);
          }
        } catch (thrown) {
          assert.ok(thrown instanceof CallgateError, `${name}: ${what}: ${thrown?.stack}`);
          assert.notEqual(thrown.code, "engine-fault", `${name}: ${what}: ${thrown.message}`);
        }
      }
    } finally {
      callgate.setDefaultHost(undefined);
    }
  });
}

test("every function that is exported is tried", () => {
  const tried = new Set(Object.values(RIGHT).map(([run]) => run));
  const others = new Set([
    "CallgateError",
    "HostError",
    "PolicyEngine",
    "init",
    "definePolicy",
    "defineAnnotations",
    "createApprovalWhitelist",
  ]);
  // They take nothing.
  const bare = new Set([
    "getResourceRoles",
    "getArgumentRoleValues",
    "getPathRoles",
    "getUrlRoles",
    "getIdentifierRoles",
  ]);
  for (const entry of [callgate, bundle, mcp, tools]) {
    for (const [name, found] of Object.entries(entry)) {
      assert.ok(typeof found !== "function" || tried.has(found) || others.has(name) || bare.has(name), name);
    }
  }
});
