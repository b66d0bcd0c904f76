//! The sandbox among the rules (SPEC §8.4): what it grants are paths, and no rule that restricts a call is lost by that.

use super::candidates::{Relevance, RoleView};
use super::combine::RoleVerdict;
use super::rules::Progress;
use super::{Case, Values};
use crate::model::{Effect, SandboxOrder, ServerKind};
use crate::program::{Rule, Tool};
use crate::role::{RoleId, RoleSet};
use crate::sort;

impl Progress {
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

impl<'p> Case<'p, '_, '_> {
    /// Returns `true` if the sandbox decides about the role at this time.
    pub(super) fn is_sandboxed(&self, role: RoleId, order: SandboxOrder) -> bool {
        let program = self.program;
        program.sandbox_order == order
            && !program.sandbox.is_empty()
            && program.sandbox_roles.contains(role)
            && self.settings.is_sandboxed
    }

    /// Takes values out that no rule has decided about and that need none within the sandbox: each value on a
    /// filesystem server, elsewhere all of them if no value of the role lies outside.
    pub(super) fn take_after_rules(&mut self, role: RoleId, progress: &mut Progress) {
        if self.settings.kind != Some(ServerKind::Filesystem) {
            let values = self.values_of(role);
            self.take_steps_for_sandbox(values.len());
            let sandbox = self.directories.sandbox(&mut self.canonicalizer);
            let mut operands = values.iter().filter_map(|at| self.operands.get(*at));
            if !operands.all(|operand| sandbox.holds(operand)) {
                return;
            }
        }
        let before = progress.left.len();
        progress.granted = self.within_sandbox(&progress.left);
        self.take_granted(progress);
        if progress.left.len() < before {
            let name = self.program.registry.name(role);
            self.note("sandbox", true, || {
                format!("a `{name}` value that no rule decided about lies within the sandbox")
            });
        }
    }

    fn take_steps_for_sandbox(&mut self, values: usize) {
        let directories = self.program.sandbox.len();
        self.canonicalizer.facts.take_steps(values * directories);
    }

    /// The values that the sandbox grants before rules that ask about what lies outside: all of a role that it resolved; on a
    /// filesystem server, each that lies within it.
    pub(super) fn granted(&mut self, role: RoleId, values: &[usize]) -> Values {
        let is_careful = self.program.defaults.hears_granted;
        if values.is_empty() || !self.is_sandboxed(role, SandboxOrder::BeforeRules) {
            return Values::new();
        }
        if is_careful && self.sandboxed.contains(role) {
            return Values::from_slice(values);
        }
        match self.settings.kind {
            Some(ServerKind::Filesystem) => self.within_sandbox(values),
            _ => Values::new(),
        }
    }

    fn within_sandbox(&mut self, values: &[usize]) -> Values {
        self.take_steps_for_sandbox(values.len());
        let sandbox = self.directories.sandbox(&mut self.canonicalizer);
        let operands = &self.operands;
        let is_held = |at: &usize| operands.get(*at).is_some_and(|operand| sandbox.holds(operand));
        values.iter().copied().filter(is_held).collect()
    }

    /// Takes the granted values out of those that are left: they need no rule.
    pub(super) fn take_granted(&mut self, progress: &mut Progress) {
        if !progress.set_aside().is_empty() {
            progress.add(RoleVerdict::Sandbox);
        }
    }

    /// Returns `true` if a rule is not about values of the role that the sandbox grants: it asks about what lies outside, or
    /// restricts the call as a whole and is heard where a role is judged.
    pub(super) fn passes_over_granted(
        &self,
        rule: &Rule,
        role: RoleId,
        view: RoleView,
        relevance: Relevance,
    ) -> bool {
        let is_careful = self.program.defaults.hears_granted;
        let is_resolved = self.sandboxed.contains(role);
        if !is_careful || (relevance == Relevance::CrossRole && !is_resolved) {
            return false;
        }
        let asks_about_call = rule.named.is_empty() && self.needs_rule();
        (rule.asks_about_places(self.program.path_roles) && !asks_about_call)
            || (is_resolved
                && !view.judged.is_empty()
                && rule.effect != Effect::Allow
                && rule.relevant == RoleSet::ALL)
    }

    /// Returns `true` if the tool executes, sends or publishes, so that the sandbox alone does not allow a call of it.
    pub(super) fn needs_rule(&self) -> bool {
        let is_careful = self.program.defaults.hears_granted;
        is_careful && self.tool.is_some_and(|tool| tool.acts(self.tool_roles))
    }

    /// Judges a call of which the sandbox grants all paths, and no rule says anything: the call of a tool that executes, sends or
    /// publishes needs a rule.
    pub(super) fn judge_granted(&mut self, tool: &'p Tool, whole: RoleVerdict) -> RoleVerdict {
        if whole != RoleVerdict::Sandbox || !self.needs_rule() {
            return whole;
        }
        if let Some(trace) = &mut self.trace {
            trace.begin_call();
        }
        self.judge_without_role(tool)
    }
}
