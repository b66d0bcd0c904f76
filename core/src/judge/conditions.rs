//! Whether a rule's domain and list conditions hold for the values of a call.
//!
//! A grant is strict: an allow rule's condition holds when every value matches. A restriction is broad: a look-alike
//! counts, and one matching value among several is enough for a partial match.

use std::sync::Arc;

use super::canonical::{Form, Operand};
use super::directory::Directory;
use super::{Case, Values};
use crate::model::Effect;
use crate::model::refs::{self, Ref};
use crate::net::{DomainSet, Location};
use crate::program::{Compatibility, DirectoryId, ListCondition, ListMatcher, Rule};
use crate::role::{RoleId, RoleSet, Step};

/// How much of a condition's values match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// None.
    Nothing,
    /// Some values match, or look as if they did. A restricting rule then counts, but decides about no value, so that
    /// a later rule, or the default, may be stricter.
    Partial,
    /// Every value matches, and there is at least one.
    All,
}

/// Indices of operands, each with the role under which it is looked at.
type RoleValues = Vec<(usize, RoleId)>;

/// Whose values a judgement is about.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The role that is judged; `None` where the tool has no resource role.
    pub(super) judged: Option<RoleId>,
    /// A role of which one value is judged by itself, and that value.
    pub(super) isolated: Option<(RoleId, usize)>,
}

/// How one value meets one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hit {
    /// Not at all.
    Miss,
    /// Only in the broad sense of a restriction.
    LookAlike,
    /// As it is written.
    Exact,
}

impl Hit {
    fn exact(hit: bool) -> Self {
        if hit { Self::Exact } else { Self::Miss }
    }

    fn look_alike(hit: bool) -> Self {
        if hit { Self::LookAlike } else { Self::Miss }
    }
}

/// How the values of one condition meet it.
#[derive(Clone, Copy, Debug, Default)]
struct Hits {
    values: usize,
    hits: usize,
    exact: usize,
}

impl Hits {
    fn count(&mut self, hit: Hit) {
        self.values += 1;
        self.hits += usize::from(hit != Hit::Miss);
        self.exact += usize::from(hit == Hit::Exact);
    }

    /// For a condition that every value must meet.
    fn of_all(self) -> Match {
        if self.hits < self.values {
            Match::Nothing
        } else {
            self.of_any()
        }
    }

    /// For a condition that one value meets for all.
    fn of_any(self) -> Match {
        if self.hits == 0 {
            Match::Nothing
        } else if self.exact < self.values {
            Match::Partial
        } else {
            Match::All
        }
    }
}

/// Why a condition does not hold, for an explanation.
pub(super) type Reason = Option<(&'static str, &'static str)>;

