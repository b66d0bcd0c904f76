//! Advice: what is doubtful about documents that can be read.
//!
//! It stands above the documents and below the configuration, which decides whether advice refuses a document.

mod artifacts;
mod ceiling;
mod missing_lists;
mod policy;
mod reachable;
mod validate;
mod world;

pub(crate) use artifacts::check as artifacts;
pub(crate) use ceiling::{unbound, undeclared};
pub(crate) use missing_lists::missing_lists;
pub(crate) use policy::overridden;
pub(crate) use reachable::check as reachability;
pub use validate::Validation;
pub(crate) use validate::validate_compiled_rules;
pub(crate) use world::check as world;
