//! The checks before any rule (SPEC §8.1 to §8.3): a table, in their order, which is security-critical.

use super::check::{Check, deny};
use super::operand::{Form, Operand};
use super::{Case, Verdict, ceiling, domains, git, protected, world};
use crate::bind::Refusal;
use crate::model::{SandboxOrder, ServerKind};
use crate::path::Unresolvable;
use crate::program::UnknownArguments;
use crate::seed::INTROSPECTION_TOOL;

/// What all checks say.
pub(super) struct Outcome<'p> {
    /// The verdict of the check that decided; `None` leaves the call to the rules.
    pub(super) decided: Option<Verdict<'p>>,
    /// The first escalation that stands unless the call is denied.
    pub(super) escalated: Option<Verdict<'p>>,
    /// How many checks came up, if they ended with an escalation that asks nothing else.
    pub(super) early: Option<usize>,
}

/// Every check, by the name that explanations give it. The first that decides ends the judgement. Most do not apply to most
/// calls, so that it counts how little is done to find that out.
macro_rules! checks {
    ($($name:literal => $check:path,)+) => {
        /// Runs the checks in order, but for the first `done`. It ends where the host fails, since no answer counts from
        /// then on.
        pub(super) fn run<'p>(case: &mut Case<'p, '_, '_>, done: usize) -> Outcome<'p> {
            let mut outcome = Outcome {
                decided: None,
                escalated: None,
                early: None,
            };
            let mut count = 0;
            $(
                count += 1;
                if count > done {
                    let found = $check(case);
                    if case.canonicalizer.facts.has_failed() {
                        return outcome;
                    }
                    if !matches!(found, Check::Pass) && outcome.ends_with(case, count, $name, found) {
                        return outcome;
                    }
                }
            )+
            outcome
        }
    };
}

checks! {
    "argument-shape" => argument_shape,
    "trusted-server" => trusted_server,
    "readable-arguments" => readable_arguments,
    "known-arguments" => known_arguments,
    "resolvable-values" => resolvable_values,
    "protected-paths" => protected::check,
    "introspection" => introspection,
    "capability-ceiling" => ceiling::check,
    "visibility" => world::visibility,
    "operations" => world::operations,
    "sandbox" => sandbox,
    "git-default-remote" => git::default_remote,
    "absent-branch" => git::absent_branch,
    "domain-allowlist" => domains::check,
    "unknown-tool" => unknown_tool,
}

impl<'p> Outcome<'p> {
    /// Adds what a check says, by its number and name; whether that is the end.
    fn ends_with(
        &mut self,
        case: &mut Case<'p, '_, '_>,
        number: usize,
        name: &'static str,
        found: Check<'p>,
    ) -> bool {
        let decided = match found {
            Check::Pass => return false,
            Check::Holds(detail) => {
                case.note(name, true, || detail.to_owned());
                return false;
            }
            Check::Escalate(verdict) => {
                case.note_escalation(&verdict);
                self.escalated.get_or_insert(verdict);
                return false;
            }
            Check::Allow(verdict) => {
                case.note(name, true, || verdict.reason.to_string());
                verdict
            }
            Check::Deny(verdict, detail) => {
                case.note(name, false, || {
                    detail.unwrap_or_else(|| verdict.reason.to_string())
                });
                verdict
            }
            Check::EscalateNow(verdict) => {
                self.early = Some(number);
                verdict
            }
        };
        self.decided = Some(decided);
        true
    }
}

fn argument_shape<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    let Some(Refusal::Shape(error)) = &case.arguments.refusal else {
        return Check::Pass;
    };
    let reason = format!("Unreadable argument: {error}");
    Check::Deny(
        Verdict::deny("structural-unreadable-argument", reason),
        Some(error.to_string()),
    )
}

fn trusted_server<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    if !case.settings.is_trusted {
        return Check::Pass;
    }
    let reason = format!("Server \"{}\" is trusted", case.server());
    Check::Allow(Verdict::allow("trusted-server", reason))
}

