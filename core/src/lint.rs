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
mod validate;
mod world;

pub(crate) use artifacts::check as artifacts;
pub(crate) use ceiling::{unbound, undeclared};
pub(crate) use cross_role::check as cross_role;
pub(crate) use lists::missing_lists;
pub(crate) use names::check as names;
pub(crate) use patterns::{check as patterns, check_allowlists as allowlist_patterns};
pub(crate) use policy::{Sandboxed, overridden};
pub(crate) use reachable::check as reachability;
pub(crate) use servers::{NamedServers, servers, unsandboxed};
pub use validate::Validation;
pub(crate) use validate::validate_compiled_rules;
pub(crate) use world::check as world;
