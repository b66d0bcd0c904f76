//! The wording of reasons about the values of a call, so that whoever reads them finds the argument (SPEC §8.6).

use std::borrow::Cow;
use std::fmt;

use super::StructuralRule;
use super::combine::{RoleVerdict, Undecided};
use super::locations::url_kind;
use super::operand::Operand;
use super::{Case, Verdict};
use crate::bind::{BoundValue, unsaid};
use crate::model::{Argument, ConditionArgument, Effect};
use crate::net::UrlKind;
use crate::program::{DEFAULT_REASON, UNDECIDED};
use crate::role::{REDACTED, RoleId, Step};

/// The name of a value that the engine filled in.
const DEFAULT_REMOTE: &str = "the default remote";

/// The characters of a value that a reason shows.
const SHOWN: usize = 200;

const SANDBOX_REASON: &str = "All path roles resolved by sandbox containment";

/// Room for most reasons of the default denial.
const DEFAULT_REASON_BYTES: usize = 160;

/// Why a condition does not hold, for an explanation.
pub(super) type Reason<'r> = Option<(&'static str, Why<'r>)>;

/// Why a condition does not hold; only an explanation spells it out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Why<'r> {
    Text(&'static str),
    /// This argument does not meet its condition.
    Argument(&'r ConditionArgument),
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Argument(argument) => {
                write!(formatter, "the argument `{argument}` does not meet its condition")
            }
        }
    }
}

impl<'p> Case<'p, '_, '_> {
    pub(super) fn verdict(&mut self, verdict: RoleVerdict, escalated: Vec<&'p str>) -> Verdict<'p> {
        let rule = match verdict {
            RoleVerdict::Rule(_, rule) => self.program.rule(rule),
            RoleVerdict::Sandbox => return Verdict::allow(StructuralRule::SandboxAllow, SANDBOX_REASON),
            RoleVerdict::Unjudged(effect, lack) => return self.unjudged_verdict(effect, lack),
            RoleVerdict::Default => None,
        };
        match (rule, verdict.effect()) {
            (Some(rule), Effect::Allow) => Verdict::allow(&*rule.name, &*rule.reason),
            (Some(rule), Effect::Escalate) => Verdict::escalate(escalated, &*rule.name, &*rule.reason),
            (Some(rule), Effect::Deny) => Verdict::deny(&*rule.name, &*rule.reason),
            (None, _) => Verdict::deny(StructuralRule::DefaultDeny, self.default_reason()),
        }
    }

    /// The default denial for these values. Nothing is stricter, so that judging ends with it and these are the verdict's values.
    pub(super) fn default_deny(&mut self, undecided: Undecided) -> RoleVerdict {
        self.undecided = undecided;
        RoleVerdict::Default
    }

    fn default_reason(&mut self) -> Cow<'p, str> {
        match self.undecided {
            Undecided::Call => {
                let known = self.tool.and_then(|tool| tool.default_reason.as_deref());
                known.unwrap_or(DEFAULT_REASON).into()
            }
            Undecided::Role(role, value) if self.names_arguments() => {
                let mut reason = String::with_capacity(DEFAULT_REASON_BYTES);
                reason.push_str(DEFAULT_REASON);
                reason.push_str(UNDECIDED);
                self.push_undecided(&mut reason, role, value);
                reason.into()
            }
            Undecided::Role(..) => DEFAULT_REASON.into(),
        }
    }
}

