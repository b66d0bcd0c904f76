//! Whether a rule's domain and list conditions hold for the values of a call.
//!
//! What grants is strict: an allow rule's condition holds when every value matches. What restricts is broad:
//! a look-alike counts, and one matching value among several is enough to be heard.

use super::Evaluation;
use crate::host::HostError;
use crate::model::Effect;
use crate::net::{DomainSet, Location};
use crate::program::{ListCondition, ListMatcher, Rule};
use crate::role::{RoleId, RoleSet};

/// How firmly a condition holds for its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Matched {
    /// It does not.
    Nothing,
    /// A restricting rule is heard: some values match, or look as if they did. It decides about none of them,
    /// so that a later rule, or the default, may be stricter.
    Heard,
    /// Every value matches, and there is at least one.
    All,
}

/// Whose values a judgement is about.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The role that is judged by itself; none where no role is in view.
    pub(crate) judged: Option<RoleId>,
    /// A role one of whose values stands alone, and that value.
    pub(crate) alone: Option<(RoleId, usize)>,
}

/// How one value meets one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hit {
    /// Not at all.
    Miss,
    /// Only in the broad reading of what restricts.
    Soft,
    /// As it is written.
    Firm,
}

impl Hit {
    fn firm(hit: bool) -> Self {
        if hit { Self::Firm } else { Self::Miss }
    }

    fn soft(hit: bool) -> Self {
        if hit { Self::Soft } else { Self::Miss }
    }
}

/// How the values of one condition meet it.
#[derive(Clone, Copy, Debug, Default)]
struct Hits {
    values: usize,
    hits: usize,
    firm: usize,
}

impl Hits {
    fn count(&mut self, hit: Hit) {
        self.values += 1;
        self.hits += usize::from(hit != Hit::Miss);
        self.firm += usize::from(hit == Hit::Firm);
    }

    /// For a condition that every value must meet.
    fn of_all(self) -> Matched {
        if self.hits == 0 || self.hits < self.values {
            Matched::Nothing
        } else if self.firm < self.values {
            Matched::Heard
        } else {
            Matched::All
        }
    }

    /// For a condition that one value meets for all.
    fn of_any(self) -> Matched {
        if self.hits == 0 {
            Matched::Nothing
        } else if self.firm < self.values {
            Matched::Heard
        } else {
            Matched::All
        }
    }
}

