//! The keys of every object in the documents. The readers know these and no others, and the schemas describe each of them.

/// A compiled policy.
pub(crate) const POLICY: &[&str] = &[
    "generatedAt",
    "constitutionHash",
    "inputHash",
    "rules",
    "listDefinitions",
    "skippedServers",
];
pub(crate) const RULE: &[&str] = &["name", "description", "principle", "if", "then", "reason"];
pub(crate) const RULE_CONDITIONS: &[&str] = &["roles", "server", "tool", "paths", "domains", "lists", "args"];
pub(crate) const INVARIANT: &[&str] = &["name", "never", "always"];
pub(crate) const INVARIANT_CALLS: &[&str] = &[
    "decision", "server", "tool", "roles", "within", "domains", "values",
];
pub(crate) const PATHS: &[&str] = &["roles", "within"];
pub(crate) const DOMAINS: &[&str] = &["roles", "allowed"];
pub(crate) const LIST: &[&str] = &["roles", "allowed", "matchType"];
pub(crate) const LIST_DEFINITION: &[&str] = &[
    "name",
    "type",
    "principle",
    "generationPrompt",
    "requiresMcp",
    "mcpServerHint",
];

/// A condition on an argument, of a rule or of conditional roles.
pub(crate) const CONDITION: &[&str] = &["arg", "equals", "in", "is"];

/// Dynamic lists.
pub(crate) const LISTS: &[&str] = &["generatedAt", "lists"];
pub(crate) const RESOLVED_LIST: &[&str] = &[
    "values",
    "manualAdditions",
    "manualRemovals",
    "resolvedAt",
    "inputHash",
];

/// Annotations.
pub(crate) const ANNOTATIONS: &[&str] = &["generatedAt", "servers"];
pub(crate) const SERVER: &[&str] = &["inputHash", "tools"];
pub(crate) const TOOL: &[&str] = &[
    "toolName",
    "serverName",
    "comment",
    "args",
    "inputSchema",
    // Older files state here whether the tool has effects; the roles are more precise, so it is ignored.
    "sideEffects",
];
pub(crate) const SEMANTICS: &[&str] = &[
    "kind",
    "side_effect_level",
    "arg_schema",
    "capabilities",
    "emits_artifacts",
    "result_readers",
    "inline_result",
];
pub(crate) const ARG_SCHEMA: &[&str] = &["path_params", "arg_aliases", "required"];
pub(crate) const CONDITIONAL_ROLES: &[&str] = &["default", "when"];
pub(crate) const CLAUSE: &[&str] = &["condition", "roles"];
pub(crate) const ROLE_SPEC: &[&str] = &["roles", "relativeTo", "reach", "scheme", "separator", "absent"];

/// The options of an engine.
pub(crate) const OPTIONS: &[&str] = &[
    "compatibility",
    "heuristicPaths",
    "unknownArguments",
    "clientArguments",
    "pathCase",
    "directories",
    "relativePaths",
    "serverPaths",
    "harnServer",
    "workspaceRoots",
    "serverAliases",
    "sandboxServers",
    "sandboxRoles",
    "sandbox",
    "workingDirectory",
    "strict",
    "limits",
];

/// A role that the host defines.
pub(crate) const ROLE: &[&str] = &[
    "name",
    "description",
    "category",
    "canonicalize",
    "extractPolicyValue",
    "form",
];

/// A capability ceiling.
pub(crate) const CEILING: &[&str] = &[
    "tools",
    "capabilities",
    "workspace_roots",
    "side_effect_level",
    "recursion_limit",
    "tool_arg_constraints",
    "unclassified_tools",
    "outer_workspace_roots",
];
pub(crate) const CONSTRAINT: &[&str] = &["tool", "arg_patterns", "arg_key", "workspace_root"];

/// A world.
pub(crate) const WORLD: &[&str] = &["roots", "mounts", "visibility", "operations", "execTool", "areas"];
pub(crate) const VISIBILITY: &[&str] = &["mode", "root", "subdirectory", "when"];
pub(crate) const OPERATIONS: &[&str] = &["mode", "root", "subdirectory", "rules"];
pub(crate) const OPERATION_RULE: &[&str] = &["commands", "when"];

/// A file of scenarios that is one object.
pub(crate) const SCENARIOS: &[&str] = &[
    "scenarios",
    "world",
    "context",
    "description",
    "generatedAt",
    "constitutionHash",
    "inputHash",
];
pub(crate) const SCENARIO: &[&str] = &["name", "call", "world", "recording", "context", "expect", "rule"];
pub(crate) const SCENARIO_CALL: &[&str] = &["serverName", "toolName", "arguments"];
/// A scenario as the tests of the existing runtime have it, and a verdict as it records one.
pub(crate) const RECORDED_SCENARIO: &[&str] = &[
    "description",
    "request",
    "expectedDecision",
    "verdict",
    "reasoning",
    "source",
];
pub(crate) const RECORDED_VERDICT: &[&str] = &["decision", "rule", "reason", "escalatedRoles"];

/// The context of a call.
pub(crate) const CONTEXT: &[&str] = &[
    "mode",
    "command",
    "has_contract",
    "contract_key",
    "script_host_path",
    "content_sha256",
    "script_signature",
    "command_whitelist",
    "session_mods",
    "mod_name",
    "host",
];
