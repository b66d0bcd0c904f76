//! Tables that verdicts look into: found by hash, walked in the order in which they were filled.
//!
//! The seed of the hash is fixed, since core has no randomness. What is in a table comes from the documents of whoever runs
//! the gate, never from a call, so a call cannot choose keys that collide.

use foldhash::fast::FixedState;
use indexmap::{IndexMap, IndexSet};

/// A table by key.
pub(crate) type Table<K, V> = IndexMap<K, V, FixedState>;

/// A table by text.
pub(crate) type TextTable<V> = Table<Box<str>, V>;

/// A table of keys alone.
pub(crate) type Set<K> = IndexSet<K, FixedState>;
