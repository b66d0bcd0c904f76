//! The wording of reasons about the values of a call, so that whoever reads them finds the argument (SPEC §8.6).

use std::borrow::Cow;

use super::answers::text_of;
use super::asking::Asking;
use super::combine::{RoleVerdict, Undecided};
use super::counts::unsaid_count;
use super::inputs::Inputs;
use super::locations::{is_ungrantable, url_kind};
use super::operand::Operand;
use super::unjudged::unjudged_verdict;
use super::{StructuralRule, Verdict};
use crate::bind::{BoundValue, unsaid};
use crate::model::{Argument, Effect};
use crate::net::UrlKind;
use crate::program::{DEFAULT_REASON, UNDECIDED};
use crate::role::{REDACTED, RoleId};

/// The name of a value that the engine filled in.
const DEFAULT_REMOTE: &str = "the default remote";

/// The characters of a value that a reason shows.
const SHOWN: usize = 200;

const SANDBOX_REASON: &str = "All path roles resolved by sandbox containment";

pub(super) fn verdict_of<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    verdict: RoleVerdict,
    escalated: Vec<&'p str>,
) -> Verdict<'p> {
    let (effect, rule) = match verdict {
        RoleVerdict::Rule(effect, rule) => (effect, inputs.program.rule(rule)),
        RoleVerdict::Sandbox => return Verdict::allow(StructuralRule::SandboxAllow, SANDBOX_REASON),
        RoleVerdict::Unjudged(effect, lack) => return unjudged_verdict(inputs, effect, lack),
        RoleVerdict::Default(undecided) => {
            let reason = default_reason(inputs, asking, undecided);
            return Verdict::deny(StructuralRule::DefaultDeny, reason);
        }
    };
    if let Some((rule, counter)) = rule.and_then(|rule| Some((rule, unsaid_count(inputs, rule)?))) {
        let reason = format!(
            "The rule `{}` looks at how many calls `{counter}` has counted, which nobody says",
            rule.name
        );
        return Verdict::escalate(escalated, StructuralRule::UnknownCount, reason);
    }
    let (name, reason) = rule.map_or(("", ""), |rule| (&*rule.name, &*rule.reason));
    match effect {
        Effect::Allow => Verdict::allow(name, reason),
        Effect::Escalate => Verdict::escalate(escalated, name, reason),
        Effect::Deny => Verdict::deny(name, reason),
    }
}

fn default_reason<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking, undecided: Undecided) -> Cow<'p, str> {
    match undecided {
        Undecided::Call => {
            let known = inputs.tool.and_then(|tool| tool.default_reason.as_deref());
            known.unwrap_or(DEFAULT_REASON).into()
        }
        Undecided::Role(role, value) if inputs.names_arguments() => {
            let undecided = shown_undecided(inputs, asking, role, value);
            [DEFAULT_REASON, UNDECIDED, &undecided].concat().into()
        }
        Undecided::Role(..) => DEFAULT_REASON.into(),
    }
}

/// The verdict for a host failure, or for too much work. The host's message is withheld when it could reveal paths.
pub(super) fn host_failure<'p>(inputs: &Inputs, asking: &mut Asking) -> Verdict<'p> {
    if asking.canonicalizer.facts.is_exhausted() {
        let steps = inputs.program.limits.steps;
        let reason = format!("Limit exceeded: judging the call takes more than steps = {steps} steps");
        asking.note("steps", false, || reason.clone());
        return Verdict::deny(StructuralRule::Limit, reason);
    }
    let hides = inputs.has_addresses();
    let message = match asking.canonicalizer.facts.failure() {
        Some(error) if !hides => Some(error.message.clone()),
        Some(_) | None => None,
    };
    let reason = match &message {
        Some(message) => format!("The host failed to answer: {message}"),
        None => "The host failed to answer".to_owned(),
    };
    asking.note("host", false, || {
        message.unwrap_or_else(|| "the host failed".to_owned())
    });
    Verdict::deny(StructuralRule::HostError, reason)
}

/// `argument "path"`.
pub(super) fn shown_argument(inputs: &Inputs, argument: usize) -> String {
    format!("argument {:?}", inputs.name_of(Some(argument)))
}