/// Arguments that cannot be read, and limits.
fn readable_arguments<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    match &case.arguments.refusal {
        Some(Refusal::Unreadable(why)) => deny(
            "structural-unreadable-argument",
            format!("Unreadable argument: {why}"),
        ),
        Some(Refusal::Limit(why)) => deny("structural-limit", format!("Limit exceeded: {why}")),
        // The shape was the first check.
        Some(Refusal::Shape(_)) | None => Check::Pass,
    }
}

fn known_arguments<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    const RULE: &str = "structural-unknown-argument";
    let Some(at) = case.arguments.unknown else {
        return Check::Pass;
    };
    let (name, call) = (case.name_of(Some(at)), case.call);
    let reason = format!("Unknown argument: {name:?} of {}/{}", call.server, call.tool);
    match case.program.unknown_arguments {
        UnknownArguments::Schema | UnknownArguments::Deny => deny(RULE, reason),
        UnknownArguments::Escalate => {
            case.note("known-arguments", false, || reason.clone());
            Check::Escalate(Verdict::escalate(Vec::new(), RULE, reason))
        }
        UnknownArguments::Ignore => {
            case.note("known-arguments", false, || reason);
            Check::Pass
        }
    }
}

/// Makes the canonical form of each value, up to the first that has none.
pub(super) fn resolvable_values<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    let context = case.call.context();
    while let Some(bound) = case.pending.next() {
        let base = case.base_of(&bound);
        case.canonicalizer.facts.take_steps(1);
        let operand = case.canonicalizer.operand(bound, base, context);
        let denial = match &operand.form {
            Form::Unresolvable(why) => Some(unresolvable(case, &operand, why)),
            Form::Path { .. } | Form::Address(_) | Form::Text | Form::Unknown => None,
        };
        case.operands.push(operand);
        if let Some(denial) = denial {
            return denial;
        }
        if case.canonicalizer.facts.has_failed() {
            break;
        }
    }
    Check::Holds("every resource value has a canonical form")
}

fn unresolvable<'p>(case: &Case<'p, '_, '_>, operand: &Operand<'p, '_>, why: &Unresolvable) -> Check<'p> {
    let reason = format!("Unresolvable value of {}: {why}", case.shown_as_given(operand));
    match why {
        Unresolvable::TooLong { .. } => deny("structural-limit", reason),
        _ => deny("structural-unresolvable-value", reason),
    }
}

fn introspection<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    let is_introspection = case.tool.is_some()
        && case.settings.kind == Some(ServerKind::Filesystem)
        && case.call.tool == INTROSPECTION_TOOL
        && case.call.arguments.members().is_empty();
    if !is_introspection {
        return Check::Pass;
    }
    let reason = "Introspection tool is always allowed";
    Check::Allow(Verdict::allow("structural-introspection-allow", reason))
}

/// Finds the sandbox-safe roles all of whose values lie within the sandbox.
fn sandbox<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    let program = case.program;
    let decides = program.sandbox_order == SandboxOrder::BeforeRules && case.settings.is_sandboxed;
    if program.sandbox.is_empty() || !decides || !case.tool_roles.intersects(program.sandbox_roles) {
        return Check::Pass;
    }
    for role in case.arguments.resolved.distinct(program.sandbox_roles) {
        let operands = case.operands.iter();
        let values = operands.filter(|operand| operand.bound.role_set.contains(role));
        if values.clone().next().is_none() {
            continue;
        }
        let sandbox = case.directories.sandbox(&mut case.canonicalizer);
        if values.clone().all(|operand| sandbox.holds(operand)) {
            case.sandboxed.insert(role);
            if let Some(trace) = &mut case.trace {
                let (name, within) = (case.program.registry.name(role), sandbox.shown_around(values));
                trace.check(
                    "sandbox",
                    true,
                    format!("every `{name}` value lies within {within}"),
                );
            }
        }
    }
    Check::Pass
}

fn unknown_tool<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    if case.tool.is_some() {
        return Check::Pass;
    }
    let reason = ["Unknown tool: ", case.server(), "/", &*case.call.tool].concat();
    deny("structural-unknown-tool", reason)
}
