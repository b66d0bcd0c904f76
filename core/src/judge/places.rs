//! Visibility and operations (SPEC §8.3.5, §13): the places that a call's addresses name.

use super::{Evaluation, Verdict};
use crate::bind::Operand;
use crate::host::HostError;
use crate::world::{Action, Refused};

impl<'p, 'c> Evaluation<'p, 'c, '_> {
    /// Every address must name a place that the mode sees, and then the tool's command must be allowed at each.
    pub(super) fn check_places(&mut self) -> Result<Option<Verdict<'p>>, HostError> {
        let addresses = self.addresses();
        if addresses.is_empty() {
            return Ok(None);
        }
        for at in &addresses {
            // What is not well-formed has no place, and is denied before this.
            let refused = match self.operand(*at).and_then(Operand::seen) {
                Some(Ok(_)) | None => continue,
                Some(Err(refused)) => refused.clone(),
            };
            return self
                .refused(refused, "visibility", "structural-visibility")
                .map(Some);
        }
        self.note("visibility", true, || "every address is visible".to_owned());
        let context = self.call.context();
        let action = Action {
            tool: &self.call.tool,
            command: context.command(),
        };
        for at in &addresses {
            let Some(located) = self.operand(*at).and_then(Operand::located).cloned() else {
                continue;
            };
            match self.forms.judge_at(&located, &action, &context) {
                Some(Ok(reply)) => self.note("operations", true, || {
                    format!("{}: {}", located.address, reply.sentence())
                }),
                Some(Err(refused)) => {
                    let denial = self.refused(refused, "operations", "structural-operation");
                    return denial.map(Some);
                }
                None => {}
            }
        }
        for operand in &mut self.reading.operands {
            operand.is_cleared = operand.located().is_some();
        }
        Ok(None)
    }

    fn refused(
        &mut self,
        refused: Refused,
        check: &'static str,
        rule: &'static str,
    ) -> Result<Verdict<'p>, HostError> {
        if let Some(error) = refused.host {
            return Err(error);
        }
        let reason = refused.reply.sentence();
        self.note(check, false, || reason.clone());
        Ok(Verdict::deny(rule, reason))
    }

    /// Whether an argument of the call is an address, so that no path of the host may be told.
    pub(super) fn bears_addresses(&self) -> bool {
        self.tool_roles.intersects(self.program.address_roles)
    }

    /// After a denial no view of the arguments holds a place.
    pub(crate) fn conceal_places(&mut self) {
        for operand in &mut self.reading.operands {
            operand.is_cleared = false;
        }
    }

    /// The address that names the repository: that of the argument `path`, or, where there is none, the first place.
    pub(super) fn addressed_repository(&self, has_path: bool) -> Option<&Operand<'p, 'c>> {
        let named = |operand: &&Operand<'_, '_>| {
            let member = operand
                .argument
                .and_then(|at| self.call.arguments.members().get(at));
            operand.place.is_empty() && member.is_some_and(|(name, _)| name == "path")
        };
        let operand = if has_path {
            self.reading.operands.iter().find(named)
        } else {
            self.first_path().first().and_then(|at| self.operand(*at))
        };
        operand.filter(|operand| operand.role_set.intersects(self.program.address_roles))
    }

    /// The repository as the agent may know it.
    pub(super) fn repository_shown(&self, repository: &str) -> String {
        let located = self.reading.operands.iter().filter_map(Operand::located);
        let mut named = located.filter(|located| located.path.as_str() == repository);
        named
            .next()
            .map_or_else(|| repository.to_owned(), |located| located.address.clone())
    }

    fn addresses(&self) -> Vec<usize> {
        let operands = self.reading.operands.iter().enumerate();
        operands
            .filter(|(_, operand)| operand.role_set.intersects(self.program.address_roles))
            .map(|(at, _)| at)
            .collect()
    }
}