/// The same of a value, or what the engine filled in.
pub(super) fn shown_source(inputs: &Inputs, bound: &BoundValue<'_, '_>) -> String {
    match (bound.argument, bound.absent) {
        (Some(argument), _) => shown_argument(inputs, argument),
        (None, Some(argument)) => format!("argument {:?}, which is absent", argument.name.to_string()),
        (None, None) => DEFAULT_REMOTE.to_owned(),
    }
}

/// `argument "path": "~/x"`, as it was given; the value is cut where it is long, and withheld where its role redacts
/// it.
pub(super) fn shown_as_given(inputs: &Inputs, operand: &Operand<'_, '_>) -> String {
    let text = match inputs.redacts(inputs.name_of_value(&operand.bound)) {
        true => REDACTED.to_owned(),
        false => format!("{:?}", shorten(operand.bound.raw())),
    };
    format!("{}: {text}", shown_source(inputs, &operand.bound))
}

/// The same in the form that policy sees under the role, which is that of what is sent as well. In an engine with a
/// world a path stays as it was given.
pub(super) fn shown_as_judged(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> String {
    let Some(operand) = inputs.operands.get(at) else {
        return String::new();
    };
    if operand.bound.is_filled_in() {
        return DEFAULT_REMOTE.to_owned();
    }
    let is_hidden = inputs.program.world.is_some() && operand.path().is_some();
    let text = match is_hidden {
        true => shorten(operand.bound.raw()),
        false => shorten(text_of(inputs, asking, at, role)),
    };
    let text = match inputs.redacts(inputs.name_of_value(&operand.bound)) {
        true => REDACTED.to_owned(),
        false => format!("{text:?}"),
    };
    format!("{}: {text}", shown_source(inputs, &operand.bound))
}

/// The end of the reason of the default denial: what no rule decides about.
fn shown_undecided(inputs: &Inputs, asking: &mut Asking, role: RoleId, value: Option<usize>) -> String {
    let name = inputs.program.registry.name(role);
    let Some(at) = value else {
        let unsaid = unsaid_of(inputs, role).unwrap_or_default();
        return format!("the role `{name}`, which has no value in this call{unsaid}");
    };
    let shown = shown_as_judged(inputs, asking, at, role);
    let is_url = inputs.program.url_roles.contains(role);
    let why = match is_url && is_ungrantable(inputs, asking, at, role) {
        false => "",
        true => match url_kind(role, inputs.program.registry.get(role)) {
            UrlKind::GitRemote => {
                ", and no rule allows a remote that is not clearly an `https`, `http`, `ssh` or `git` URL with a host"
            }
            UrlKind::Fetch | UrlKind::AsGiven | UrlKind::Bare => {
                ", and no rule allows a value that is not clearly an `http` or `https` URL with a host"
            }
        },
    };
    format!("the `{name}` of {shown}{why}")
}

/// The end of a reason about a role without a value, where the call does not give an argument that bears it, and nobody says
/// what that means.
pub(super) fn unsaid_of(inputs: &Inputs, role: RoleId) -> Option<String> {
    let tool = inputs.tool.filter(|_| inputs.names_arguments())?;
    let mut open = inputs.arguments.open.iter();
    let has_role = |argument: &&&Argument| {
        let mut arguments = tool.arguments.iter();
        let at = arguments.position(|one| std::ptr::eq(one, **argument));
        at.is_some_and(|at| inputs.arguments.resolved.set_of(at).contains(role))
    };
    let is_alone = !inputs
        .operands
        .iter()
        .any(|one| one.bound.role_set.contains(role));
    let argument = open.find(has_role).filter(|_| is_alone)?;
    Some(unsaid(&argument.name))
}

/// The end of the reason of a rule that holds for a role, where the call has no value under it.
pub(super) fn without_value(inputs: &Inputs, role: RoleId) -> Option<String> {
    let has_value = inputs
        .operands
        .iter()
        .any(|one| one.bound.role_set.contains(role));
    if has_value || !inputs.names_arguments() {
        return None;
    }
    let other = || {
        format!(
            ": the call has no value under the role `{}`",
            inputs.program.registry.name(role)
        )
    };
    Some(unsaid_of(inputs, role).unwrap_or_else(other))
}

/// The beginning of a text that is long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