impl Case<'_, '_, '_> {
    /// Returns `true` if reasons name the arguments that they are about; those of the existing runtime do not.
    pub(super) fn names_arguments(&self) -> bool {
        self.program.defaults.names_arguments
    }

    /// `argument "path"`.
    pub(super) fn shown_argument(&self, argument: usize) -> String {
        format!("argument {:?}", self.name_of(Some(argument)))
    }

    /// The same of a value, or what the engine filled in.
    pub(super) fn shown_source(&self, bound: &BoundValue<'_, '_>) -> String {
        match (bound.argument, bound.absent) {
            (Some(argument), _) => self.shown_argument(argument),
            (None, Some(argument)) => format!("argument {:?}, which is absent", argument.name.to_string()),
            (None, None) => DEFAULT_REMOTE.to_owned(),
        }
    }

    /// `argument "path": "~/x"`, as it was given; the value is cut where it is long, and withheld where its role redacts
    /// it.
    pub(super) fn shown_as_given(&self, operand: &Operand<'_, '_>) -> String {
        let text = match self.redacts(self.name_of_value(&operand.bound)) {
            true => REDACTED.to_owned(),
            false => format!("{:?}", shorten(operand.bound.raw())),
        };
        format!("{}: {text}", self.shown_source(&operand.bound))
    }

    /// The same in the form that policy sees under the role, which is that of what is sent as well. In an engine with a
    /// world a path stays as it was given.
    pub(super) fn shown_as_judged(&mut self, at: usize, role: RoleId) -> String {
        let Some(operand) = self.operands.get_mut(at) else {
            return String::new();
        };
        if operand.bound.is_filled_in() {
            return DEFAULT_REMOTE.to_owned();
        }
        let is_hidden = self.program.world.is_some() && operand.path().is_some();
        let text = match is_hidden {
            true => shorten(operand.bound.raw()),
            false => shorten(self.canonicalizer.text(operand, role)),
        };
        let text = format!("{text:?}");
        let Some(operand) = self.operands.get(at) else {
            return String::new();
        };
        let text = match self.redacts(self.name_of_value(&operand.bound)) {
            true => REDACTED,
            false => &text,
        };
        format!("{}: {text}", self.shown_source(&operand.bound))
    }

    /// Ends the reason of the default denial with what no rule decides about.
    pub(super) fn push_undecided(&mut self, reason: &mut String, role: RoleId, value: Option<usize>) {
        let name = self.program.registry.name(role);
        let shown = value.map(|at| self.shown_as_judged(at, role));
        let parts = match &shown {
            Some(shown) => ["the `", name, "` of ", shown],
            None => ["the role `", name, "`", ", which has no value in this call"],
        };
        parts.iter().for_each(|part| reason.push_str(part));
        if shown.is_none() {
            reason.push_str(&self.unsaid(role).unwrap_or_default());
        }
        let is_url = self.program.url_roles.contains(role);
        if let Some(at) = value.filter(|_| is_url)
            && self.is_ungrantable(at, role)
        {
            reason.push_str(match url_kind(role, self.program.registry.get(role)) {
                UrlKind::GitRemote => {
                    ", and no rule allows a remote that is not clearly an `https`, `http`, `ssh` or `git` URL with a host"
                }
                UrlKind::Fetch | UrlKind::AsGiven | UrlKind::Bare => {
                    ", and no rule allows a value that is not clearly an `http` or `https` URL with a host"
                }
            });
        }
    }

    /// The end of a reason about a role without a value, where the call does not give an argument that bears it, and nobody says
    /// what that means.
    pub(super) fn unsaid(&self, role: RoleId) -> Option<String> {
        let tool = self.tool.filter(|_| self.names_arguments())?;
        let mut open = self.arguments.open.iter();
        let has_role = |argument: &&&Argument| {
            let mut arguments = tool.arguments.iter();
            let at = arguments.position(|one| std::ptr::eq(one, **argument));
            at.is_some_and(|at| self.arguments.resolved.set_of(at).contains(role))
        };
        let is_alone = !self.operands.iter().any(|one| one.bound.role_set.contains(role));
        let argument = open.find(has_role).filter(|_| is_alone)?;
        Some(unsaid(&argument.name))
    }

    /// The end of the reason of a rule that holds for a role, where the call has no value under it.
    pub(super) fn without_value(&self, role: RoleId) -> Option<String> {
        let has_value = self.operands.iter().any(|one| one.bound.role_set.contains(role));
        if has_value || !self.names_arguments() {
            return None;
        }
        let other = || {
            format!(
                ": the call has no value under the role `{}`",
                self.program.registry.name(role)
            )
        };
        Some(self.unsaid(role).unwrap_or_else(other))
    }

    /// Returns `true` if a role of the argument redacts its values.
    pub(super) fn redacts(&self, argument: &str) -> bool {
        let Some(tool) = self.tool else { return false };
        let arguments = &tool.member(argument).arguments;
        let roles = arguments.iter().filter_map(|at| self.arguments.resolved.get(*at));
        roles
            .flatten()
            .any(|role| self.program.registry.get(*role).extract_policy_value == Some(Step::Redact))
    }
}

/// The beginning of a text that is long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
