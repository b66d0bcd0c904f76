//! Messages of MCP other than calls, as gateways ask about them by COAZ's default mappings.
//!
//! <https://openid.github.io/authzen/authzen-coaz-mcp-binding-1_0.html#name-default-mappings>. What becomes of one is what the guard
//! does with it: it passes, unless nothing but tools may be reached.

/// The methods, each with the type of the resource that it is for.
const METHODS: [(&str, &str); 15] = [
    ("completion/complete", "prompt"),
    ("completion/complete", "resource"),
    ("initialize", "mcp_server"),
    ("logging/setLevel", "mcp_server"),
    ("prompts/get", "prompt"),
    ("prompts/list", "mcp_server"),
    ("resources/list", "mcp_server"),
    ("resources/read", "resource"),
    ("resources/subscribe", "resource"),
    ("resources/unsubscribe", "resource"),
    ("tasks/cancel", "task"),
    ("tasks/get", "task"),
    ("tasks/list", "mcp_server"),
    ("tasks/result", "task"),
    ("tools/list", "mcp_server"),
];

/// Said of a call whose arguments were not sent, as those of COAZ's default mapping are not.
pub(super) const NO_ARGUMENTS: &str = "The call's arguments were not sent, so nothing is known of it. The tool's \
     `x-authzen-mapping` has to send them in `context`: {\"arguments\": \"$has(params.arguments) ? params.arguments : {}\"}";

/// Said where nothing but tools may be reached.
pub(super) const ONLY_TOOLS: &str = "With --only-tools clients may call tools and nothing else";

/// Returns `true` for a message that is no call.
pub(super) fn is_message(method: &str, kind: &str) -> bool {
    METHODS.contains(&(method, kind))
}
