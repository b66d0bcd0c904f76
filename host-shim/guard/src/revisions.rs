//! Revisions of the protocol, and what is said where a client and a server have none in common.

/// The last revision that begins with `initialize`, and the first that does not.
const LAST_HANDSHAKE: &str = "2025-11-25";
pub(super) const FIRST_MODERN: &str = "2026-07-28";

/// How many revisions of a server an error names.
const NAMED: usize = 8;

/// The server's revisions as far as they are known, for as long as the guard runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Revisions {
    #[default]
    Unknown,
    /// It answered a request of the modern era, with these revisions if it named them.
    Modern(Vec<String>),
    /// It did not know such a request.
    Handshake,
}

/// Why a client of the modern era is refused.
pub(super) fn only_handshake(revision: &str) -> String {
    format!(
        "the client speaks revision `{revision}` of MCP, and the server only revisions to {LAST_HANDSHAKE}, which begin \
         with `initialize`: there is none that both speak, and Callgate does not translate"
    )
}

/// Why a client that begins with `initialize` is refused.
pub(super) fn only_modern(revision: &str, supported: &[String]) -> String {
    let named = match supported {
        [] => format!("revisions from {FIRST_MODERN} on"),
        several => {
            let named: Vec<String> = several.iter().take(NAMED).map(|one| format!("`{one}`")).collect();
            named.join(", ")
        }
    };
    format!(
        "the client speaks revision `{revision}` of MCP, which begins with `initialize`, and the server only {named}: there \
         is none that both speak, and Callgate does not translate"
    )
}
