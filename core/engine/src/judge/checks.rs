//! The checks before any rule (SPEC §8.1 to §8.3): a table, in their order, which is security-critical.

use super::asking::Asking;
use super::check::{Checked, Finding, deny};
use super::inputs::Inputs;
use super::operands::resolvable_values;
use super::{Decision, StructuralRule, Verdict, ceiling, domains, git, protected, world};
use crate::bind::Refusal;
use crate::cost::SANDBOX_DIRECTORIES;
use crate::model::SandboxOrder;
use crate::program::{RoleList, UnknownArguments};
use crate::role::RoleSet;

/// A check, with the name that explanations give it.
type Check = (
    &'static str,
    for<'p> fn(&Inputs<'p, '_>, &mut Asking) -> Option<Finding<'p>>,
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
const OF_VALUES: [Check; 6] = [
    ("protected-paths", protected::check),
    ("introspection", introspection),
    ("capability-ceiling", ceiling::check),
    ("visibility", world::visibility),
    ("operations", world::operations),
    ("sandbox", sandbox),
];

/// The checks of everything that the call names, absent remotes among it.
const OF_ALL: [Check; 2] = [
    ("domain-allowlist", domains::check),
    ("unknown-tool", unknown_tool),
];

/// Runs every check, up to the first that decides. Between them the values get their forms, and absent remotes their URLs.
pub(super) fn run<'p>(inputs: &mut Inputs<'p, '_>, asking: &mut Asking) -> Checked<'p> {
    let mut checked = Checked::default();
    checked.run(&OF_CALL, inputs, asking);
    if checked.is_going_on(asking) {
        let found = resolvable_values(inputs, asking);
        checked.add("resolvable-values", found, asking);
    }
    run_of_values(&mut checked, inputs, asking);
    checked
}

/// Runs the checks of the values alone.
pub(super) fn run_of_values<'p>(checked: &mut Checked<'p>, inputs: &mut Inputs<'p, '_>, asking: &mut Asking) {
    checked.run(&OF_VALUES, inputs, asking);
    if checked.is_going_on(asking) {
        let found = git::fill_in(inputs, asking);
        checked.add("git-default-remote", found, asking);
    }
    checked.run(&OF_ALL, inputs, asking);
}

impl<'p> Checked<'p> {
    /// Returns `true` if nothing has decided, and the host has not failed, since no answer counts from then on.
    fn is_going_on(&self, asking: &Asking) -> bool {
        self.decided.is_none() && !asking.has_failed()
    }

    fn run(&mut self, checks: &[Check], inputs: &Inputs<'p, '_>, asking: &mut Asking) {
        for (name, check) in checks {
            if !self.is_going_on(asking) {
                break;
            }
            let found = check(inputs, asking);
            self.add(name, found, asking);
        }
    }

    fn add(&mut self, name: &'static str, found: Option<Finding<'p>>, asking: &mut Asking) {
        match found {
            _ if asking.has_failed() => {}
            None => {}
            Some(Finding::Escalate(verdict)) => self.possible.push(verdict),
            Some(Finding::EscalateFirst(verdict)) => self.certain.push(verdict),
            Some(Finding::Sandboxed(roles)) => self.sandboxed = roles,
            Some(Finding::PlacesAllowed) => self.may_forward_places = true,
            Some(Finding::Decided(verdict, detail)) => {
                let passed = verdict.decision == Decision::Allow;
                if !matches!(verdict.decision, Decision::Escalate(_)) {
                    let detail = detail.unwrap_or_else(|| verdict.reason.to_string());
                    asking.note(name, passed, || detail);
                }
                self.decided = Some(verdict);
            }
        }
    }
}

fn argument_shape<'p>(inputs: &Inputs<'p, '_>, _: &mut Asking) -> Option<Finding<'p>> {
    let Some(Refusal::Shape(error)) = &inputs.arguments.refusal else {
        return None;
    };
    let reason = format!("Unreadable argument: {error}");
    let verdict = Verdict::deny(StructuralRule::UnreadableArgument, reason);
    Some(Finding::Decided(verdict, Some(error.to_string())))
}

