//! What the parts of a call come to by themselves.

use super::{Case, checks};
use crate::model::Effect;
use crate::program::RoleList;
use crate::role::RoleId;

/// What the parts of a call come to by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// A structural check decides: how strict it is, as [`Decision::strictness`](super::Decision::strictness) has it.
    Structural(u8),
    /// Each resource role, whether or not another one denies the call.
    Roles(Vec<(RoleId, Effect)>),
    /// A tool without a resource role.
    Whole(Effect),
}

impl<'p> Case<'p, '_, '_> {
    /// What each role comes to by itself.
    pub(crate) fn judge_apart(&mut self) -> Apart {
        if let Some(verdict) = checks::run(self, 0) {
            return Apart::Structural(verdict.decision.strictness());
        }
        let escalates = self.escalated.is_some();
        let least = |effect: Effect| match escalates {
            true => effect.max(Effect::Escalate),
            false => effect,
        };
        let Some(tool) = self.tool.filter(|_| !self.canonicalizer.facts.has_failed()) else {
            return Apart::Structural(2);
        };
        let roles = self.tool_roles.intersection(self.program.resource_roles);
        if roles.is_empty() {
            return Apart::Whole(least(self.judge_without_role(tool).effect));
        }
        let view = self.role_view(roles);
        let mut found = RoleList::new();
        let ordered = self.arguments.resolved.ordered(&mut found).to_vec();
        let ordered = ordered.into_iter().filter(|role| roles.contains(*role));
        let judged = ordered.map(|role| match view.judged.contains(role) {
            true => (role, least(self.judge_role(tool, role, view).effect)),
            false => (role, least(Effect::Allow)),
        });
        Apart::Roles(judged.collect())
    }
}