/// Why a condition does not hold, for an explanation.
pub(crate) type Reason = Option<(&'static str, String)>;

impl Evaluation<'_, '_, '_> {
    /// The values of one role in this judgement.
    pub(crate) fn values_in(&self, role: RoleId, subject: &Subject) -> Vec<usize> {
        match subject.alone {
            Some((alone, value)) if alone == role => vec![value],
            _ => self.values_of(role),
        }
    }

    /// Whether the operand is a value of the role in this judgement.
    fn is_value(&self, at: usize, role: RoleId, subject: &Subject) -> bool {
        match subject.alone {
            Some((alone, value)) if alone == role => at == value,
            _ => self
                .operand(at)
                .is_some_and(|operand| operand.role_set.contains(role)),
        }
    }

    /// The values of several roles, each operand once and in order.
    fn values_in_set(&self, roles: RoleSet, subject: &Subject) -> Vec<(usize, RoleId)> {
        let mut found = Vec::new();
        for (at, operand) in self.reading.operands.iter().enumerate() {
            for role in operand.roles.iter().copied().filter(|role| roles.contains(*role)) {
                let kept = match subject.alone {
                    Some((alone, value)) => alone != role || value == at,
                    None => true,
                };
                if kept {
                    found.push((at, role));
                }
            }
        }
        found
    }

    /// The domain and list conditions of a rule that is relevant to the judged role, or that is looked at with
    /// no role in view.
    pub(crate) fn conditions(
        &mut self,
        rule: &Rule,
        subject: &Subject,
        why: &mut Reason,
    ) -> Result<Matched, HostError> {
        let mut matched = Matched::All;
        if let Some((roles, set)) = &rule.domains {
            let mut hits = Hits::default();
            if let Some(role) = subject.judged.filter(|role| roles.contains(*role)) {
                for at in 0..self.reading.operands.len() {
                    if self.is_value(at, role, subject) {
                        hits.count(self.names_one_of(set, rule.effect, at, role)?);
                    }
                }
            }
            matched = matched.min(hits.of_all());
            if matched == Matched::Nothing {
                self.fail(why, "domains", || {
                    "not every value of the judged role matches `domains.allowed`".to_owned()
                });
                return Ok(matched);
            }
        }
        for condition in &rule.lists {
            if rule.effect == Effect::Allow && condition.roles.intersects(self.reading.unlistable) {
                self.fail(why, "lists", || {
                    "an array or object stands where strings belong".to_owned()
                });
                return Ok(Matched::Nothing);
            }
            let (values, whole) = self.listed_values(condition, rule.effect, subject);
            let hits = self.list_hits(condition, rule.effect, &values)?;
            let needs_all = whole || rule.effect == Effect::Allow;
            matched = matched.min(if needs_all { hits.of_all() } else { hits.of_any() });
            if matched == Matched::Nothing {
                self.fail(why, "lists", || {
                    "not every value is in `lists.allowed`".to_owned()
                });
                return Ok(matched);
            }
        }
        Ok(matched)
    }

    /// The values that a list condition looks at, and whether all of them must match a restricting rule too.
    ///
    /// A condition that names the judged role is about its values. A restricting rule that also asks about
    /// another role is heard when one value of that role matches, since that value could come alone.
    fn listed_values(
        &self,
        condition: &ListCondition,
        effect: Effect,
        subject: &Subject,
    ) -> (Vec<(usize, RoleId)>, bool) {
        let names = |role: &RoleId| condition.roles.contains(*role);
        let of = |role: RoleId| {
            self.values_in(role, subject)
                .into_iter()
                .map(|at| (at, role))
                .collect()
        };
        let alone = subject.alone.map(|(role, _)| role).filter(names);
        match (subject.judged.filter(names), alone) {
            (Some(role), _) => (of(role), true),
            (None, Some(role)) if effect != Effect::Allow => (of(role), true),
            (None, _) => {
                let lone = subject.judged.is_none() && subject.alone.is_none();
                (self.values_in_set(condition.roles, subject), lone)
            }
        }
    }

    fn list_hits(
        &mut self,
        condition: &ListCondition,
        effect: Effect,
        values: &[(usize, RoleId)],
    ) -> Result<Hits, HostError> {
        let mut hits = Hits::default();
        for (at, role) in values.iter().copied() {
            hits.count(match &condition.matcher {
                ListMatcher::Domains(set) => self.names_one_of(set, effect, at, role)?,
                ListMatcher::Emails(_) | ListMatcher::Identifiers(_) => {
                    let step = self.program.registry.get(role).canonicalize;
                    let text = self.text(at, role)?;
                    match effect {
                        Effect::Allow => Hit::firm(condition.matcher.grants_text(step, text)),
                        Effect::Escalate | Effect::Deny if condition.matcher.lists_text(step, text) => {
                            Hit::Firm
                        }
                        Effect::Escalate | Effect::Deny => {
                            Hit::soft(condition.matcher.restricts_text(step, text))
                        }
                    }
                }
            });
        }
        Ok(hits)
    }

    /// Whether the domain that the value names, or each of them, is in the set, in the sense that fits the effect.
    fn names_one_of(
        &mut self,
        set: &DomainSet,
        effect: Effect,
        at: usize,
        role: RoleId,
    ) -> Result<Hit, HostError> {
        let locations = self.locate(at, role)?;
        Ok(match effect {
            Effect::Allow => Hit::firm(set.grants_all(locations).is_some()),
            Effect::Escalate | Effect::Deny if set.restricts_any(locations).is_none() => Hit::Miss,
            Effect::Escalate | Effect::Deny => {
                let plain =
                    |one: &Location| set.grants(one).is_some() || set.holds_text(one.display_domain());
                if locations.iter().any(plain) {
                    Hit::Firm
                } else {
                    Hit::Soft
                }
            }
        })
    }

    /// Whether a restricting rule that is relevant to no judged role holds all the same: each condition over the
    /// values of its own roles, one matching value sufficing.
    pub(crate) fn overheard(
        &mut self,
        rule: &Rule,
        subject: &Subject,
        why: &mut Reason,
    ) -> Result<bool, HostError> {
        if let Some((roles, set)) = &rule.domains {
            let mut hits = Hits::default();
            for (at, role) in self.values_in_set(*roles, subject) {
                hits.count(self.names_one_of(set, rule.effect, at, role)?);
            }
            if hits.of_any() == Matched::Nothing {
                self.fail(why, "domains", || "no value matches `domains.allowed`".to_owned());
                return Ok(false);
            }
        }
        for condition in &rule.lists {
            let values = self.values_in_set(condition.roles, subject);
            if self.list_hits(condition, rule.effect, &values)?.of_any() == Matched::Nothing {
                self.fail(why, "lists", || "no value is in `lists.allowed`".to_owned());
                return Ok(false);
            }
        }
        if let Some((roles, directory)) = rule.paths {
            let mut any = false;
            for (at, _) in self.values_in_set(roles, subject) {
                any |= self.lies_within(at, directory, rule.effect)? || self.may_concern(at, directory)?;
            }
            if !any {
                self.fail(why, "paths", || {
                    "no path value lies within `paths.within`".to_owned()
                });
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a restriction on the directory may concern the value without holding it: removing the value
    /// would remove the directory, or the disk may take its spelling for one in the directory.
    pub(crate) fn may_concern(&mut self, at: usize, directory: u32) -> Result<bool, HostError> {
        let directory = self.directories.rule(&mut self.forms, directory)?;
        let Some(operand) = self.reading.operands.get(at) else {
            return Ok(false);
        };
        let Some(path) = operand.path() else {
            return Ok(false);
        };
        Ok(directory.may_hold(path)
            || operand.entry().is_some_and(|entry| directory.may_hold(entry))
            || (operand.role_set.contains(RoleId::DELETE_PATH) && directory.lies_within(path)))
    }

    /// Whether the value lies within the rule's directory, in the sense that fits the rule's effect.
    pub(crate) fn lies_within(
        &mut self,
        at: usize,
        directory: u32,
        effect: Effect,
    ) -> Result<bool, HostError> {
        let directory = self.directories.rule(&mut self.forms, directory)?;
        let Some(operand) = self.reading.operands.get(at) else {
            return Ok(false);
        };
        let Some(path) = operand.path() else {
            return Ok(false);
        };
        Ok(match effect {
            Effect::Allow => {
                directory.grants(path) && operand.entry().is_none_or(|entry| directory.grants(entry))
            }
            Effect::Escalate | Effect::Deny => {
                directory.restricts(path) || operand.entry().is_some_and(|entry| directory.restricts(entry))
            }
        })
    }

    /// What a value names as a URL, or as a bare domain, under the role.
    pub(crate) fn locate(&mut self, at: usize, role: RoleId) -> Result<&[Location], HostError> {
        let definition = self.program.registry.get(role);
        let repository = if definition.canonicalize == crate::role::Step::GitUrl {
            self.repository()?
        } else {
            None
        };
        match self.reading.operands.get_mut(at) {
            Some(operand) => {
                self.forms.locate(operand, role, repository.as_deref())?;
                Ok(operand.locations(role, definition))
            }
            None => Ok(&[]),
        }
    }

    /// What policy compares of a value under the role.
    pub(crate) fn text(&mut self, at: usize, role: RoleId) -> Result<&str, HostError> {
        match self.reading.operands.get_mut(at) {
            Some(operand) => {
                self.forms.spell(operand, role)?;
                Ok(operand.text_under(role).unwrap_or_default())
            }
            None => Ok(""),
        }
    }

    fn fail(&self, why: &mut Reason, condition: &'static str, detail: impl FnOnce() -> String) {
        if self.trace.is_some() {
            *why = Some((condition, detail()));
        }
    }
}
