//! What was found in a call, each thing once. Most judgements need little of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::change::Changes;
use super::hits::Hits;
use super::look::Look;
use super::operand::Operand;
use super::places::Repositories;
use crate::model::refs::Ref;
use crate::net::Location;
use crate::program::RuleId;
use crate::role::RoleId;
use crate::table::Table;

/// The places that one value names: nearly always one.
pub(super) type Locations = SmallVec<[Location; 1]>;

/// The answers so far. Each is empty until it is asked for.
#[derive(Default)]
pub(super) struct Lookups {
    /// The answers that were read from the text of each operand.
    answers: Vec<Answers>,
    /// The changes that the call makes below its places.
    pub(super) changes: Option<Changes>,
    /// The values that conditions see, by the places that they have asked for.
    pub(super) looks: BTreeMap<usize, Look>,
    /// The operands in the order of their places.
    pub(super) by_place: Option<Arc<[usize]>>,
    /// Where git remotes of this call are looked up.
    pub(super) repositories: Option<Arc<Repositories>>,
    /// The branches that are checked out there; `None` within if they cannot be told.
    pub(super) branches: Option<Option<Arc<[String]>>>,
    /// The refs that a push of each value updates: `None` if they cannot be told.
    pub(super) pushed: BTreeMap<usize, Option<Arc<[String]>>>,
    /// The remotes that refs are pushed to.
    pub(super) remotes: Option<Arc<[String]>>,
    /// The path of each argument that others are relative to.
    pub(super) bases: BTreeMap<Box<str>, Option<Arc<str>>>,
    /// How all values of a role meet a condition: its rule, its place there, the role, and whether the count ends at
    /// the first value that does not.
    pub(super) hits: Table<(RuleId, usize, RoleId, bool), Hits>,
}

/// The answers that were read from the text of one value.
#[derive(Clone, Default)]
pub(super) struct Answers {
    /// The text that policy compares under a role; `None` for the text of the value as it is.
    pub(super) texts: SmallVec<[(RoleId, Option<String>); 1]>,
    /// The ref that git takes the text for.
    pub(super) read_ref: Option<Ref>,
    /// The addresses that a mail program may read from it under a role.
    pub(super) addresses: Vec<(RoleId, Vec<String>)>,
    /// The places that it names under a role.
    pub(super) locations: Vec<(RoleId, Locations)>,
}

impl Lookups {
    /// The answers about an operand, to be added to.
    pub(super) fn answers_mut(&mut self, at: usize) -> Option<&mut Answers> {
        if self.answers.len() <= at {
            self.answers.resize(at + 1, Answers::default());
        }
        self.answers.get_mut(at)
    }

    /// The text of an operand under the role, if it was asked.
    pub(super) fn text<'a>(
        &'a self,
        operand: &'a Operand<'_, '_>,
        at: usize,
        role: RoleId,
    ) -> Option<&'a str> {
        let (_, text) = of_role(&self.answers.get(at)?.texts, role)?;
        Some(text.as_deref().unwrap_or_else(|| operand.given()))
    }

    /// The ref that git takes an operand for, if it was asked.
    pub(super) fn read_ref(&self, at: usize) -> Option<Ref> {
        self.answers.get(at)?.read_ref
    }

    /// The addresses in an operand under the role, if it was asked.
    pub(super) fn addresses(&self, at: usize, role: RoleId) -> Option<&[String]> {
        let (_, addresses) = of_role(&self.answers.get(at)?.addresses, role)?;
        Some(addresses)
    }

    /// The places that an operand names under the role, if it was asked.
    pub(super) fn locations(&self, at: usize, role: RoleId) -> Option<&[Location]> {
        let (_, locations) = of_role(&self.answers.get(at)?.locations, role)?;
        Some(locations)
    }

    /// The places that an operand names under any role, as far as it was asked.
    pub(super) fn each_location(&self, at: usize) -> impl Iterator<Item = &Location> {
        let answers = self.answers.get(at).into_iter();
        let under_roles = answers.flat_map(|answers| &answers.locations);
        under_roles.flat_map(|(_, locations)| locations)
    }

    /// Forgets an operand that is taken out; those behind it move up.
    pub(super) fn remove(&mut self, at: usize) {
        if at < self.answers.len() {
            self.answers.remove(at);
        }
        if let Some(changes) = self.changes.as_mut().and_then(Arc::get_mut)
            && at < changes.len()
        {
            changes.remove(at);
        }
    }
}

fn of_role<T>(answers: &[(RoleId, T)], role: RoleId) -> Option<&(RoleId, T)> {
    answers.iter().find(|(known, _)| *known == role)
}
