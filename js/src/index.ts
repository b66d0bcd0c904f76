export {
  collectDistinctRoles,
  extractAnnotatedPaths,
  extractDefaultRoles,
  isConditionalRoles,
  resolveStoredAnnotation,
  resolveStoredAnnotationsFile,
} from "./annotations.js";
export {
  type ApprovalConstraint,
  type ApprovalEntry,
  type ApprovalPattern,
  type ApprovalWhitelist,
  createApprovalWhitelist,
  extractWhitelistCandidates,
  type WhitelistCandidates,
  type WhitelistMatch,
} from "./approvals.js";
export { intersectCeilings, isReadOnly, mutationClass, parseSideEffectLevel, sideEffectRank } from "./ceilings.js";
export {
  type CallOptions,
  createEngine,
  type Engine,
  type EngineConfig,
  type ExplainOptions,
  type GateOptions,
} from "./create-engine.js";
export type * from "./documents.js";
export type { Gated } from "./engine.js";
export { CallgateError, type Diagnostic, type ErrorCode } from "./errors.js";
export type * from "./explanation.js";
export { type Host, HostError, type RealpathFailure, setDefaultHost } from "./host.js";
export { directoryForPath, expandTilde, isWithinDirectory, resolveRealPath } from "./paths.js";
export {
  type CompiledRulesValidation,
  extractPolicyRoots,
  extractRequiredServers,
  type McpRoot,
  type PolicyRoot,
  rewriteResultContent,
  toMcpRoots,
  validateCompiledRules,
} from "./policy.js";
export { PolicyEngine, type PolicyEngineOptions } from "./policy-engine.js";
export { prepareToolArgs } from "./prepare-tool-args.js";
export type { PreparedArgs, PreparedToolArgs } from "./prepared.js";
export { createRecordedHost } from "./recorded-host.js";
export {
  ARGUMENT_ROLE_REGISTRY,
  type ArgumentRole,
  getArgumentRoleValues,
  getIdentifierRoles,
  getPathRoles,
  getResourceRoles,
  getRoleDefinition,
  getRolesByCategory,
  getRolesForServer,
  getUrlRoles,
  isArgumentRole,
  type RoleCategory,
  type RoleDefinition,
  SANDBOX_SAFE_PATH_ROLES,
} from "./roles.js";
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
} from "./urls.js";
export { createVirtualHost, type World, type WorldRepository } from "./virtual-host.js";
export type * from "./world.js";
