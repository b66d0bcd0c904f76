//! Paths: from the text of a value to the one place in the file system that it means (SPEC §2).
//!
//! Three meanings, three types. Text is a lexical path at best: absolute and collapsed, so two spellings of
//! one name are equal and nothing more. A [`CanonicalPath`] is free of links; only a [`Resolver`] makes one,
//! and every comparison that can allow takes nothing else. A [`Folded`] path stands for all spellings that
//! a case-insensitive disk takes for one name; it serves comparisons that can only deny.
//!
//! POSIX semantics on every target: `/` separates, names are compared byte for byte.

mod containment;
mod fold;
mod lexical;
mod refusal;
mod resolve;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use containment::DirIndex;
pub(crate) use fold::Folded;
pub use fold::PathCase;
pub(crate) use lexical::{expand_tilde, lexical, parent};
pub(crate) use refusal::Unresolvable;
pub(crate) use resolve::{CanonicalPath, Resolver};