impl Case<'_, '_, '_> {
    /// The values of one role in this judgement.
    pub(super) fn values_in(&self, role: RoleId, subject: &Subject) -> Values {
        match subject.isolated {
            Some((isolated, value)) if isolated == role => vec![value],
            _ => self.values_of(role),
        }
    }

    /// The values of several roles, each operand once and in order.
    fn values_in_set(&self, roles: RoleSet, subject: &Subject) -> RoleValues {
        let is_kept = |at: usize, role: RoleId| match subject.isolated {
            Some((isolated, value)) => isolated != role || value == at,
            None => true,
        };
        let operands = self.operands.iter().enumerate();
        let each_role = operands.flat_map(|(at, operand)| {
            let roles = operand.bound.roles.iter();
            roles.map(move |role| (at, *role))
        });
        each_role
            .filter(|(at, role)| roles.contains(*role) && is_kept(*at, *role))
            .collect()
    }

    /// The domain and list conditions of a rule that is relevant to the judged role, or that is looked at where the tool
    /// has no resource role.
    pub(super) fn conditions(&mut self, rule: &Rule, subject: &Subject, why: &mut Reason) -> Match {
        let mut matched = Match::All;
        if !self.meets_roles(rule, why) {
            return Match::Nothing;
        }
        if let Some((roles, set)) = &rule.domains {
            let mut hits = Hits::default();
            if let Some(role) = subject.judged.filter(|role| roles.contains(*role)) {
                for at in self.values_in(role, subject) {
                    hits.count(self.names_one_of(set, rule.effect, at, role));
                }
            }
            matched = matched.min(hits.of_all());
            if matched == Match::Nothing {
                *why = Some((
                    "domains",
                    "not every value of the judged role matches `domains.allowed`",
                ));
                return matched;
            }
        }
        for condition in &rule.lists {
            if rule.effect == Effect::Allow && condition.roles.intersects(self.arguments.opaque_list_roles) {
                *why = Some(("lists", "an array or object stands where strings belong"));
                return Match::Nothing;
            }
            let (values, needs_all) = self.listed_values(condition, rule.effect, subject);
            let hits = self.list_hits(condition, rule.effect, &values);
            let needs_all = needs_all || rule.effect == Effect::Allow;
            matched = matched.min(if needs_all { hits.of_all() } else { hits.of_any() });
            if matched == Match::Nothing {
                *why = Some(("lists", "not every value is in `lists.allowed`"));
                return matched;
            }
        }
        matched
    }

    /// The values that a list condition looks at, and whether all of them must match a restricting rule too.
    ///
    /// A condition that names the judged role is about its values. A restricting rule that also asks about
    /// another role holds in part when one value of that role matches, since that value could come by itself.
    fn listed_values(
        &self,
        condition: &ListCondition,
        effect: Effect,
        subject: &Subject,
    ) -> (RoleValues, bool) {
        let names = |role: &RoleId| condition.roles.contains(*role);
        let of = |role: RoleId| {
            let values = self.values_in(role, subject).into_iter();
            values.map(|at| (at, role)).collect()
        };
        let isolated = subject.isolated.map(|(role, _)| role).filter(names);
        match (subject.judged.filter(names), isolated) {
            (Some(role), _) => (of(role), true),
            (None, Some(role)) if effect != Effect::Allow => (of(role), true),
            (None, _) => {
                let is_whole = subject.judged.is_none() && subject.isolated.is_none();
                (self.values_in_set(condition.roles, subject), is_whole)
            }
        }
    }

    fn list_hits(&mut self, condition: &ListCondition, effect: Effect, values: &[(usize, RoleId)]) -> Hits {
        let mut hits = Hits::default();
        for (at, role) in values.iter().copied() {
            hits.count(match &condition.matcher {
                ListMatcher::Domains(set) => self.names_one_of(set, effect, at, role),
                ListMatcher::Emails(_) | ListMatcher::Identifiers(_) if self.is_unknown(at) => {
                    Hit::look_alike(effect != Effect::Allow)
                }
                ListMatcher::Identifiers(_) if self.reads_refs(role, effect) => {
                    self.ref_hit(&condition.matcher, at, role)
                }
                ListMatcher::Emails(_) | ListMatcher::Identifiers(_) => {
                    let step = self.program.registry.get(role).canonicalize;
                    list_hit(&condition.matcher, effect, step, self.text(at, role))
                }
            });
        }
        hits
    }

    /// Whether a value counts as every ref that git would take it for.
    fn reads_refs(&self, role: RoleId, effect: Effect) -> bool {
        role == RoleId::BRANCH_NAME
            && effect != Effect::Allow
            && self.program.compatibility == Compatibility::Careful
    }

    /// How a ref meets the entries of a restriction. One that cannot be told meets all of them.
    fn ref_hit(&mut self, matcher: &ListMatcher, at: usize, role: RoleId) -> Hit {
        let step = self.program.registry.get(role).canonicalize;
        let text = self.text(at, role).to_owned();
        let lists = |name: &str| {
            let mut spellings = refs::spellings(name).into_iter();
            spellings.any(|spelling| matcher.lists_text(step, &spelling))
        };
        if matcher.lists_text(step, &text) {
            return Hit::Exact;
        }
        match Ref::read(&text) {
            Ref::Branch(name) => Hit::exact(lists(name)),
            Ref::Either(one, other) => Hit::look_alike(lists(one) || lists(other)),
            Ref::Current => match self.current_branches() {
                Some(branches) => Hit::exact(branches.iter().any(|branch| lists(branch))),
                None => Hit::LookAlike,
            },
            Ref::Unknown => Hit::LookAlike,
        }
    }

    fn is_unknown(&self, at: usize) -> bool {
        let operand = self.operands.get(at);
        operand.is_some_and(|operand| matches!(operand.form, Form::Unknown))
    }

    /// Whether the domain that the value names, or each of them, is in the set, in the sense that fits the effect.
    fn names_one_of(&mut self, set: &DomainSet, effect: Effect, at: usize, role: RoleId) -> Hit {
        let locations = self.locations(at, role);
        match effect {
            Effect::Allow => Hit::exact(set.grants_all(locations).is_some()),
            Effect::Escalate | Effect::Deny if set.restricts_any(locations).is_none() => Hit::Miss,
            Effect::Escalate | Effect::Deny => {
                let is_exact =
                    |one: &Location| set.grants(one).is_some() || set.holds_text(one.display_domain());
                match locations.iter().any(is_exact) {
                    true => Hit::Exact,
                    false => Hit::LookAlike,
                }
            }
        }
    }

    /// Whether a restricting rule that is relevant to no judged role holds all the same: each condition over the
    /// values of its own roles, one matching value sufficing.
    pub(super) fn holds_across_roles(&mut self, rule: &Rule, subject: &Subject, why: &mut Reason) -> bool {
        if !self.meets_roles(rule, why) {
            return false;
        }
        if let Some((roles, set)) = &rule.domains {
            let mut hits = Hits::default();
            for (at, role) in self.values_in_set(*roles, subject) {
                hits.count(self.names_one_of(set, rule.effect, at, role));
            }
            if hits.of_any() == Match::Nothing {
                *why = Some(("domains", "no value matches `domains.allowed`"));
                return false;
            }
        }
        for condition in &rule.lists {
            let values = self.values_in_set(condition.roles, subject);
            if self.list_hits(condition, rule.effect, &values).of_any() == Match::Nothing {
                *why = Some(("lists", "no value is in `lists.allowed`"));
                return false;
            }
        }
        if let Some((roles, id)) = rule.paths {
            let values = self.values_in_set(roles, subject);
            let directory = self.directories.rule(&mut self.canonicalizer, id);
            let mut operands = values.iter().filter_map(|(at, _)| self.operands.get(*at));
            if !operands.any(|operand| {
                lies_within(operand, directory, rule.effect) || may_concern(operand, directory)
            }) {
                *why = Some(("paths", "no path value lies within `paths.within`"));
                return false;
            }
        }
        true
    }

    /// `if.roles`: any role of any argument of the tool.
    fn meets_roles(&self, rule: &Rule, why: &mut Reason) -> bool {
        let meets = rule.roles.is_none_or(|roles| roles.intersects(self.tool_roles));
        if !meets {
            *why = Some(("roles", "no argument of the tool has one of `roles`"));
        }
        meets
    }

    /// The values that do not lie within the rule's directory, and whether a restriction on it may concern one of the
    /// values all the same.
    pub(super) fn outside(&mut self, effect: Effect, id: DirectoryId, values: &[usize]) -> (Values, bool) {
        let directory = self.directories.rule(&mut self.canonicalizer, id);
        let operands = &self.operands;
        let is_outside = |at: &usize| {
            let operand = operands.get(*at);
            !operand.is_some_and(|operand| lies_within(operand, directory, effect))
        };
        let outside: Values = values.iter().copied().filter(is_outside).collect();
        let mut concerned = values.iter().filter_map(|at| operands.get(*at));
        let is_concerned =
            effect != Effect::Allow && concerned.any(|operand| may_concern(operand, directory));
        (outside, is_concerned)
    }

    /// The URLs, or the bare domain, that a value names under the role.
    pub(super) fn locations(&mut self, at: usize, role: RoleId) -> &[Location] {
        let repositories = match self.program.registry.get(role).canonicalize {
            Step::GitUrl => self.repositories(),
            _ => Arc::default(),
        };
        match self.operands.get_mut(at) {
            Some(operand) => self.canonicalizer.locations(operand, role, &repositories),
            None => &[],
        }
    }

    /// The text of a value that policy compares under the role.
    pub(super) fn text(&mut self, at: usize, role: RoleId) -> &str {
        match self.operands.get_mut(at) {
            Some(operand) => self.canonicalizer.text(operand, role),
            None => "",
        }
    }
}

