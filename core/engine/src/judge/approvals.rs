//! Approvals (SPEC §9): they turn an escalation of a call into permission, and never touch any other verdict.
//!
//! The canonical values that were judged are compared, in the same evaluation. An approval must cover everything that
//! escalated: it does not cover a role that none of its constraints names, a rule that it does not name, or anything
//! that is not a value of a resource role.

mod measured;

use std::collections::{BTreeMap, BTreeSet};

use super::asking::Asking;
use super::domains;
use super::inputs::Inputs;
use super::listed::{list_arguments, list_conditions};
use super::reason::host_failure;
use super::{Decision, StructuralRule, Verdict};
use crate::approval::{Approval, ApprovalConstraint, Approving, ArgumentConstraint, Moment, Offer, describe};
use crate::cost;
use crate::model::Effect;
use crate::program::{Program, RuleId};
use crate::role::{RoleId, RoleSet};
use crate::sort;
use crate::text::is_at_or_below;
use measured::{constraints_of, measures_of};

/// The name that explanations give to this step.
const CHECK: &str = "approvals";

/// Why an approval is passed over although it might cover the call.
const TOO_MUCH: &str = "is not compared, because that would take too many steps";

/// The roles of which git changes the history: what is approved is one repository, not what lies below it.
const HISTORY: [RoleId; 2] = [RoleId::WRITE_HISTORY, RoleId::DELETE_HISTORY];

/// Everything that escalates in a call.
#[derive(Default)]
pub(super) struct Escalated {
    /// The roles that escalated, each once.
    roles: Vec<RoleId>,
    /// The checks and rules that escalated, as far as a verdict names them.
    rules: BTreeSet<Box<str>>,
    /// `true` if something escalated that is not a value of a role.
    is_open: bool,
    /// The rule that would deny the call, where an escalation by a check has left the rules unasked.
    denied_by: Option<Box<str>>,
}

impl Escalated {
    /// Adds what a verdict says of an escalated.
    pub(super) fn add(&mut self, program: &Program, verdict: &Verdict<'_>) {
        let Decision::Escalate(roles) = &verdict.decision else {
            return;
        };
        self.is_open |= roles.is_empty();
        self.rules.insert(verdict.rule.as_ref().into());
        for role in roles.iter().filter_map(|name| program.registry.find(name)) {
            if !self.roles.contains(&role) {
                self.roles.push(role);
            }
        }
    }

    /// Adds what the rules say that a check left unasked: an approval must not get around a denial.
    pub(super) fn add_unasked(&mut self, program: &Program, rest: &Verdict<'_>) {
        self.add(program, rest);
        if rest.decision == Decision::Deny {
            self.denied_by = Some(rest.rule.as_ref().into());
        }
    }
}

/// The values, rules and arguments that an approval has to cover.
struct Needed {
    roles: Vec<RoleId>,
    rules: BTreeSet<Box<str>>,
    args: Vec<ArgumentConstraint>,
}

/// The canonical values by their role; `None` if one of them cannot be constrained.
type Measures = BTreeMap<RoleId, Option<BTreeSet<String>>>;

/// The constraints of an approval that would cover the call. `None` if it does not escalate, and if something that
/// escalates cannot be constrained.
pub(super) fn offer(
    inputs: &Inputs,
    asking: &mut Asking,
    verdict: Verdict<'_>,
    escalated: Escalated,
) -> Option<Offer> {
    if !matches!(verdict.decision, Decision::Escalate(_)) || asking.lacks_counts {
        return None;
    }
    let mut steps = inputs.program.limits.steps / cost::APPROVALS;
    let Needed { roles, rules, args } = needed(inputs, asking, escalated, &mut steps).ok()?;
    let most = inputs.program.limits.approval_constraints;
    let mut constraints: Vec<ApprovalConstraint> = Vec::new();
    for role in roles {
        let found = constraints_of(inputs, asking, role)?;
        if found.is_empty() {
            return None;
        }
        for constraint in found {
            if !constraints.contains(&constraint) {
                constraints.push(constraint);
            }
        }
        if constraints.len() > most {
            return None;
        }
    }
    let (server_name, tool_name) = (inputs.call.server().to_owned(), inputs.call.tool().to_owned());
    let is_bounded = rules.len() <= most && !(constraints.is_empty() && args.is_empty());
    let is_offered = is_bounded && !asking.has_failed();
    is_offered.then(|| Offer {
        description: describe(&server_name, &tool_name, &constraints, &args),
        server_name,
        tool_name,
        constraints,
        args,
        rules: Some(rules.into_iter().map(String::from).collect()),
        created_at: None,
        expires_at: None,
        source_escalation_id: None,
        original_reason: Some(verdict.reason.into_owned()),
        layer: None,
    })
}

