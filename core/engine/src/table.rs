//! Tables that verdicts look into: found by hash, walked in the order in which they were filled.
//!
//! The hash has no seed, since core has no randomness. What is in a table comes from the documents of whoever runs the gate,
//! never from a call, so a call cannot choose keys that collide.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// A table by key.
pub type Table<K, V> = IndexMap<K, V, FxBuildHasher>;

/// A table by text.
pub type TextTable<V> = Table<Box<str>, V>;

/// A table of keys alone.
pub type Set<K> = IndexSet<K, FxBuildHasher>;
