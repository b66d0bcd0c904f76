//! The lookups of a judgement, each done once. Most judgements need none of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::arguments::Look;
use super::changes::Changes;
use super::hits::Hits;
use super::places::Repositories;
use crate::bind::Siblings;
use crate::program::RuleId;
use crate::role::RoleId;
use crate::table::Table;

/// The answers so far. Each is empty until it is asked for.
#[derive(Default)]
pub(super) struct Lookups<'p, 'c> {
    /// The arguments that conditions of rules name.
    pub(super) siblings: Option<Siblings<'c>>,
    /// The changes that the call makes below its places.
    pub(super) changes: Option<Changes>,
    /// The values that conditions see, by the places that they have asked for.
    pub(super) looks: BTreeMap<usize, Look>,
    /// The operands in the order of their places.
    pub(super) by_place: Option<Vec<usize>>,
    /// Where git remotes of this call are looked up.
    pub(super) repositories: Option<Arc<Repositories>>,
    /// The branches that are checked out there; `None` within if they cannot be told.
    pub(super) branches: Option<Option<Arc<[String]>>>,
    /// The refs that a push of each value updates: `None` if they cannot be told.
    pub(super) pushed: BTreeMap<usize, Option<Arc<[String]>>>,
    /// The remotes that refs are pushed to.
    pub(super) remotes: Option<Arc<[String]>>,
    /// The path of each argument that others are relative to.
    pub(super) bases: BTreeMap<&'p str, Option<Arc<str>>>,
    /// How all values of a role meet a condition: its rule, its place there, the role, and whether the count ends at
    /// the first value that does not.
    pub(super) hits: Table<(RuleId, usize, RoleId, bool), Hits>,
}