/// The verdict on a call that escalates, where these approvals may cover it.
pub(super) fn approve<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    approving: Approving<'_>,
    verdict: Verdict<'p>,
    escalated: Escalated,
) -> Verdict<'p> {
    if asking.lacks_counts {
        asking.note(CHECK, false, || {
            "nobody says how many calls were counted".to_owned()
        });
        return verdict;
    }
    let mut approvals = approving.of_tool(&inputs.call.server, &inputs.call.tool);
    approvals.truncate(inputs.program.limits.approvals);
    if approvals.is_empty() {
        asking.note(CHECK, false, || "no approval is about this tool".to_owned());
        return verdict;
    }
    let mut steps = inputs.program.limits.steps / cost::APPROVALS;
    let needed = needed(inputs, asking, escalated, &mut steps);
    if asking.has_failed() {
        return host_failure(inputs, asking);
    }
    let needed = match needed {
        Ok(needed) => needed,
        Err(why) => {
            asking.note(CHECK, false, || why);
            return verdict;
        }
    };
    let (mut measures, mut found) = (Measures::new(), None);
    for approval in approvals {
        match gap(
            inputs,
            asking,
            approval,
            approving.now,
            &needed,
            &mut measures,
            &mut steps,
        ) {
            Some(why) => asking.note(CHECK, false, || format!("{:?} {why}", approval.id())),
            None => {
                found = Some(approval);
                break;
            }
        }
    }
    // Reading a value for the first time may have asked the host.
    if asking.has_failed() {
        return host_failure(inputs, asking);
    }
    let Some(approval) = found else { return verdict };
    let (id, rule) = (approval.id(), &verdict.rule);
    asking.note(CHECK, true, || {
        format!("{id:?} covers what {rule:?} escalates: {}", verdict.reason)
    });
    // An agent learns nothing of the host's paths where there is a world.
    let reason = match &inputs.program.world {
        Some(_) => format!("Approval {id:?} covers the call"),
        None => format!(
            "Approval {id:?} covers the call: {:?}",
            approval.offer().description
        ),
    };
    Verdict::approved(id, reason)
}

/// The values and rules that an approval has to cover, or why none can.
fn needed(
    inputs: &Inputs,
    asking: &mut Asking,
    mut escalated: Escalated,
    steps: &mut usize,
) -> Result<Needed, String> {
    let held = asking.held.take().unwrap_or_default();
    if let Some(rule) = escalated.denied_by {
        return Err(format!("{rule:?} would deny the call"));
    }
    let is_whole = escalated.is_open;
    if is_whole && !ask_by_arguments(inputs, &held, &escalated.rules) {
        return Err("what escalates is not a value of a resource role".to_owned());
    }
    if escalated.rules.contains(StructuralRule::DomainEscalate.as_str()) {
        escalated.roles.extend(domains::roles_outside(inputs, asking));
    }
    let resources: RoleSet = inputs.roles.intersection(inputs.program.resource_roles);
    let mut args = Vec::new();
    for rule in held.iter().filter_map(|id| inputs.program.rule(*id)) {
        if rule.effect != Effect::Escalate {
            continue;
        }
        if !rule.arguments.is_empty() && !list_conditions(inputs, rule, &mut args) {
            return Err(format!(
                "{:?} asks because of arguments that an approval does not constrain",
                rule.name
            ));
        }
        escalated.rules.insert(rule.name.clone());
        // The outcome of a rule may depend on the values of further roles.
        let roles = match rule.relevant.intersects(resources) {
            true => rule
                .lists
                .iter()
                .fold(RoleSet::default(), |all, list| all.union(list.roles)),
            false => rule.named,
        };
        let others = roles.intersection(inputs.roles);
        escalated.roles.extend(others.iter());
    }
    // What a call does depends on these, whether or not a rule looks at them.
    if inputs.program.defaults.approves_arguments {
        let telling = inputs.roles.intersection(RoleSet::TELLING);
        escalated.roles.extend(telling.iter());
        let is_listed = list_arguments(inputs, is_whole, &escalated.roles, &mut args, steps);
        if !is_listed {
            return Err("has arguments that an approval cannot list".to_owned());
        }
    }
    let mut keyed: Vec<_> = args
        .into_iter()
        .map(|one| ((one.arg.clone(), one.equals.to_string()), one))
        .collect();
    sort::sort_by(&mut keyed, |(one, _), (other, _)| one.cmp(other));
    let args = keyed.into_iter().map(|(_, one)| one).collect();
    let mut seen = RoleSet::default();
    let mut roles = escalated.roles;
    roles.retain(|role| {
        let is_new = !seen.contains(*role);
        seen.insert(*role);
        is_new
    });
    Ok(Needed {
        roles,
        rules: escalated.rules,
        args,
    })
}

