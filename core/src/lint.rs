//! Advice about documents that are valid but doubtful.
//!
//! The configuration decides whether advice refuses a document.

mod artifacts;
mod ceiling;
mod lists;
mod policy;
mod reachable;
mod validate;
mod world;

pub(crate) use artifacts::check as artifacts;
pub(crate) use ceiling::{unbound, undeclared};
pub(crate) use lists::missing_lists;
pub(crate) use policy::overridden;
pub(crate) use reachable::check as reachability;
pub use validate::Validation;
pub(crate) use validate::validate_compiled_rules;
pub(crate) use world::check as world;
