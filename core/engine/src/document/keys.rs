//! The keys of every object in the documents. The readers know these and no others, and the schemas describe each of them.

/// A compiled policy.
pub const POLICY: &[&str] = &[
    "generatedAt",
    "constitutionHash",
    "inputHash",
    "rules",
    "listDefinitions",
    "counters",
    "skippedServers",
];
pub const RULE: &[&str] = &["name", "description", "principle", "if", "then", "reason"];
pub const RULE_CONDITIONS: &[&str] = &[
    "roles", "server", "tool", "paths", "domains", "lists", "args", "context", "counts",
];
pub const CALLER: &[&str] = &["subject", "agent", "session"];
pub const COUNTER: &[&str] = &["name", "description", "if", "seconds", "per"];
/// The conditions on a count, of which a rule has one.
pub const COUNT: &[&str] = &["atLeast", "atMost"];
pub(crate) const INVARIANT: &[&str] = &["name", "never", "always"];
pub(crate) const INVARIANT_CALLS: &[&str] = &[
    "decision", "server", "tool", "roles", "within", "domains", "values",
];
pub const PATHS: &[&str] = &["roles", "within"];
pub const DOMAINS: &[&str] = &["roles", "allowed"];
pub const LIST: &[&str] = &["roles", "allowed", "matchType"];
pub const LIST_DEFINITION: &[&str] = &[
    "name",
    "type",
    "principle",
    "generationPrompt",
    "requiresMcp",
    "mcpServerHint",
];

/// A condition on an argument, of a rule or of conditional roles.
pub const CONDITION: &[&str] = &["arg", "equals", "in", "is"];

/// Dynamic lists.
pub const LISTS: &[&str] = &["generatedAt", "lists"];
pub const RESOLVED_LIST: &[&str] = &[
    "values",
    "manualAdditions",
    "manualRemovals",
    "resolvedAt",
    "inputHash",
];

/// Annotations.
pub const ANNOTATIONS: &[&str] = &["generatedAt", "servers"];
pub const SERVER: &[&str] = &["inputHash", "unjudged", "tools"];
pub const TOOL: &[&str] = &[
    "toolName",
    "serverName",
    "comment",
    "args",
    "inputSchema",
    "unjudged",
    // Older files state here whether the tool has effects; the roles are more precise, so it is ignored.
    "sideEffects",
];
pub const SEMANTICS: &[&str] = &[
    "kind",
    "side_effect_level",
    "arg_schema",
    "capabilities",
    "emits_artifacts",
    "result_readers",
    "inline_result",
];
pub const ARG_SCHEMA: &[&str] = &["path_params", "arg_aliases", "required"];
pub const CONDITIONAL_ROLES: &[&str] = &["default", "when"];
pub const CLAUSE: &[&str] = &["condition", "roles"];
pub const ROLE_SPEC: &[&str] = &["roles", "relativeTo", "reach", "scheme", "separator", "absent"];

/// A protected path that may be read.
pub const PROTECTED_PATH: &[&str] = &["path", "against"];

/// The options of an engine.
pub const OPTIONS: &[&str] = &[
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
pub const ROLE: &[&str] = &[
    "name",
    "description",
    "category",
    "canonicalize",
    "extractPolicyValue",
    "form",
];

/// A capability ceiling.
pub const CEILING: &[&str] = &[
    "tools",
    "capabilities",
    "workspace_roots",
    "side_effect_level",
    "recursion_limit",
    "tool_arg_constraints",
    "unclassified_tools",
    "outer_workspace_roots",
];
pub const CONSTRAINT: &[&str] = &["tool", "arg_patterns", "arg_key", "workspace_root"];

/// A world.
pub const WORLD: &[&str] = &["roots", "mounts", "visibility", "operations", "execTool", "areas"];
pub const VISIBILITY: &[&str] = &["mode", "root", "subdirectory", "when"];
pub const OPERATIONS: &[&str] = &["mode", "root", "subdirectory", "rules"];
pub const OPERATION_RULE: &[&str] = &["commands", "when"];

/// A file of scenarios that is one object.
pub const SCENARIOS: &[&str] = &[
    "scenarios",
    "world",
    "context",
    "description",
    "generatedAt",
    "constitutionHash",
    "inputHash",
];
pub const SCENARIO: &[&str] = &["name", "call", "world", "recording", "context", "expect", "rule"];
pub const SCENARIO_CALL: &[&str] = &["serverName", "toolName", "arguments"];
/// A scenario as the tests of the existing runtime have it, and a verdict as it records one.
pub const RECORDED_SCENARIO: &[&str] = &[
    "description",
    "request",
    "expectedDecision",
    "verdict",
    "reasoning",
    "source",
];
pub const RECORDED_VERDICT: &[&str] = &["decision", "rule", "reason", "escalatedRoles"];

/// The context of a call.
pub const CONTEXT: &[&str] = &[
    "mode",
    "command",
    "subject",
    "agent",
    "session",
    "counts",
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
