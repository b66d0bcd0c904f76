//! Calls of which no argument tells what they touch, such as those of a shell (SPEC §8.4, *Unjudged*): a rule that allows them has to be
//! about them, and the tool's annotation says what happens without one.

use super::StructuralRule;
use super::Verdict;
use super::asking::Asking;
use super::combine::{Lack, RoleVerdict};
use super::inputs::Inputs;
use crate::bind::Value;
use crate::model::{ArgumentName, ConditionArgument, Effect, MutationClass};
use crate::program::{Rule, RuleId, Tool};

/// The name that explanations give to this step.
const CHECK: &str = "unjudged";

/// The verdict of rules that no role was in view of: that of the annotation, where no rule decided, or one that allows without being
/// about what the call does.
pub(super) fn as_annotated(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    decided: RoleVerdict,
) -> RoleVerdict {
    let Some(effect) = tool.unjudged else {
        return decided;
    };
    let lack = match decided {
        RoleVerdict::Default(_) => Some(Lack::Rule),
        RoleVerdict::Rule(Effect::Allow, id) => lack(inputs, asking, tool, id),
        RoleVerdict::Rule(..) | RoleVerdict::Sandbox | RoleVerdict::Unjudged(..) => None,
    };
    lack.map_or(decided, |lack| RoleVerdict::Unjudged(effect, lack))
}

fn lack(inputs: &Inputs, asking: &mut Asking, tool: &Tool, id: RuleId) -> Option<Lack> {
    let rule = inputs.program.rule(id)?;
    let only_reads = tool.semantics.kind.mutation_class() == MutationClass::ReadOnly;
    if !rule.names_tool && !only_reads {
        return Some(Lack::Name(id));
    }
    // A rule that looks at no argument allows a tool whose annotation has none as a whole.
    if rule.arguments.is_empty() && tool.arguments.is_empty() {
        return None;
    }
    untold(inputs, asking, tool, Some(rule)).map(|at| Lack::Look(id, at))
}

/// The first argument that the annotation does not name, and the rule does not look at.
pub(super) fn untold(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    rule: Option<&Rule>,
) -> Option<usize> {
    let members = inputs.call.arguments.members();
    let looks = rule.map_or(0, |rule| rule.arguments.len()) + 1;
    asking.take_steps(members.len().saturating_mul(looks));
    let is_told = |name: &str, value: &Value<'_>| {
        let mut annotated = tool.member(name).arguments.iter();
        let is_named = |at: &usize| {
            let argument = tool.arguments.get(*at);
            argument.is_some_and(|one| matches!(one.name, ArgumentName::Top(_)))
        };
        is_null(value) || annotated.any(is_named) || rule.is_some_and(|rule| looks_at(rule, name))
    };
    let untold = members.iter().enumerate();
    let untold = untold.filter(|(_, (name, value))| !is_told(name, value));
    // The order in which they are given changes no reason.
    let first = untold.min_by(|(_, (one, _)), (_, (other, _))| one.cmp(other));
    first.map(|(at, _)| at)
}

pub(super) fn unjudged_verdict<'p>(inputs: &Inputs<'p, '_>, effect: Effect, lack: Lack) -> Verdict<'p> {
    let tool = &*inputs.call.tool;
    if effect == Effect::Allow {
        let reason = ["`", tool, "` changes nothing but the agent's own state"];
        return Verdict::allow(StructuralRule::AgentTool, reason.concat());
    }
    let name = |id| inputs.program.rule(id).map_or("", |rule| &*rule.name);
    let reason = match lack {
        Lack::Look(id, at) => {
            let (argument, rule) = (inputs.name_of(Some(at)), name(id));
            format!(
                "What the argument `{argument}` changes about a call of `{tool}` is not known, and the rule `{rule}` does not look at it"
            )
        }
        Lack::Rule | Lack::Name(_) => {
            let why = match lack {
                Lack::Name(id) => ["the rule `", name(id), "` does not name the tool"].concat(),
                Lack::Rule | Lack::Look(..) => "no rule that names the tool holds for this call".to_owned(),
            };
            format!("What a call of `{tool}` touches cannot be told from its arguments, and {why}")
        }
    };
    match effect {
        Effect::Deny => Verdict::deny(StructuralRule::OpaqueTool, reason),
        Effect::Allow | Effect::Escalate => Verdict::escalate(Vec::new(), StructuralRule::OpaqueTool, reason),
    }
}

/// Records what the annotation says of the call, for an explanation.
pub(super) fn note_unjudged(asking: &mut Asking, decided: RoleVerdict, verdict: &Verdict<'_>) {
    if let RoleVerdict::Unjudged(effect, _) = decided {
        asking.note(CHECK, effect == Effect::Allow, || verdict.reason.to_string());
    }
}

fn is_null(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Raw(raw) => raw.get() == "null",
        _ => false,
    }
}

/// Returns `true` if a condition of the rule is about the whole argument.
fn looks_at(rule: &Rule, argument: &str) -> bool {
    let mut looked_at = rule.arguments.iter().map(|condition| &condition.argument);
    looked_at.any(|one| match one {
        ConditionArgument::Top(name) => **name == *argument,
        ConditionArgument::Pointer(names) => matches!(&**names, [name] if **name == *argument),
    })
}
