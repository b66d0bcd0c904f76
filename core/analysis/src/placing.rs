//! Which regions a call lies in.
//!
//! The engine's reading of a call is held against what its tool is divided by, in the same way for the call that stands for a
//! region and for any other: they lie in one region if they are of one class.

use std::collections::{BTreeMap, BTreeSet};

use super::atoms::Atoms;
use super::divided::{Divided, SlotRoles};
use super::hosts::{self, HostClass};
use super::names::{self, Naming};
use super::places::{self, PathClass};
use super::portable;
use super::regions::Cut;
use super::slots::Filler;
use callgate_engine::bind::Call;
use callgate_engine::judge::{PlaceSeen, ResolvedValue, Wanted};
use callgate_engine::program::ListMatcher;
use callgate_engine::role::{RoleId, RoleSet};

/// Calls that are looked at for one call with several values of several arguments.
const MOST: usize = 1_024;

/// The class of one value in the division.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    paths: Vec<PathClass>,
    /// The root or mod of an address that is visible, and how the world answers to it.
    address: Option<(Option<String>, PlaceSeen)>,
    hosts: BTreeSet<HostClass>,
    names: BTreeSet<(Naming, String)>,
    /// `true` if it stands in an array, where a condition sees that.
    is_item: bool,
}

/// The content of an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Content {
    Values(Vec<Class>),
    /// Nothing that is named.
    Filler(Filler),
}

/// The class of a call in the division.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Placed {
    /// It is refused for its form.
    Refused,
    Read {
        frame: Frame,
        slots: Vec<Content>,
        /// The first is `true` if there is an argument that nobody names, the second if a text looks like a protected path.
        extra: (bool, bool),
        /// The arguments that conditions look at and that name something.
        tested: Vec<usize>,
    },
}

/// The part of a call's class that regions do not differ in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame {
    /// The roles of each argument.
    roles: Vec<Vec<RoleId>>,
    /// How conditions on arguments are met.
    conditions: Vec<u8>,
}

/// The class that all calls of one region share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) frame: Frame,
    classes: Vec<Result<Class, Filler>>,
    extra: Option<(bool, bool)>,
}

/// Places the calls of one tool.
pub(super) struct Placing<'d, 'a, 'e> {
    pub(super) divided: &'d Divided<'a, 'e>,
    wanted: Wanted,
    atoms: BTreeMap<RoleSet, Atoms>,
}

impl<'d, 'a, 'e> Placing<'d, 'a, 'e> {
    pub(super) fn new(divided: &'d Divided<'a, 'e>) -> Self {
        let program = divided.analysis.imagined.program();
        let mut wanted = Wanted {
            hosts: program.url_roles,
            emails: RoleSet::default(),
        };
        for (_, rule) in program.rules_of(divided.tool) {
            for list in &rule.lists {
                match &list.matcher {
                    ListMatcher::Domains(_) => wanted.hosts = wanted.hosts.union(list.roles),
                    ListMatcher::Emails(_) => wanted.emails = wanted.emails.union(list.roles),
                    ListMatcher::Identifiers(_) => {}
                }
            }
            if let Some((roles, _)) = &rule.domains {
                wanted.hosts = wanted.hosts.union(*roles);
            }
        }
        Self {
            divided,
            wanted,
            atoms: BTreeMap::new(),
        }
    }

