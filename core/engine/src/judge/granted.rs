//! The sandbox among the rules (SPEC §8.4): what it grants are paths, and no rule that restricts a call is lost by that.

use super::asking::Asking;
use super::candidates::{Relevance, RoleView};
use super::combine::{RoleVerdict, Undecided, join};
use super::inputs::{Inputs, Values};
use crate::model::{Effect, SandboxOrder, ServerKind};
use crate::program::Rule;
use crate::role::{RoleId, RoleSet};
use crate::sort;

/// The state while one role's values go through the rules.
pub(super) struct Progress {
    /// The values that no rule has decided about, in order.
    pub(super) left: Values,
    /// Those that the sandbox grants in the end, in order.
    pub(super) granted: Values,
    /// `true` if the role had values to begin with.
    pub(super) had_values: bool,
    /// The strictest rule so far.
    pub(super) best: Option<RoleVerdict>,
}

impl Progress {
    pub(super) fn is_undecided(&self) -> bool {
        !self.left.is_empty() || !self.had_values
    }

    pub(super) fn undecided(&self, role: RoleId) -> Undecided {
        Undecided::Role(role, self.left.first().copied())
    }

    pub(super) fn add(&mut self, verdict: RoleVerdict) {
        self.best = join(self.best, verdict);
    }

    fn grants(&self, value: usize) -> bool {
        self.granted.binary_search(&value).is_ok()
    }

    /// Returns `true` if the sandbox grants every value that is left, of which there is one.
    pub(super) fn is_granted(&self) -> bool {
        !self.left.is_empty() && self.left.iter().all(|at| self.grants(*at))
    }

    /// Returns `true` if the sandbox grants every value that is left, but for these.
    pub(super) fn grants_all_but(&self, others: &[usize]) -> bool {
        let mut decided = self.left.iter().filter(|at| others.binary_search(at).is_err());
        decided.all(|at| self.grants(*at))
    }

    /// Takes the granted values out for a while.
    pub(super) fn set_aside(&mut self) -> Values {
        let (aside, left) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(|at| self.grants(*at));
        self.left = left;
        aside
    }

    /// Puts back the values that were set aside.
    pub(super) fn take_back(&mut self, aside: Values) {
        if !aside.is_empty() {
            self.left.extend(aside);
            sort::sort_numbers(&mut self.left);
        }
    }
}

/// Returns `true` if the sandbox decides about the role at this time.
pub(super) fn is_sandboxed(inputs: &Inputs, role: RoleId, order: SandboxOrder) -> bool {
    let program = inputs.program;
    program.sandbox_order == order
        && !program.sandbox.is_empty()
        && program.sandbox_roles.contains(role)
        && inputs.settings.is_sandboxed
}

/// Takes values out that no rule has decided about and that need none within the sandbox: each value on a
/// filesystem server, elsewhere all of them if no value of the role lies outside.
pub(super) fn take_after_rules(inputs: &Inputs, asking: &mut Asking, role: RoleId, progress: &mut Progress) {
    if inputs.settings.kind != Some(ServerKind::Filesystem) {
        let values = inputs.values_of(role);
        take_steps_for_sandbox(inputs, asking, values.len());
        let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
        let mut operands = values.iter().filter_map(|at| inputs.operands.get(*at));
        if !operands.all(|operand| sandbox.holds(operand)) {
            return;
        }
    }
    let before = progress.left.len();
    progress.granted = within_sandbox(inputs, asking, &progress.left);
    take_granted(progress);
    if progress.left.len() < before {
        let name = inputs.program.registry.name(role);
        asking.note("sandbox", true, || {
            format!("a `{name}` value that no rule decided about lies within the sandbox")
        });
    }
}

fn take_steps_for_sandbox(inputs: &Inputs, asking: &mut Asking, values: usize) {
    let directories = inputs.program.sandbox.len();
    asking.take_steps(values * directories);
}

/// The values that the sandbox grants before rules that ask about what lies outside: all of a role that it resolved; on a
/// filesystem server, each that lies within it.
pub(super) fn granted_values(
    inputs: &Inputs,
    asking: &mut Asking,
    role: RoleId,
    view: RoleView,
    values: &[usize],
) -> Values {
    let is_careful = inputs.program.defaults.hears_granted;
    if values.is_empty() || !is_sandboxed(inputs, role, SandboxOrder::BeforeRules) {
        return Values::new();
    }
    if is_careful && !view.judged.contains(role) {
        return Values::from_slice(values);
    }
    match inputs.settings.kind {
        Some(ServerKind::Filesystem) => within_sandbox(inputs, asking, values),
        _ => Values::new(),
    }
}

fn within_sandbox(inputs: &Inputs, asking: &mut Asking, values: &[usize]) -> Values {
    take_steps_for_sandbox(inputs, asking, values.len());
    let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
    let operands = &inputs.operands;
    let is_held = |at: &usize| operands.get(*at).is_some_and(|operand| sandbox.holds(operand));
    values.iter().copied().filter(is_held).collect()
}

/// Takes the granted values out of those that are left: they need no rule.
pub(super) fn take_granted(progress: &mut Progress) {
    if !progress.set_aside().is_empty() {
        progress.add(RoleVerdict::Sandbox);
    }
}

/// Returns `true` if a rule is not about values of the role that the sandbox grants: it asks about what lies outside, or
/// restricts the call as a whole and is heard where a role is judged.
pub(super) fn passes_over_granted(
    inputs: &Inputs,
    rule: &Rule,
    role: RoleId,
    view: RoleView,
    relevance: Relevance,
) -> bool {
    let is_careful = inputs.program.defaults.hears_granted;
    let is_resolved = !view.judged.contains(role);
    if !is_careful || (relevance == Relevance::CrossRole && !is_resolved) {
        return false;
    }
    let asks_about_call = rule.named.is_empty() && needs_rule(inputs);
    (rule.asks_about_places(inputs.program.path_roles) && !asks_about_call)
        || (is_resolved
            && !view.judged.is_empty()
            && rule.effect != Effect::Allow
            && rule.relevant == RoleSet::ALL)
}

/// Returns `true` if the tool executes, sends or publishes, so that the sandbox alone does not allow a call of it.
pub(super) fn needs_rule(inputs: &Inputs) -> bool {
    let is_careful = inputs.program.defaults.hears_granted;
    is_careful && inputs.tool.is_some_and(|tool| tool.acts(inputs.roles))
}
