//! The checks before any rule (SPEC §8.1 to §8.3): a table, in their order, which is security-critical.

use super::check::{Check, Checked, deny};
use super::operand::{Form, Operand};
use super::{Case, Verdict, ceiling, domains, git, protected, world};
use crate::bind::Refusal;
use crate::model::SandboxOrder;
use crate::path::Unresolvable;
use crate::program::{RoleList, UnknownArguments};

/// Comparisons of a path with a directory of the sandbox that count as one step.
const COMPARED: usize = 4;

/// Every check, by the name that explanations give it. The first that decides ends the judgement. Most do not apply to most
/// calls, so that it counts how little is done to find that out.
macro_rules! checks {
    ($($name:literal => $check:path,)+) => {
        /// Runs the checks in order, but for the first `done`. The verdict of the one that decides; `None` leaves the call
        /// to the rules. It ends where the host fails, since no answer counts from then on.
        pub(super) fn run<'p>(case: &mut Case<'p, '_, '_>, done: usize) -> Option<Verdict<'p>> {
            let mut count = 0;
            $(
                count += 1;
                if count > done {
                    let found = $check(case);
                    if case.canonicalizer.facts.has_failed() {
                        return None;
                    }
                    if let Some(found) = found
                        && let Some(decided) = decided_by(case, count, $name, *found)
                    {
                        return Some(decided);
                    }
                }
            )+
            None
        }
    };
}

/// How many checks there are up to `resolvable-values`, after which every value has its canonical form.
pub(super) const RESOLVED: usize = 6;

checks! {
    "argument-shape" => argument_shape,
    "plain-names" => plain_names,
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

/// Keeps what a check says, by its number and name; the verdict, if it decides.
#[cold]
fn decided_by<'p>(
    case: &mut Case<'p, '_, '_>,
    number: usize,
    name: &'static str,
    found: Check<'p>,
) -> Option<Verdict<'p>> {
    match found {
        Check::Escalate(verdict) => {
            case.note_escalation(&verdict);
            case.escalated.get_or_insert(verdict);
            None
        }
        Check::Allow(verdict) => {
            case.note(name, true, || verdict.reason.to_string());
            Some(verdict)
        }
        Check::Deny(verdict, detail) => {
            case.note(name, false, || {
                detail.unwrap_or_else(|| verdict.reason.to_string())
            });
            Some(verdict)
        }
        Check::EscalateNow(verdict) => {
            case.early = Some(number);
            Some(verdict)
        }
    }
}

fn argument_shape<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    let Some(Refusal::Shape(error)) = &case.arguments.refusal else {
        return None;
    };
    let reason = format!("Unreadable argument: {error}");
    let verdict = Verdict::deny("structural-unreadable-argument", reason);
    Some(Box::new(Check::Deny(verdict, Some(error.to_string()))))
}

/// Names decide who reads what, on a trusted server too.
fn plain_names<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    let fault = case.arguments.name_fault.as_ref()?;
    deny(
        "structural-unreadable-argument",
        format!("Unreadable call: {fault}"),
    )
}

fn trusted_server<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    if !case.settings.is_trusted {
        return None;
    }
    let reason = format!("Server \"{}\" is trusted", case.server());
    Some(Box::new(Check::Allow(Verdict::allow("trusted-server", reason))))
}

/// Arguments that cannot be read, and limits.
fn readable_arguments<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    match &case.arguments.refusal {
        Some(Refusal::Unreadable(why)) => deny(
            "structural-unreadable-argument",
            format!("Unreadable argument: {why}"),
        ),
        Some(Refusal::Limit(why)) => deny("structural-limit", format!("Limit exceeded: {why}")),
        // The shape was the first check.
        Some(Refusal::Shape(_)) | None => None,
    }
}

fn known_arguments<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    const RULE: &str = "structural-unknown-argument";
    let at = case.arguments.unknown?;
    let (name, call) = (case.name_of(Some(at)), case.call);
    let reason = format!("Unknown argument: {name:?} of {}/{}", call.server, call.tool);
    match case.program.unknown_arguments {
        UnknownArguments::Schema | UnknownArguments::Deny => deny(RULE, reason),
        UnknownArguments::Escalate => {
            case.note("known-arguments", false, || reason.clone());
            Some(Box::new(Check::Escalate(Verdict::escalate(
                Vec::new(),
                RULE,
                reason,
            ))))
        }
        UnknownArguments::Ignore => {
            case.note("known-arguments", false, || reason);
            None
        }
    }
}

/// Makes the canonical form of each value, up to the first that has none.
pub(super) fn resolvable_values<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    let context = case.call.context();
    while let Some(bound) = case.next_pending() {
        let base = case.base_of(&bound);
        case.canonicalizer.facts.take_steps(1);
        case.operands.push(Operand::new(bound, Form::Text));
        if let Some(operand) = case.operands.last_mut() {
            case.canonicalizer.canonicalize(operand, base, context);
        }
        if let Some(operand) = case.operands.last()
            && let Form::Unresolvable(why) = &operand.form
        {
            return unresolvable(case, operand, why);
        }
        if case.canonicalizer.facts.has_failed() {
            break;
        }
    }
    case.note_held("resolvable-values", "every resource value has a canonical form");
    None
}

#[cold]
fn unresolvable<'p>(case: &Case<'p, '_, '_>, operand: &Operand<'p, '_>, why: &Unresolvable) -> Checked<'p> {
    let reason = format!("Unresolvable value of {}: {why}", case.shown_as_given(operand));
    match why {
        Unresolvable::TooLong { .. } => deny("structural-limit", reason),
        Unresolvable::Several => deny(
            "structural-unreadable-argument",
            format!(
                "Unreadable argument: {}, which {why}",
                case.shown_as_given(operand)
            ),
        ),
        _ => deny("structural-unresolvable-value", reason),
    }
}

fn introspection<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    let is_introspection = case.tool.is_some()
        && case.settings.is_introspection(&case.call.tool)
        && case.call.arguments.members().is_empty();
    if !is_introspection {
        return None;
    }
    let reason = "Introspection tool is always allowed";
    Some(Box::new(Check::Allow(Verdict::allow(
        "structural-introspection-allow",
        reason,
    ))))
}

/// Finds the sandbox-safe roles all of whose values lie within the sandbox.
fn sandbox<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    let program = case.program;
    let decides = program.sandbox_order == SandboxOrder::BeforeRules && case.settings.is_sandboxed;
    if program.sandbox.is_empty() || !decides || !case.tool_roles.intersects(program.sandbox_roles) {
        return None;
    }
    let mut found = RoleList::new();
    let roles = case.arguments.resolved.ordered(&mut found).iter().copied();
    for role in roles.filter(|role| program.sandbox_roles.contains(*role)) {
        let operands = case.operands.iter();
        let values = operands.filter(|operand| operand.bound.role_set.contains(role));
        if values.clone().next().is_none() {
            continue;
        }
        let (given, directories) = (case.operands.len(), program.sandbox.len());
        case.canonicalizer
            .facts
            .take_steps(given * directories / COMPARED);
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
    None
}

fn unknown_tool<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    if case.tool.is_some() {
        return None;
    }
    let reason = ["Unknown tool: ", case.server(), "/", &*case.call.tool].concat();
    deny("structural-unknown-tool", reason)
}