/// Returns `true` if rules with conditions on arguments are all that escalates.
fn ask_by_arguments(inputs: &Inputs, held: &BTreeSet<RuleId>, rules: &BTreeSet<Box<str>>) -> bool {
    let held = held.iter().filter_map(|id| inputs.program.rule(*id));
    let asking: BTreeSet<&str> = held
        .filter(|rule| rule.effect == Effect::Escalate && !rule.arguments.is_empty())
        .map(|rule| &*rule.name)
        .collect();
    inputs.program.defaults.approves_arguments && rules.iter().all(|rule| asking.contains(&**rule))
}

/// The first thing that the approval does not cover, if any.
fn gap(
    inputs: &Inputs,
    asking: &mut Asking,
    approval: &Approval,
    now: Option<Moment>,
    needed: &Needed,
    measures: &mut Measures,
    steps: &mut usize,
) -> Option<String> {
    if let Some(lapse) = approval.lapse(now) {
        return Some(lapse.to_owned());
    }
    let Offer {
        constraints,
        rules,
        args,
        layer,
        ..
    } = approval.offer();
    if let Some(layer) = layer {
        return Some(format!("holds in the layer {layer:?} alone"));
    }
    let named = rules.as_ref().map_or(0, Vec::len);
    // If more rules escalate than the approval names, one of these is not among them.
    let mut first = needed.rules.iter().take(named + 1);
    let cost =
        named * first.len() + constraints.len() * needed.roles.len() + 2 * args.len() * needed.args.len();
    if !take(steps, cost) {
        return Some(TOO_MUCH.to_owned());
    }
    if let Some(rules) = rules {
        let is_named = |one: &str| rules.iter().any(|rule| rule == one);
        if let Some(other) = first.find(|one| !is_named(one)) {
            return Some(format!("does not name the rule {other:?}"));
        }
    }
    if let Some(other) = needed.args.iter().find(|one| !args.contains(one)) {
        return Some(format!("does not list the argument `{}` as it is", other.arg));
    }
    if let Some(other) = args.iter().find(|one| !needed.args.contains(one)) {
        return Some(format!("lists the argument `{}` as it is not", other.arg));
    }
    let registry = &inputs.program.registry;
    for role in needed.roles.iter().map(|role| registry.name(*role)) {
        if !constraints.iter().any(|one| one.role() == role) {
            return Some(format!("does not constrain `{role}`"));
        }
    }
    for (at, constraint) in constraints.iter().enumerate() {
        let name = constraint.role();
        let role = registry.find(name);
        let role = role.filter(|role| constraint.is_for(registry.get(*role).category));
        let Some(role) = role else {
            return Some(format!(
                "constrains `{name}`, which is not a role of that kind here"
            ));
        };
        if constraints.iter().take(at).any(|earlier| earlier.role() == name) {
            continue;
        }
        let values = measures
            .entry(role)
            .or_insert_with(|| measures_of(inputs, asking, role));
        let Some(values) = values else {
            return Some(format!("cannot cover a value of `{name}`"));
        };
        if !take(steps, values.len().saturating_mul(constraints.len())) {
            return Some(TOO_MUCH.to_owned());
        }
        let is_met = |value: &String| {
            let mut of_role = constraints.iter().filter(|one| one.role() == name);
            of_role.any(|one| meets(one, role, value))
        };
        if values.is_empty() || !values.iter().all(is_met) {
            return Some(format!("does not cover a value of `{name}`"));
        }
    }
    None
}

/// Takes steps from those that are left, if there are enough.
fn take(steps: &mut usize, cost: usize) -> bool {
    let left = steps.checked_sub(cost);
    *steps = left.unwrap_or_default();
    left.is_some()
}

/// Returns `true` if a compared value meets a constraint for its role.
fn meets(constraint: &ApprovalConstraint, role: RoleId, value: &str) -> bool {
    match constraint {
        ApprovalConstraint::Directory { directory, .. } if HISTORY.contains(&role) => value == directory,
        ApprovalConstraint::Directory { directory, .. } => is_at_or_below(value, directory),
        ApprovalConstraint::Domain { domain, .. } => value == domain,
        ApprovalConstraint::Exact { value: exact, .. } => value == exact,
    }
}