fn list_hit(matcher: &ListMatcher, effect: Effect, step: Step, text: &str) -> Hit {
    match effect {
        Effect::Allow => Hit::exact(matcher.grants_text(step, text)),
        Effect::Escalate | Effect::Deny if matcher.lists_text(step, text) => Hit::Exact,
        Effect::Escalate | Effect::Deny => Hit::look_alike(matcher.restricts_text(step, text)),
    }
}

/// Whether a restriction on the directory may concern the value although it does not lie within it: removing the value
/// would remove the directory, or the disk may take its spelling for one in the directory.
fn may_concern(operand: &Operand<'_, '_>, directory: &Directory) -> bool {
    let removes = operand.bound.role_set.contains(RoleId::DELETE_PATH);
    operand.paths().any(|path| directory.may_hold(path))
        || (removes && operand.path().is_some_and(|path| directory.lies_within(path)))
}

/// Whether the value lies within the directory, in the sense that fits the effect.
fn lies_within(operand: &Operand<'_, '_>, directory: &Directory, effect: Effect) -> bool {
    match effect {
        Effect::Allow => operand.path().is_some() && operand.paths().all(|path| directory.grants(path)),
        Effect::Escalate | Effect::Deny => operand.paths().any(|path| directory.restricts(path)),
    }
}
