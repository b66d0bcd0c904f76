//! Paths: from the text of a value to the one place in the file system that it means (SPEC §2).
//!
//! POSIX semantics on every target: `/` separates, names are compared byte for byte.

mod lexical;

pub(crate) use lexical::{expand_tilde, lexical, parent};
