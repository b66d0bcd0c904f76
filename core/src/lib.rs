//! Callgate's engine.
mod annotation;
mod approval;
mod args;
mod diagnostic;
mod document;
mod engine;
mod eval;
mod host;
mod limits;
mod net;
mod path;
mod plain;
mod policy;
mod program;
mod results;
mod role;
mod roots;
mod setup;

pub use approval::{
    ApprovalConstraint, ApprovalPattern, ApprovalWhitelist, Escalation, PlainAnnotation, Unconstrained,
    extract_whitelist_candidates,
};
pub use args::{Arguments, Call, CallError, Place, Prepared, Replacement, Value, View};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use document::Input;
pub use engine::{BuildError, Engine, EngineBuilder, Gated, Interest, PrepareError};
pub use eval::{CheckStep, Decision, Explanation, RoleStep, RuleStep, ValueStep, Verdict, WalkStep};
pub use host::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};
pub use limits::Limits;
pub use net::{
    domain_matches_allowlist, extract_domain, extract_git_domain, is_ip_address, normalize_git_url,
    normalize_url,
};
pub use path::PathCase;
pub use plain::{
    expand_home, is_within_directory, list_entry_matches, resolve_default_git_remote, resolve_git_remote,
    resolve_real_path, resolve_stored_annotation, validate_compiled_rules,
};
pub use policy::{Effect, MatchType, Validation};
pub use results::{rewrite_result_content, rewrite_text};
pub use role::{Category, HostRole, REDACTED, Registry, RoleDefinition, RoleError, RoleId, RoleSet, Step};
pub use roots::{
    McpRoot, PolicyRoot, directory_for_path, extract_policy_roots, extract_required_servers, to_mcp_roots,
};
pub use setup::Part;
