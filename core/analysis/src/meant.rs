//! Which values a statement is about.

use callgate_engine::model::refs::Ref;
use callgate_engine::net::{DomainSet, Location, PathEnding, UrlKind};
use callgate_engine::path::{expand_tilde, lexical};
use callgate_engine::policy::Calls;
use callgate_engine::program::{Program, Tool, readable_addresses};
use callgate_engine::role::{RoleId, RoleSet};
use callgate_engine::text::is_at_or_below;

/// The values that a statement is about. They are compared as restrictions compare them, so that another spelling of a value is
/// that value.
pub(super) struct Meant<'i> {
    roles: Option<RoleSet>,
    within: Option<String>,
    domains: Option<DomainSet>,
    values: Option<&'i [Box<str>]>,
}

impl<'i> Meant<'i> {
    pub(super) fn new(program: &Program, calls: &'i Calls) -> Self {
        let absolute =
            |path: &str| lexical(&expand_tilde(path, &program.home), &program.current).into_owned();
        let domains = calls.domains.as_ref();
        Self {
            roles: calls.roles.as_ref().map(|roles| roles.iter().copied().collect()),
            within: calls.within.as_deref().map(absolute),
            domains: domains.map(|all| DomainSet::new(all.iter().map(|one| &**one), PathEnding::Below)),
            values: calls.values.as_deref(),
        }
    }

    /// Returns `true` if the statement is about calls whatever their values.
    pub(super) fn is_every_call(&self) -> bool {
        self.roles.is_none() && self.within.is_none() && self.domains.is_none() && self.values.is_none()
    }

    /// Returns `true` if a value of an argument with these roles may be meant.
    pub(super) fn may_be_of(&self, roles: RoleSet) -> bool {
        self.roles.is_none_or(|wanted| roles.intersects(wanted))
    }

    /// Returns `true` if a call of the tool may be meant, by the roles of its arguments.
    pub(super) fn may_be_of_tool(&self, program: &Program, tool: &Tool) -> bool {
        let places = program.path_roles.union(program.address_roles);
        let mut arguments = tool.arguments.iter();
        self.is_every_call()
            || arguments.any(|argument| {
                let roles: RoleSet = argument.roles.possible().collect();
                self.may_be_of(roles)
                    && (self.within.is_none() || roles.intersects(places))
                    && (self.domains.is_none() || roles.intersects(program.url_roles))
            })
    }

    /// The values that are listed.
    pub(super) fn values(&self) -> &'i [Box<str>] {
        self.values.unwrap_or_default()
    }

    /// Returns `true` if the text is meant. `branch` is the one that is checked out, where that is known.
    pub(super) fn names(&self, program: &Program, roles: RoleSet, text: &str, branch: Option<&str>) -> bool {
        // An address is meant by the place that it stands for.
        let world = program
            .world
            .as_ref()
            .filter(|_| roles.intersects(program.address_roles));
        let place = world.and_then(|world| world.lexical_path(text));
        let is_within = |within: &String| {
            let is_path = roles.intersects(program.path_roles) && is_at_or_below(text, within);
            is_path
                || place
                    .as_deref()
                    .is_some_and(|place| is_at_or_below(place, within))
        };
        let is_in_domains = |domains: &DomainSet| {
            let kind = match roles.contains(RoleId::GIT_REMOTE_URL) {
                true => UrlKind::GitRemote,
                false => UrlKind::Fetch,
            };
            roles.intersects(program.url_roles) && domains.restricts(&Location::new(text, kind)).is_some()
        };
        let is_value = |values: &[Box<str>]| {
            let mut values = values.iter();
            values.any(|value| is_same(program, roles, (value, text), branch))
        };
        self.may_be_of(roles)
            && self.within.as_ref().is_none_or(is_within)
            && self.domains.as_ref().is_none_or(is_in_domains)
            && self.values.is_none_or(is_value)
    }
}

/// Returns `true` if both texts stand for the same under one of the roles.
fn is_same(program: &Program, roles: RoleSet, (value, text): (&str, &str), branch: Option<&str>) -> bool {
    if value == text {
        return true;
    }
    roles.iter().any(|role| {
        let step = program.registry.get(role).canonicalize;
        let both_read = |read: fn(&str) -> Vec<String>| {
            let known = read(value);
            read(text).iter().any(|one| known.contains(one))
        };
        step.apply(value) == step.apply(text)
            || role == RoleId::EMAIL_ADDRESS && both_read(readable_addresses)
            || role == RoleId::BRANCH_NAME && {
                let known = branches(value, None);
                branches(text, branch).iter().any(|one| known.contains(one))
            }
    })
}

/// The branches that git may take the text for.
fn branches<'t>(text: &'t str, current: Option<&'t str>) -> Vec<&'t str> {
    let name = |at: usize| text.get(at..).unwrap_or_default();
    match Ref::read(text) {
        Ref::Branch(at) => vec![name(at)],
        Ref::Either(one, other) => vec![name(one), name(other)],
        Ref::Current => current.into_iter().collect(),
        Ref::Unknown => Vec::new(),
    }
}
