//! The wording of reasons about the values of a call, so that whoever reads them finds the argument (SPEC §8.6).

use std::fmt;

use super::Case;
use super::locations::url_kind;
use super::operand::Operand;
use crate::model::ConditionArgument;
use crate::net::UrlKind;
use crate::program::Compatibility;
use crate::role::{REDACTED, RoleId, Step};

/// The characters of a value that a reason shows.
const SHOWN: usize = 200;

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

impl Case<'_, '_, '_> {
    /// Returns `true` if reasons name the arguments that they are about; those of the existing runtime do not.
    pub(super) fn names_arguments(&self) -> bool {
        self.program.compatibility == Compatibility::Careful
    }

    /// `argument "path"`, or what the engine filled in.
    pub(super) fn shown_argument(&self, argument: Option<usize>) -> String {
        match argument {
            Some(_) => format!("argument {:?}", self.name_of(argument)),
            None => "the default remote".to_owned(),
        }
    }

    /// `argument "path": "~/x"`, as it was given; the value is cut where it is long, and withheld where its role redacts
    /// it.
    pub(super) fn shown_as_given(&self, operand: &Operand<'_, '_>) -> String {
        let argument = operand.bound.argument;
        let text = match self.redacts(argument) {
            true => REDACTED.to_owned(),
            false => format!("{:?}", shorten(operand.bound.raw())),
        };
        format!("{}: {text}", self.shown_argument(argument))
    }

    /// The same in the form that policy sees under the role, which is that of what is sent as well. In an engine with a
    /// world a path stays as it was given.
    pub(super) fn shown_as_judged(&mut self, at: usize, role: RoleId) -> String {
        let Some(operand) = self.operands.get_mut(at) else {
            return String::new();
        };
        let argument = operand.bound.argument;
        if argument.is_none() {
            return self.shown_argument(None);
        }
        let is_hidden = self.program.world.is_some() && operand.path().is_some();
        let text = match is_hidden {
            true => shorten(operand.bound.raw()),
            false => shorten(self.canonicalizer.text(operand, role)),
        };
        let text = match self.redacts(argument) {
            true => REDACTED.to_owned(),
            false => format!("{text:?}"),
        };
        format!("{}: {text}", self.shown_argument(argument))
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

    /// Returns `true` if a role of the argument redacts its values.
    pub(super) fn redacts(&self, argument: Option<usize>) -> bool {
        let Some(tool) = self.tool else { return false };
        let arguments = &tool.member(self.name_of(argument)).arguments;
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
