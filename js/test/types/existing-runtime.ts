// The existing runtime keeps its own declarations, hands them in, and uses what comes back as its own.
import {
  createApprovalWhitelist,
  DEFAULT_WHITELIST_OPTIONS,
  extractDefaultRoles,
  extractPolicyRoots,
  extractRequiredServers,
  extractWhitelistCandidates,
  getRolesForServer,
  isConditionalRoles,
  type ArgumentRole as PackageRole,
  PolicyEngine,
  prepareToolArgs,
  type RoleDefinition,
  resolveStoredAnnotation,
  resolveStoredAnnotationsFile,
  toMcpRoots,
  validateCompiledRules,
  type WhitelistCandidateIpc,
  type WhitelistConstraint,
  type WhitelistEntryId,
  type WhitelistMatchResult,
  type WhitelistPattern,
} from "callgate";

type ArgumentRole = PackageRole;

interface RoleCondition {
  arg: string;
  equals?: unknown;
  in?: unknown[] | undefined;
  is?: "present" | "absent" | "truthy" | "falsy" | undefined;
}
interface ConditionalRoleSpec {
  default: ArgumentRole[];
  when: { condition: RoleCondition; roles: ArgumentRole[] }[];
}
type ArgumentRoleSpec = ArgumentRole[] | ConditionalRoleSpec;
interface ToolAnnotation {
  toolName: string;
  serverName: string;
  comment: string;
  args: Record<string, ArgumentRole[]>;
}
interface StoredToolAnnotation extends Omit<ToolAnnotation, "args"> {
  args: Record<string, ArgumentRoleSpec>;
  inputSchema?: Record<string, unknown>;
}
interface ToolAnnotationsFile {
  generatedAt: string;
  servers: Record<string, { inputHash: string; tools: ToolAnnotation[] }>;
}
interface StoredToolAnnotationsFile {
  generatedAt: string;
  servers: Record<string, { inputHash: string; tools: StoredToolAnnotation[] }>;
}
interface ListCondition {
  roles: ArgumentRole[];
  allowed: string[];
  matchType: "domains" | "emails" | "identifiers";
}
interface CompiledRule {
  name: string;
  description: string;
  principle: string;
  if: {
    roles?: ArgumentRole[] | undefined;
    server?: string[] | undefined;
    tool?: string[] | undefined;
    paths?: { roles: ArgumentRole[]; within: string } | undefined;
    domains?: { roles: ArgumentRole[]; allowed: string[] } | undefined;
    lists?: ListCondition[] | undefined;
  };
  then: "allow" | "deny" | "escalate";
  reason: string;
}
interface ListDefinition {
  name: string;
  type: "domains" | "emails" | "identifiers";
  principle: string;
  generationPrompt: string;
  requiresMcp: boolean;
  mcpServerHint?: string | undefined;
}
interface CompiledPolicyFile {
  generatedAt: string;
  constitutionHash: string;
  inputHash: string;
  rules: CompiledRule[];
  listDefinitions?: ListDefinition[];
  skippedServers?: { serverName: string; reason: string }[];
}

declare const policy: CompiledPolicyFile;
declare const stored: StoredToolAnnotation;
declare const annotations: StoredToolAnnotationsFile;
declare const args: Record<string, unknown>;

const engine = new PolicyEngine(policy, annotations, ["/etc"], "/sandbox");
const ofCall: ToolAnnotation | undefined = engine.getAnnotation("s", "t", args);
const ofTool: StoredToolAnnotation | undefined = engine.getStoredAnnotation("s", "t");
const { argsForTransport } = prepareToolArgs(args, ofCall, "/sandbox");

const resolved: ToolAnnotation = resolveStoredAnnotation(stored, args);
const file: ToolAnnotationsFile = resolveStoredAnnotationsFile(annotations);
resolved.args.path?.push("read-path");

const defaults: ArgumentRole[] = [];
for (const spec of Object.values(stored.args)) {
  if (isConditionalRoles(spec)) {
    const own: ConditionalRoleSpec = spec;
    defaults.push(...own.default);
  } else {
    const own: ArgumentRole[] = spec;
    defaults.push(...own);
  }
  const mutable: ArgumentRole[] = extractDefaultRoles(spec);
  mutable.sort();
}

const guidance: string[] = [];
for (const [role, definition] of getRolesForServer("git")) {
  const pair: [ArgumentRole, RoleDefinition] = [role, definition];
  guidance.push(`${pair[0]}: ${pair[1].description}`);
}
const required: Set<string> = extractRequiredServers(policy);
const roots: { path: string; name: string }[] = extractPolicyRoots(policy, "/sandbox");
const mcp: { uri: string; name: string }[] = toMcpRoots(roots);
const checked: { valid: boolean; errors: string[]; warnings: string[] } = validateCompiledRules(
  policy.rules,
  policy.listDefinitions,
);

const whitelist = createApprovalWhitelist();
const candidates: { patterns: Omit<WhitelistPattern, "id">[]; ipcs: WhitelistCandidateIpc[] } =
  extractWhitelistCandidates("s", "t", args, resolved, undefined, "id", "reason");
const chosen = candidates.patterns[DEFAULT_WHITELIST_OPTIONS.whitelistSelection];
const ids: WhitelistEntryId[] = chosen === undefined ? [] : [whitelist.add(chosen)];
const match: WhitelistMatchResult = whitelist.match("s", "t", args, resolved, ["read-path"]);
const constraints: WhitelistConstraint[] = match.matched ? match.pattern.constraints : [];
const patterns: WhitelistPattern[] = whitelist.entries();
// @ts-expect-error: an id comes from a list of approvals, and nowhere else.
const made: WhitelistEntryId = "approval-0";

export const used = [ofTool, argsForTransport, file, defaults, guidance, required, mcp, checked, ids, constraints];
export const more = [patterns, made];
