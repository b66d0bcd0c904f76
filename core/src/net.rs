//! URLs, domains and git remotes (SPEC §3).
//!
//! Plain functions that turn text into text, for display and compatibility. URLs are parsed by the `url`
//! crate and by nothing else.

mod git;
mod host;
mod text;
mod url;

pub(crate) use git::{Remote, resolve_git_remote};
pub use git::{extract_git_domain, normalize_git_url};
pub use url::{extract_domain, normalize_url};
