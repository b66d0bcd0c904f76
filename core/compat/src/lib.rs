//! Functions that a runtime calls outside an engine: paths, URLs, annotations, MCP roots, tool results and approvals.

mod approval;
mod functions;
mod roots;
mod tool_result;

pub use approval::{
    ApprovalPattern, ApprovalWhitelist, Escalation, Unconstrained, extract_whitelist_candidates,
};
pub use functions::{
    ResolvedAnnotation, expand_home, is_within_directory, list_entry_matches, normalize_git_url, parse_json,
    resolve_default_git_remote, resolve_git_remote, resolve_real_path, resolve_stored_annotation,
    validate_compiled_rules,
};
pub use roots::{
    McpRoot, PolicyRoot, directory_for_path, extract_policy_roots, extract_required_servers, to_mcp_roots,
};
pub use tool_result::{rewrite_result_content, rewrite_text};
