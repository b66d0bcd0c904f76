//! The outcome of each part of a call by itself.

use super::asking::Asking;
use super::candidates::role_view;
use super::check::{Checked, Finding};
use super::combine::RoleVerdict;
use super::inputs::Inputs;
use super::lookups::Lookups;
use super::operand::Form;
use super::operands::resolvable_values;
use super::rules::{judge_granted, judge_role, judge_without_role};
use super::{Decision, checks};
use crate::model::Effect;
use crate::program::RoleList;
use crate::role::RoleId;

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

/// Judges each role by itself.
pub(super) fn judge_apart(inputs: &mut Inputs, asking: &mut Asking) -> Apart {
    let checked = checks::run(inputs, asking);
    if let Some(verdict) = &checked.decided {
        let strictness = verdict.decision.strictness();
        let sum = each_strictness(inputs, asking);
        return Apart::Structural { strictness, sum };
    }
    let least = |effect: Effect| match checked.escalates() {
        true => effect.max(Effect::Escalate),
        false => effect,
    };
    let Some(tool) = inputs.tool.filter(|_| !asking.has_failed()) else {
        return Apart::REFUSED;
    };
    let roles = inputs.roles.intersection(inputs.program.resource_roles);
    if roles.is_empty() {
        return Apart::Whole(least(judge_without_role(inputs, asking, tool).effect()));
    }
    let view = role_view(inputs, roles, checked.sandboxed);
    let mut found = RoleList::new();
    let ordered = inputs.arguments.resolved.ordered(&mut found).iter().copied();
    let mut whole = RoleVerdict::Sandbox;
    let mut judged = Vec::new();
    for role in ordered.filter(|role| roles.contains(*role)) {
        let own = match view.heard.contains(role) {
            true => judge_role(inputs, asking, tool, role, view),
            false => RoleVerdict::Sandbox,
        };
        whole = whole.join(own);
        judged.push((role, least(own.effect())));
    }
    match judge_granted(inputs, asking, tool, whole) {
        granted if granted == whole => Apart::Roles(judged),
        granted => Apart::Whole(least(granted.effect())),
    }
}

/// How strict structural checks are about each value by itself, taken together. The inputs are of no other use afterwards.
fn each_strictness(inputs: &mut Inputs, asking: &mut Asking) -> usize {
    let mut sum = 0;
    while let Some(found) = resolvable_values(inputs, asking) {
        if let Finding::Decided(verdict, _) = found {
            sum += usize::from(verdict.decision.strictness());
        }
    }
    for operand in std::mem::take(&mut inputs.operands) {
        if matches!(operand.form, Form::Unresolvable(_)) {
            continue;
        }
        inputs.operands = vec![operand];
        inputs.file_operands();
        asking.lookups = Lookups::default();
        let mut checked = Checked::default();
        checks::run_of_values(&mut checked, inputs, asking);
        sum += match &checked.decided {
            Some(verdict) => usize::from(verdict.decision.strictness()),
            None if checked.escalates() => usize::from(Decision::Escalate(Vec::new()).strictness()),
            None => 0,
        };
    }
    sum
}