    /// The class of the call.
    pub(super) fn place(&mut self, call: &Call<'_>) -> Placed {
        let divided = self.divided;
        let program = divided.analysis.imagined.program();
        let Some(resolved) = divided.analysis.imagined.resolved(call, self.wanted) else {
            return Placed::Refused;
        };
        let roles_at = |slot: usize| SlotRoles {
            own: resolved.roles.get(slot).into_iter().flatten().copied().collect(),
            other: RoleSet::default(),
        };
        let (mut slots, mut tested) = (Vec::with_capacity(divided.slots.len()), Vec::new());
        for (at, slot) in divided.slots.iter().enumerate() {
            let roles = roles_at(at);
            let is_tested = !slot.tests.is_empty() && divided.are_valued(roles);
            if is_tested {
                tested.push(at);
            }
            let own = resolved.values.iter().filter(|value| value.argument == at);
            let mut classes: Vec<Class> = own.map(|value| self.class(value, roles, is_tested)).collect();
            classes.dedup();
            slots.push(match classes.is_empty() {
                false => Content::Values(classes),
                true => Content::Filler(slot.filler(call, program.limits.depth)),
            });
        }
        Placed::Read {
            frame: Frame {
                roles: resolved.roles,
                conditions: resolved.conditions,
            },
            slots,
            extra: (resolved.has_unknown, resolved.looks_protected),
            tested,
        }
    }

    fn class(&mut self, value: &ResolvedValue, roles: SlotRoles, is_tested: bool) -> Class {
        let divided = self.divided;
        let imagined = &divided.analysis.imagined;
        let atoms = self
            .atoms
            .entry(roles.own)
            .or_insert_with(|| divided.atoms(roles));
        let patterns = &imagined.program().protected.patterns;
        let pattern = value.patterns.first().and_then(|at| patterns.get(*at));
        let pattern = pattern.map(|one| (&*one.directory, one.pattern.as_str()));
        let shown = |directory: &str| portable::directory(imagined, directory);
        let mut class = Class {
            paths: Vec::new(),
            address: None,
            hosts: BTreeSet::new(),
            names: BTreeSet::new(),
            is_item: is_tested && value.is_item,
        };
        if atoms.kinds.is_path {
            let paths = value.paths.iter();
            class
                .paths
                .extend(paths.map(|path| places::class(atoms, path, pattern, shown)));
        }
        if let Some(place) = &value.place {
            let (base, path) = place.at.clone().unzip();
            class.address = Some((base, place.seen));
            class
                .paths
                .extend(path.map(|path| places::class(atoms, &path, pattern, shown)));
        }
        for role in &value.roles {
            let locations = role.locations.iter();
            class
                .hosts
                .extend(locations.map(|one| hosts::class(atoms, &role.text, one)));
            class
                .names
                .extend(names::class(atoms, &role.text, &role.addresses));
        }
        class
    }
}

impl Placed {
    pub(super) fn frame(&self) -> Option<&Frame> {
        match self {
            Self::Refused => None,
            Self::Read { frame, .. } => Some(frame),
        }
    }

    /// The keys of the regions that the call lies in, among those of the part: one key for each region that one of its values lies in.
    pub(super) fn keys(&self, cut: &Cut) -> Vec<Option<Key>> {
        let Self::Read {
            frame,
            slots,
            extra,
            tested,
        } = self
        else {
            return vec![None];
        };
        let mut keys = vec![Key {
            frame: frame.clone(),
            classes: Vec::new(),
            extra: cut.has_extra.then_some(*extra),
        }];
        let own = cut.slots.iter().map(|slot| (slot, false));
        for (slot, is_tested) in own.chain(tested.iter().map(|slot| (slot, true))) {
            let choices: Vec<Result<Class, Filler>> = match slots.get(*slot) {
                Some(Content::Values(classes)) => classes.iter().cloned().map(Ok).collect(),
                Some(Content::Filler(filler)) if is_tested => vec![Err(*filler)],
                Some(Content::Filler(Filler::Odd)) => return Vec::new(),
                // Whoever names nothing leaves the argument out.
                Some(Content::Filler(_)) | None => vec![Err(Filler::Missing)],
            };
            if keys.len() * choices.len() > MOST {
                return Vec::new();
            }
            let longer = |key: Key| {
                let choices = choices.iter().cloned();
                choices
                    .map(move |choice| {
                        let mut key = key.clone();
                        key.classes.push(choice);
                        key
                    })
                    .collect::<Vec<_>>()
            };
            keys = keys.into_iter().flat_map(longer).collect();
        }
        keys.into_iter().map(Some).collect()
    }
}
