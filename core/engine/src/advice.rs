//! Advice about documents that are valid but doubtful.
//!
//! The configuration decides whether advice refuses a document.

mod artifacts;
mod ceiling;
mod cross_role;
mod lists;
mod names;
mod patterns;
mod policy;
mod reachable;
mod servers;
mod unknown;
mod validate;
mod world;

pub use artifacts::check as artifacts;
pub use ceiling::{unbound, undeclared};
pub use cross_role::check as cross_role;
pub use lists::missing_lists;
pub use names::check as names;
pub use patterns::check as patterns;
pub(crate) use patterns::check_allowlists as allowlist_patterns;
pub use policy::{Sandboxed, overridden};
pub use reachable::check as reachability;
pub use servers::{NamedServers, servers, unsandboxed};
pub use unknown::help_for_unknown_tool;
pub use validate::Validation;
pub use validate::validate_compiled_rules;
pub use world::check as world;
