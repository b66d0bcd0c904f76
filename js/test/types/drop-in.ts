// Every name that the existing runtime imports, used as the runtime uses it: only the import changes.
import {
  ARGUMENT_ROLE_REGISTRY,
  type ArgumentRole,
  type CompiledPolicyFile,
  type CompiledRule,
  collectDistinctRoles,
  createApprovalWhitelist,
  type DynamicListsFile,
  directoryForPath,
  domainMatchesAllowlist,
  type EvaluationResult,
  expandTilde,
  extractAnnotatedPaths,
  extractDefaultRoles,
  extractDomain,
  extractDomainForRole,
  extractGitDomain,
  extractPolicyRoots,
  extractRequiredServers,
  extractWhitelistCandidates,
  getArgumentRoleValues,
  getIdentifierRoles,
  getListMatcher,
  getPathRoles,
  getResourceRoles,
  getRoleDefinition,
  getRolesByCategory,
  getRolesForServer,
  getUrlRoles,
  isArgumentRole,
  isConditionalRoles,
  isIpAddress,
  isWithinDirectory,
  LIST_TYPE_REGISTRY,
  normalizeGitUrl,
  normalizeUrl,
  PolicyEngine,
  prepareToolArgs,
  type RoleCategory,
  type RoleDefinition,
  resolveDefaultGitRemote,
  resolveGitRemote,
  resolveRealPath,
  resolveStoredAnnotation,
  resolveStoredAnnotationsFile,
  rewriteResultContent,
  SANDBOX_SAFE_PATH_ROLES,
  type StoredToolAnnotation,
  type StoredToolAnnotationsFile,
  type ToolAnnotation,
  type ToolAnnotationsFile,
  type ToolCallRequest,
  toMcpRoots,
  validateCompiledRules,
} from "callgate";

declare const policy: CompiledPolicyFile;
declare const annotations: StoredToolAnnotationsFile;
declare const lists: DynamicListsFile | undefined;
declare const stored: StoredToolAnnotation;
declare const args: Record<string, unknown>;

const allowlists: Map<string, string[]> = new Map([["fetch", ["*.example.com"]]]);
const trusted: Set<string> = new Set(["memory"]);

// The runtime's own generated files have no conditional roles. They are valid annotations too.
declare const plain: ToolAnnotationsFile;
new PolicyEngine(policy, plain, []);

const engine = new PolicyEngine(policy, annotations, ["/etc/shadow"], "/sandbox", allowlists, lists, trusted, {
  heuristicPaths: "off",
});
const request: ToolCallRequest = {
  requestId: "1",
  serverName: "filesystem",
  toolName: "read_file",
  arguments: args,
  timestamp: new Date(0).toISOString(),
};
const result: EvaluationResult = engine.evaluate(request);
const decision: "allow" | "escalate" | "deny" = result.decision;
const roles: readonly ArgumentRole[] | undefined = result.escalatedRoles;
const texts: string[] = [result.rule, result.reason, decision];

const annotation: ToolAnnotation | undefined = engine.getAnnotation("filesystem", "read_file", args);
const original: StoredToolAnnotation | undefined = engine.getStoredAnnotation("filesystem", "read_file");
const isTrusted: boolean = engine.isTrustedServer("memory");
const { argsForTransport, argsForPolicy } = prepareToolArgs(args, annotation, "/sandbox", "/workspace");
const views: Record<string, unknown>[] = [argsForTransport, argsForPolicy];

texts.push(expandTilde("~/x"), resolveRealPath("/x"), directoryForPath("/x"));
texts.push(normalizeUrl("x"), normalizeGitUrl("x"), extractDomain("x"), extractGitDomain("x"));
texts.push(extractDomainForRole("x", "git-remote-url"), resolveGitRemote("origin", { path: "/repo" }));
const remote: string | undefined = resolveDefaultGitRemote("/repo");
const flags: boolean[] = [isWithinDirectory("/x", "/"), isIpAddress("::1"), domainMatchesAllowlist("a", ["*"])];
flags.push(getListMatcher("emails")("a@b.example", "A@b.example"), isTrusted);

const definition: RoleDefinition = getRoleDefinition("read-path");
const category: RoleCategory = definition.category;
texts.push(definition.description, definition.annotationGuidance, definition.canonicalize("~"), category);
texts.push(definition.extractPolicyValue?.("x") ?? "", ...definition.serverNames);
const [first, ...others]: [ArgumentRole, ...ArgumentRole[]] = getArgumentRoleValues();
const word: string = first;
if (isArgumentRole(word)) {
  const narrowed: ArgumentRole = word;
  texts.push(narrowed);
}
const sets: ArgumentRole[][] = [getResourceRoles(), getPathRoles(), getUrlRoles(), getIdentifierRoles(), others];
sets.push(...getRolesForServer("git").map(([role]) => [role]), getRolesByCategory("path"));
flags.push(SANDBOX_SAFE_PATH_ROLES.has("read-path"), ARGUMENT_ROLE_REGISTRY.get("read-path") === definition);

for (const given of Object.values(stored.args)) {
  sets.push([...extractDefaultRoles(given)]);
  if (isConditionalRoles(given)) {
    sets.push([...given.default]);
  } else {
    sets.push([...given]);
  }
}
const resolved: ToolAnnotation = resolveStoredAnnotation(stored, args);
const file: ToolAnnotationsFile = resolveStoredAnnotationsFile(annotations);
sets.push(collectDistinctRoles(resolved));
texts.push(...extractAnnotatedPaths(args, resolved, ["read-path", "write-path"]), ...Object.keys(file.servers));

const matches = LIST_TYPE_REGISTRY.get("domains")?.matches;
const rules: readonly CompiledRule[] = policy.rules;
const { valid, errors, warnings } = validateCompiledRules(rules, policy.listDefinitions);
flags.push(valid, matches?.("a", "b") === true);
texts.push(...errors, ...warnings, ...extractRequiredServers(policy));
for (const { uri, name } of toMcpRoots(extractPolicyRoots(policy, "/sandbox"))) {
  texts.push(uri, name);
}
const content: unknown = rewriteResultContent([{ type: "text", text: "/sandbox/a" }], "/sandbox", "/workspace");

const whitelist = createApprovalWhitelist();
const { patterns, ipcs } = extractWhitelistCandidates("s", "t", args, resolved, roles, "id", "reason");
for (const pattern of patterns) {
  texts.push(whitelist.add(pattern), ...ipcs.map(({ description }) => description));
}
const match = whitelist.match("s", "t", args, resolved);
if (match.matched) {
  texts.push(match.patternId, match.pattern.description);
}
const size: number = whitelist.entries().length - whitelist.size;

export const used = [views, original, remote, content, size, sets, flags, texts];
