//! The checks before any rule (SPEC §8.1 to §8.3): a table, in their order, which is security-critical.

use super::StructuralRule;
use super::check::{Finding, deny};
use super::operand::{Form, Operand};
use super::{Case, Decision, Verdict, ceiling, domains, git, protected, world};
use crate::bind::Refusal;
use crate::cost::SANDBOX_DIRECTORIES;
use crate::model::SandboxOrder;
use crate::path::Unresolvable;
use crate::program::{RoleList, UnknownArguments};

/// A check, with the name that explanations give it.
type Check = (
    &'static str,
    for<'p, 'c, 'h> fn(&mut Case<'p, 'c, 'h>) -> Option<Finding<'p>>,
);

/// The checks of the call as it is, before any value has its canonical form.
const OF_CALL: [Check; 5] = [
    ("argument-shape", argument_shape),
    ("plain-names", plain_names),
    ("trusted-server", trusted_server),
    ("readable-arguments", readable_arguments),
    ("known-arguments", known_arguments),
];

/// The checks of its values in their canonical forms.
const OF_VALUES: [Check; 10] = [
    ("protected-paths", protected::check),
    ("introspection", introspection),
    ("capability-ceiling", ceiling::check),
    ("visibility", world::visibility),
    ("operations", world::operations),
    ("sandbox", sandbox),
    ("git-default-remote", git::default_remote),
    ("absent-branch", git::absent_branch),
    ("domain-allowlist", domains::check),
    ("unknown-tool", unknown_tool),
];

/// Runs every check, up to the first that decides; `None` leaves the call to the rules. Escalations are collected.
pub(super) fn run<'p>(case: &mut Case<'p, '_, '_>) -> Option<Verdict<'p>> {
    run_all(case, &OF_CALL)
        .or_else(|| run_all(case, &[("resolvable-values", resolvable_values)]))
        .or_else(|| run_all(case, &OF_VALUES))
}

/// Runs the checks of the values alone.
pub(super) fn run_of_values<'p>(case: &mut Case<'p, '_, '_>) -> Option<Verdict<'p>> {
    run_all(case, &OF_VALUES)
}

/// It ends where the host fails, since no answer counts from then on.
fn run_all<'p>(case: &mut Case<'p, '_, '_>, checks: &[Check]) -> Option<Verdict<'p>> {
    for (name, check) in checks {
        if case.canonicalizer.facts.has_failed() {
            return None;
        }
        match check(case) {
            _ if case.canonicalizer.facts.has_failed() => return None,
            None => {}
            Some(Finding::Escalate(verdict)) => {
                case.note_escalation(&verdict);
                case.findings.push(Finding::Escalate(verdict));
            }
            Some(Finding::EscalateFirst(verdict)) => {
                case.note_escalation(&verdict);
                case.findings.push(Finding::EscalateFirst(verdict));
            }
            Some(Finding::Decided(verdict, detail)) => {
                let passed = verdict.decision == Decision::Allow;
                if !matches!(verdict.decision, Decision::Escalate(_)) {
                    let detail = detail.unwrap_or_else(|| verdict.reason.to_string());
                    case.note(name, passed, || detail);
                }
                return Some(verdict);
            }
        }
    }
    None
}

fn argument_shape<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    let Some(Refusal::Shape(error)) = &case.arguments.refusal else {
        return None;
    };
    let reason = format!("Unreadable argument: {error}");
    let verdict = Verdict::deny(StructuralRule::UnreadableArgument, reason);
    Some(Finding::Decided(verdict, Some(error.to_string())))
}

/// Names decide who reads what, on a trusted server too.
fn plain_names<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    let fault = case.arguments.name_fault.as_ref()?;
    deny(
        StructuralRule::UnreadableArgument,
        format!("Unreadable call: {fault}"),
    )
}

fn trusted_server<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    if !case.settings.is_trusted {
        return None;
    }
    let reason = format!("Server \"{}\" is trusted", case.server());
    Some(Finding::Decided(
        Verdict::allow(StructuralRule::TrustedServer, reason),
        None,
    ))
}

/// Arguments that cannot be read, and limits.
fn readable_arguments<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    match &case.arguments.refusal {
        Some(Refusal::Unreadable(why)) => deny(
            StructuralRule::UnreadableArgument,
            format!("Unreadable argument: {why}"),
        ),
        Some(Refusal::Limit(why)) => deny(StructuralRule::Limit, format!("Limit exceeded: {why}")),
        // The shape was the first check.
        Some(Refusal::Shape(_)) | None => None,
    }
}

fn known_arguments<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    let at = case.arguments.unknown?;
    let (name, call) = (case.name_of(Some(at)), case.call);
    let reason = format!("Unknown argument: {name:?} of {}/{}", call.server, call.tool);
    match case.program.unknown_arguments {
        UnknownArguments::Schema | UnknownArguments::Deny => deny(StructuralRule::UnknownArgument, reason),
        UnknownArguments::Escalate => {
            case.note("known-arguments", false, || reason.clone());
            Some(Finding::Escalate(Verdict::escalate(
                Vec::new(),
                StructuralRule::UnknownArgument,
                reason,
            )))
        }
        UnknownArguments::Ignore => {
            case.note("known-arguments", false, || reason);
            None
        }
    }
}

/// Makes the canonical form of each value, up to the first that has none.
pub(super) fn resolvable_values<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
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

fn unresolvable<'p>(
    case: &Case<'p, '_, '_>,
    operand: &Operand<'p, '_>,
    why: &Unresolvable,
) -> Option<Finding<'p>> {
    let reason = format!("Unresolvable value of {}: {why}", case.shown_as_given(operand));
    match why {
        Unresolvable::TooLong { .. } => deny(StructuralRule::Limit, reason),
        Unresolvable::Several => deny(
            StructuralRule::UnreadableArgument,
            format!(
                "Unreadable argument: {}, which {why}",
                case.shown_as_given(operand)
            ),
        ),
        _ => deny(StructuralRule::UnresolvableValue, reason),
    }
}

fn introspection<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    let is_introspection = case.tool.is_some()
        && case.settings.is_introspection(&case.call.tool)
        && case.call.arguments.members().is_empty();
    if !is_introspection {
        return None;
    }
    let reason = "Introspection tool is always allowed";
    let verdict = Verdict::allow(StructuralRule::IntrospectionAllow, reason);
    Some(Finding::Decided(verdict, None))
}

/// Finds the sandbox-safe roles all of whose values lie within the sandbox.
fn sandbox<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
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
            .take_steps(given * directories / SANDBOX_DIRECTORIES);
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

fn unknown_tool<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
    if case.tool.is_some() {
        return None;
    }
    let reason = ["Unknown tool: ", case.server(), "/", &*case.call.tool].concat();
    deny(StructuralRule::UnknownTool, reason)
}