/// Names decide who reads what, on a trusted server too.
fn plain_names<'p>(inputs: &Inputs<'p, '_>, _: &mut Asking) -> Option<Finding<'p>> {
    let fault = inputs.arguments.name_fault.as_ref()?;
    deny(
        StructuralRule::UnreadableArgument,
        format!("Unreadable call: {fault}"),
    )
}

fn trusted_server<'p>(inputs: &Inputs<'p, '_>, _: &mut Asking) -> Option<Finding<'p>> {
    if !inputs.settings.is_trusted {
        return None;
    }
    let reason = format!("Server \"{}\" is trusted", inputs.server());
    Some(Finding::Decided(
        Verdict::allow(StructuralRule::TrustedServer, reason),
        None,
    ))
}

/// Arguments that cannot be read, and limits.
fn readable_arguments<'p>(inputs: &Inputs<'p, '_>, _: &mut Asking) -> Option<Finding<'p>> {
    match &inputs.arguments.refusal {
        Some(Refusal::Unreadable(why)) => deny(
            StructuralRule::UnreadableArgument,
            format!("Unreadable argument: {why}"),
        ),
        Some(Refusal::Limit(why)) => deny(StructuralRule::Limit, format!("Limit exceeded: {why}")),
        // The shape was the first check.
        Some(Refusal::Shape(_)) | None => None,
    }
}

fn known_arguments<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    let at = inputs.arguments.unknown?;
    let (name, call) = (inputs.name_of(Some(at)), inputs.call);
    let reason = format!("Unknown argument: {name:?} of {}/{}", call.server, call.tool);
    match inputs.program.unknown_arguments {
        UnknownArguments::Schema | UnknownArguments::Deny => deny(StructuralRule::UnknownArgument, reason),
        UnknownArguments::Escalate => {
            asking.note("known-arguments", false, || reason.clone());
            Some(Finding::Escalate(Verdict::escalate(
                Vec::new(),
                StructuralRule::UnknownArgument,
                reason,
            )))
        }
        UnknownArguments::Ignore => {
            asking.note("known-arguments", false, || reason);
            None
        }
    }
}

fn introspection<'p>(inputs: &Inputs<'p, '_>, _: &mut Asking) -> Option<Finding<'p>> {
    let is_introspection = inputs.tool.is_some()
        && inputs.settings.is_introspection(&inputs.call.tool)
        && inputs.call.arguments.members().is_empty();
    if !is_introspection {
        return None;
    }
    let reason = "Introspection tool is always allowed";
    let verdict = Verdict::allow(StructuralRule::IntrospectionAllow, reason);
    Some(Finding::Decided(verdict, None))
}

/// Finds the sandbox-safe roles all of whose values lie within the sandbox.
fn sandbox<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    let program = inputs.program;
    let decides = program.sandbox_order == SandboxOrder::BeforeRules && inputs.settings.is_sandboxed;
    if program.sandbox.is_empty() || !decides || !inputs.roles.intersects(program.sandbox_roles) {
        return None;
    }
    let mut sandboxed = RoleSet::default();
    let mut found = RoleList::new();
    let roles = inputs.arguments.resolved.ordered(&mut found).iter().copied();
    for role in roles.filter(|role| program.sandbox_roles.contains(*role)) {
        let operands = inputs.operands.iter();
        let values = operands.filter(|operand| operand.bound.role_set.contains(role));
        if values.clone().next().is_none() {
            continue;
        }
        let (given, directories) = (inputs.operands.len(), program.sandbox.len());
        asking.take_steps(given * directories / SANDBOX_DIRECTORIES);
        let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
        if values.clone().all(|operand| sandbox.holds(operand)) {
            sandboxed.insert(role);
            if let Some(trace) = &mut asking.trace {
                let (name, within) = (inputs.program.registry.name(role), sandbox.shown_around(values));
                trace.check(
                    "sandbox",
                    true,
                    format!("every `{name}` value lies within {within}"),
                );
            }
        }
    }
    Some(Finding::Sandboxed(sandboxed))
}

fn unknown_tool<'p>(inputs: &Inputs<'p, '_>, _: &mut Asking) -> Option<Finding<'p>> {
    if inputs.tool.is_some() {
        return None;
    }
    let reason = ["Unknown tool: ", inputs.server(), "/", &*inputs.call.tool].concat();
    deny(StructuralRule::UnknownTool, reason)
}
