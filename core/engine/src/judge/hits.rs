//! How values meet a condition, one by one and together.

use crate::model::Effect;
use crate::net::DomainSet;
use crate::program::{ListMatcher, Rule, RuleId};
use crate::role::RoleId;

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

/// Whose values a judgement is about.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The role that is judged; `None` where the tool has no resource role.
    pub(super) judged: Option<RoleId>,
    /// A role of which one value is judged by itself, and that value.
    pub(super) isolated: Option<(RoleId, usize)>,
}

/// How one value meets one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hit {
    /// Not at all.
    Miss,
    /// Only in the broad sense of a restriction.
    LookAlike,
    /// As it is written.
    Exact,
}

impl Hit {
    pub(super) fn exact(hit: bool) -> Self {
        if hit { Self::Exact } else { Self::Miss }
    }

    pub(super) fn look_alike(hit: bool) -> Self {
        if hit { Self::LookAlike } else { Self::Miss }
    }
}

/// The set that values are compared with.
#[derive(Clone, Copy)]
pub(super) enum Matcher<'r> {
    Domains(&'r DomainSet),
    List(&'r ListMatcher),
}

/// A condition on values: its rule, its place there (0 for `domains`, then `lists` in order), and what it compares with.
#[derive(Clone, Copy)]
pub(super) struct Condition<'r> {
    pub(super) rule: RuleId,
    pub(super) place: usize,
    pub(super) matcher: Matcher<'r>,
    pub(super) effect: Effect,
}

impl<'r> Condition<'r> {
    pub(super) fn domains(rule: &Rule, id: RuleId, set: &'r DomainSet) -> Self {
        Self {
            rule: id,
            place: 0,
            matcher: Matcher::Domains(set),
            effect: rule.effect,
        }
    }

    pub(super) fn list(rule: &Rule, id: RuleId, at: usize, matcher: &'r ListMatcher) -> Self {
        let matcher = match matcher {
            ListMatcher::Domains(set) => Matcher::Domains(set),
            ListMatcher::Emails(_) | ListMatcher::Identifiers(_) => Matcher::List(matcher),
        };
        Self {
            rule: id,
            place: at + 1,
            matcher,
            effect: rule.effect,
        }
    }
}

/// How many values of a condition meet it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits {
    pub(super) values: usize,
    /// Those that meet it, look-alikes included.
    hits: usize,
    /// Those that meet it as they are written.
    exact: usize,
}

impl Hits {
    pub(super) fn add(self, other: Self) -> Self {
        Self {
            values: self.values + other.values,
            hits: self.hits + other.hits,
            exact: self.exact + other.exact,
        }
    }

    pub(super) fn count(&mut self, hit: Hit) {
        self.values += 1;
        self.hits += usize::from(hit != Hit::Miss);
        self.exact += usize::from(hit == Hit::Exact);
    }

    /// For a condition that every value must meet.
    pub(super) fn of_all(self) -> Match {
        if self.hits < self.values {
            Match::Nothing
        } else {
            self.of_any()
        }
    }

    /// For a condition that one value meets for all.
    pub(super) fn of_any(self) -> Match {
        if self.hits == 0 {
            Match::Nothing
        } else if self.exact < self.values {
            Match::Partial
        } else {
            Match::All
        }
    }
}
