//! The outcome of each part of a call by itself.

use super::check::Finding;
use super::combine::RoleVerdict;
use super::operand::Form;
use super::{Case, Decision, RoleValues, checks};
use crate::model::Effect;
use crate::program::RoleList;
use crate::role::{RoleId, RoleSet};

/// The outcome of a call's parts, each by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apart {
    /// A structural check decides.
    Structural {
        /// How strict it is, as [`Decision::strictness`](super::Decision::strictness) has it.
        strictness: u8,
        /// How strict the checks are about each value by itself, taken together. A check tells of the first value alone, so the
        /// verdict would not show that another one has become harmless.
        sum: usize,
    },
    /// Each resource role, whether or not another one denies the call.
    Roles(Vec<(RoleId, Effect)>),
    /// A tool without a resource role.
    Whole(Effect),
}

impl Apart {
    /// Nothing is known of a call that is not of the shape that its tool has.
    pub const REFUSED: Self = Self::Structural {
        strictness: 2,
        sum: 0,
    };
}

impl<'p> Case<'p, '_, '_> {
    /// Judges each role by itself.
    pub fn judge_apart(&mut self) -> Apart {
        if let Some(verdict) = checks::run(self) {
            let strictness = verdict.decision.strictness();
            let sum = self.each_strictness();
            return Apart::Structural { strictness, sum };
        }
        let escalates = !self.findings.is_empty();
        let least = |effect: Effect| match escalates {
            true => effect.max(Effect::Escalate),
            false => effect,
        };
        let Some(tool) = self.tool.filter(|_| !self.canonicalizer.facts.has_failed()) else {
            return Apart::REFUSED;
        };
        let roles = self.tool_roles.intersection(self.program.resource_roles);
        if roles.is_empty() {
            return Apart::Whole(least(self.judge_without_role(tool).effect()));
        }
        let view = self.role_view(roles);
        let mut found = RoleList::new();
        let ordered = self.arguments.resolved.ordered(&mut found).to_vec();
        let ordered = ordered.into_iter().filter(|role| roles.contains(*role));
        let mut whole = RoleVerdict::Sandbox;
        let mut judged = Vec::new();
        for role in ordered {
            let own = match view.heard.contains(role) {
                true => self.judge_role(tool, role, view),
                false => RoleVerdict::Sandbox,
            };
            whole = whole.join(own);
            judged.push((role, least(own.effect())));
        }
        match self.judge_granted(tool, whole) {
            granted if granted == whole => Apart::Roles(judged),
            granted => Apart::Whole(least(granted.effect())),
        }
    }

    /// How strict structural checks are about each value by itself, taken together. The case is of no other use afterwards.
    fn each_strictness(&mut self) -> usize {
        let mut sum = 0;
        while let Some(found) = checks::resolvable_values(self) {
            if let Finding::Decided(verdict, _) = found {
                sum += usize::from(verdict.decision.strictness());
            }
        }
        for operand in std::mem::take(&mut self.operands) {
            if matches!(operand.form, Form::Unresolvable(_)) {
                continue;
            }
            self.operands = vec![operand];
            self.values = RoleValues::default();
            self.lookups.hits.clear();
            self.sandboxed = RoleSet::default();
            self.findings.clear();
            sum += match checks::run_of_values(self) {
                Some(verdict) => usize::from(verdict.decision.strictness()),
                None if self.findings.is_empty() => 0,
                None => usize::from(Decision::Escalate(Vec::new()).strictness()),
            };
        }
        sum
    }
}
