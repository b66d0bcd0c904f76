//! Paths: from a value to the one place in the file system that it means (SPEC §2).
//!
//! Three meanings, three types. A string is at best a lexical path: absolute and collapsed. A [`CanonicalPath`] has
//! no links; only a [`Resolver`] makes one, and every comparison that can allow takes this type. A [`Folded`] path
//! stands for all spellings that a case-insensitive disk reads as one name; it is for comparisons that can only deny.
//!
//! POSIX semantics on every target: `/` is the separator, and names are compared byte for byte.

mod case;
mod containment;
mod equivalent;
mod folded;
mod lexical;
mod pathspec;
mod pattern;
mod refusal;
mod resolve;
mod walk;

#[cfg(test)]
mod tests;

pub use case::PathCase;
pub use containment::{DirIndex, holding};
pub use folded::Folded;
pub use lexical::{expand_tilde, lexical, parent};
pub use pathspec::{Pathspec, folded, is_in_git, is_literal, pathspec_readings};
pub use pattern::Piece;
pub use refusal::{Unresolvable, check_value};
pub use resolve::{CanonicalPath, Resolver};
