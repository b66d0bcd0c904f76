export {
  collectDistinctRoles,
  extractAnnotatedPaths,
  extractDefaultRoles,
  isConditionalRoles,
  resolveStoredAnnotation,
  resolveStoredAnnotationsFile,
} from "./api/annotations.js";
export {
  type ApprovalConstraint,
  type ApprovalEntry,
  type ApprovalPattern,
  type ApprovalWhitelist,
  createApprovalWhitelist,
  extractWhitelistCandidates,
  type WhitelistCandidates,
  type WhitelistMatch,
} from "./api/approvals.js";
export { intersectCeilings, isReadOnly, mutationClass, parseSideEffectLevel, sideEffectRank } from "./api/ceilings.js";
export {
  type CallOptions,
  createEngine,
  type Engine,
  type EngineConfig,
  type ExplainOptions,
  type GateOptions,
} from "./api/create-engine.js";
export { directoryForPath, expandTilde, isWithinDirectory, resolveRealPath } from "./api/paths.js";
export {
  type CompiledRulesValidation,
  extractPolicyRoots,
  extractRequiredServers,
  type McpRoot,
  type PolicyRoot,
  rewriteResultContent,
  toMcpRoots,
  validateCompiledRules,
} from "./api/policy.js";
export { PolicyEngine, type PolicyEngineOptions } from "./api/policy-engine.js";
export { prepareToolArgs } from "./api/prepare-tool-args.js";
export {
  ARGUMENT_ROLE_REGISTRY,
  getArgumentRoleValues,
  getIdentifierRoles,
  getPathRoles,
  getResourceRoles,
  getRoleDefinition,
  getRolesByCategory,
  getRolesForServer,
  getUrlRoles,
  isArgumentRole,
  type RoleDefinition,
  SANDBOX_SAFE_PATH_ROLES,
} from "./api/roles.js";
export {
  domainMatchesAllowlist,
  extractDomain,
  extractDomainForRole,
  extractGitDomain,
  getListMatcher,
  isIpAddress,
  LIST_TYPE_REGISTRY,
  type ListTypeDefinition,
  normalizeGitUrl,
  normalizeUrl,
  resolveDefaultGitRemote,
  resolveGitRemote,
} from "./api/urls.js";
export { CallgateError, type Diagnostic, type ErrorCode } from "./errors.js";
export { createRecordedHost } from "./host/recorded.js";
export {
  createVirtualHost,
  type Machine,
  type Machine as World,
  type MachineRepository,
  type MachineRepository as WorldRepository,
} from "./host/virtual.js";
export { type Host, HostError, type RealpathFailure, setDefaultHost } from "./host.js";
export type * from "./types.js";
