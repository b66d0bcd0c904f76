//! Judging by the rules of the policy (SPEC §8.4): each role by itself, the most restrictive verdict stands.

use super::Verdict;
use super::asking::Asking;
use super::candidates::{
    Candidates, Relevance, RoleView, candidates_of, concerning, next_candidate, role_view, take_candidate,
};
use super::combine::{RoleVerdict, Undecided, join};
use super::conditions::{collect_values, holds_across_roles, meets_conditions, outside_of};
use super::counts::{effect_of, unsaid_count};
use super::explained::{begin_walk, considered, considered_directory, end_walk};
use super::granted::{
    Progress, granted_values, is_sandboxed, needs_rule, passes_over_granted, take_after_rules, take_granted,
};
use super::hits::{Match, Subject};
use super::inputs::{Inputs, Values};
use super::reason::{verdict_of, without_value};
use super::unjudged::{as_annotated, note_unjudged};
use super::why::Why;
use crate::model::{Effect, SandboxOrder};
use crate::program::{DirectoryId, RoleList, Rule, RuleId, Tool};
use crate::role::{Category, RoleId, RoleSet};

/// Why a rule is passed over for what the sandbox grants.
const UNHEARD: &str = "it is not about what the sandbox grants";

/// How far a rule reached.
enum Reach {
    /// No value that is left lies within its directory.
    Nothing(DirectoryId),
    /// Anything else.
    Else,
}

/// The verdict of the rules over the tool's resource roles, less those that the sandbox resolved.
pub(super) fn judge_roles<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    sandboxed: RoleSet,
) -> Verdict<'p> {
    let Some(tool) = inputs.tool else {
        let denied = RoleVerdict::Default(Undecided::Call);
        return verdict_of(inputs, asking, denied, Vec::new());
    };
    let Some(values) = judge_values(inputs, asking, tool, sandboxed) else {
        let whole = judge_without_role(inputs, asking, tool);
        let verdict = verdict_of(inputs, asking, whole, Vec::new());
        note_unjudged(asking, whole, &verdict);
        return verdict;
    };
    let OfValues {
        whole,
        decisive,
        escalated,
    } = values;
    let granted = judge_granted(inputs, asking, tool, whole);
    let mut verdict = verdict_of(inputs, asking, granted, escalated);
    note_unjudged(asking, granted, &verdict);
    if granted == whole
        && let RoleVerdict::Rule(Effect::Escalate | Effect::Deny, _) = whole
        && let Some(why) = decisive.and_then(|role| without_value(inputs, role))
    {
        verdict.reason.to_mut().push_str(&why);
    }
    verdict
}

/// What the rules say of the values of a call.
pub(super) struct OfValues<'p> {
    pub(super) whole: RoleVerdict,
    /// The role that it comes from.
    decisive: Option<RoleId>,
    /// The roles that escalated.
    pub(super) escalated: Vec<&'p str>,
}

/// Judges each resource role by itself; `None` if the call has none.
pub(super) fn judge_values<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    tool: &Tool,
    sandboxed: RoleSet,
) -> Option<OfValues<'p>> {
    let roles = inputs.roles.intersection(inputs.program.resource_roles);
    if roles.is_empty() {
        return None;
    }
    let view = role_view(inputs, roles, sandboxed);
    let mut whole: Option<RoleVerdict> = None;
    let mut decisive = None;
    let mut escalated = Vec::new();
    let mut found = RoleList::new();
    let ordered = inputs.arguments.resolved.ordered(&mut found).iter().copied();
    for role in ordered.filter(|role| view.heard.contains(*role)) {
        let verdict = judge_role(inputs, asking, tool, role, view);
        if verdict.effect() == Effect::Escalate {
            escalated.push(inputs.program.registry.name(role));
        }
        let joined = match is_denied_by_rule(tool, verdict) {
            true => Some(verdict),
            false => join(whole, verdict),
        };
        if joined != whole {
            (whole, decisive) = (joined, Some(role));
        }
        let is_last = !tool.is_program || is_denied_by_rule(tool, verdict);
        if (verdict.effect() == Effect::Deny && is_last) || asking.has_failed() {
            break;
        }
    }
    Some(OfValues {
        whole: whole.unwrap_or(RoleVerdict::Sandbox),
        decisive,
        escalated,
    })
}

/// Returns `true` if a rule denies what a program does, which is more than that none allows it.
fn is_denied_by_rule(tool: &Tool, verdict: RoleVerdict) -> bool {
    tool.is_program && matches!(verdict, RoleVerdict::Rule(Effect::Deny, _))
}

/// Judges a call of which the sandbox grants all paths, and no rule says anything: the call of a tool that executes, sends or
/// publishes needs a rule.
pub(super) fn judge_granted(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    whole: RoleVerdict,
) -> RoleVerdict {
    if whole != RoleVerdict::Sandbox || !needs_rule(inputs) {
        return whole;
    }
    if let Some(trace) = &mut asking.trace {
        trace.begin_call();
    }
    judge_without_role(inputs, asking, tool)
}

/// Judges one role: all values together, then each value by itself if there are several.
pub(super) fn judge_role(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    role: RoleId,
    view: RoleView,
) -> RoleVerdict {
    if let Some(trace) = &mut asking.trace {
        trace.begin_role(inputs.program.registry.name(role));
    }
    let mut subject = Subject {
        judged: Some(role),
        isolated: None,
    };
    let mut whole = walk_role(inputs, asking, tool, role, view, &subject);
    if inputs.values_of(role).len() < 2 || inputs.program.registry.get(role).category == Category::Path {
        return whole;
    }
    let is_default = matches!(whole, RoleVerdict::Default(_));
    for value in inputs.values_of(role).iter().copied() {
        if asking.has_failed() || (whole.effect() == Effect::Deny && !is_default) {
            break;
        }
        subject.isolated = Some((role, value));
        let alone = walk_role(inputs, asking, tool, role, view, &subject);
        if is_denied_by_rule(tool, alone) {
            return alone;
        }
        if is_default && matches!(alone, RoleVerdict::Default(_)) && !tool.is_program {
            // All values together only say that some rule is missing; this is the value that it is missing for.
            return alone;
        }
        whole = whole.join(alone);
    }
    whole
}

fn walk_role(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    role: RoleId,
    view: RoleView,
    subject: &Subject,
) -> RoleVerdict {
    let program = inputs.program;
    begin_walk(inputs, asking, subject, || concerning(program, tool, role, view));
    let left = collect_values(inputs, role, subject);
    let mut progress = Progress {
        had_values: !left.is_empty(),
        granted: granted_values(inputs, asking, role, view, &left),
        left,
        best: None,
    };
    if !inputs.program.defaults.hears_granted {
        take_granted(&mut progress);
    }
    let mut candidates = candidates_of(inputs, asking, tool, role, view, &progress.left);
    while progress.is_undecided() && !asking.has_failed() {
        let next = next_candidate(inputs, asking, &mut candidates, role, &progress.left);
        let Some((id, rule, relevance)) = next else {
            take_granted(&mut progress);
            if progress.had_values && is_sandboxed(inputs, role, SandboxOrder::AfterRules) {
                take_after_rules(inputs, asking, role, &mut progress);
            }
            let is_denied = progress.best.is_some_and(|best| is_denied_by_rule(tool, best));
            let best = progress.best.filter(|_| is_denied || !progress.is_undecided());
            let decided = best.unwrap_or_else(|| RoleVerdict::Default(progress.undecided(role)));
            return end_walk(inputs, asking, true, decided);
        };
        let is_unheard = passes_over_granted(inputs, rule, role, view, relevance);
        if is_unheard && progress.is_granted() {
            considered(
                inputs,
                asking,
                id,
                false,
                "",
                Some(("sandbox", Why::Text(UNHEARD))),
            );
            continue;
        }
        match relevance {
            Relevance::CrossRole => {
                let mut why = None;
                let holds = holds_across_roles(inputs, asking, rule, id, subject, &mut why);
                considered(
                    inputs,
                    asking,
                    id,
                    holds,
                    "applies although it names other roles",
                    why,
                );
                if holds {
                    let effect = effect_of(inputs, asking, rule);
                    progress.add(RoleVerdict::Rule(effect, id));
                }
            }
            Relevance::Direct | Relevance::InDirectory if progress.had_values => {
                let aside = match is_unheard {
                    true => progress.set_aside(),
                    false => Values::new(),
                };
                let reach = discharge(inputs, asking, rule, id, subject, &mut progress);
                progress.take_back(aside);
                if let Reach::Nothing(directory) = reach
                    && relevance == Relevance::InDirectory
                    && is_out_of_reach(inputs, asking, rule, directory, &progress.left)
                {
                    candidates.skip_directory();
                }
            }
            Relevance::Direct | Relevance::InDirectory => {
                if holds_without_values(inputs, asking, rule, id, subject) {
                    let effect = effect_of(inputs, asking, rule);
                    progress.add(RoleVerdict::Rule(effect, id));
                    if decides(inputs, rule) {
                        break;
                    }
                }
            }
        }
    }
    let best = progress.best;
    let decided = best.unwrap_or_else(|| RoleVerdict::Default(progress.undecided(role)));
    end_walk(inputs, asking, false, decided)
}

/// Takes from the values that are left those that a relevant rule decides about.
fn discharge(
    inputs: &Inputs,
    asking: &mut Asking,
    rule: &Rule,
    id: RuleId,
    subject: &Subject,
    progress: &mut Progress,
) -> Reach {
    let mut why = None;
    let matched = meets_conditions(inputs, asking, rule, id, subject, &mut why);
    if matched == Match::Nothing {
        considered(inputs, asking, id, false, "", why);
        return Reach::Else;
    }
    let mut outside = Values::new();
    if let Some((roles, directory)) = rule.paths {
        let is_concerned;
        (outside, is_concerned) = outside_of(inputs, asking, rule.effect, (roles, directory), &progress.left);
        if outside.len() == progress.left.len() {
            if is_concerned {
                let effect = effect_of(inputs, asking, rule);
                progress.add(RoleVerdict::Rule(effect, id));
                considered(
                    inputs,
                    asking,
                    id,
                    true,
                    "applies, since its directory may be concerned",
                    None,
                );
                return Reach::Else;
            }
            considered_directory(inputs, asking, id, directory);
            return Reach::Nothing(directory);
        }
    }
    let needs_none = rule.effect == Effect::Allow && !needs_rule(inputs) && progress.grants_all_but(&outside);
    progress.add(match needs_none {
        true => RoleVerdict::Sandbox,
        false => RoleVerdict::Rule(effect_of(inputs, asking, rule), id),
    });
    if matched == Match::All && decides(inputs, rule) {
        progress.left = outside;
        considered(inputs, asking, id, true, "holds", None);
    } else {
        considered(
            inputs,
            asking,
            id,
            true,
            "holds for some values, and applies",
            None,
        );
    }
    Reach::Else
}

/// Returns `true` if the rule decides about what it holds for. A restriction that looks at a count which nobody says may not hold.
fn decides(inputs: &Inputs, rule: &Rule) -> bool {
    rule.effect == Effect::Allow || unsaid_count(inputs, rule).is_none()
}

/// Returns `true` if no rule that is filed with this one, by their directory, has a say about the values.
fn is_out_of_reach(
    inputs: &Inputs,
    asking: &mut Asking,
    rule: &Rule,
    id: DirectoryId,
    values: &[usize],
) -> bool {
    if rule.effect == Effect::Allow {
        return true;
    }
    let (outside, is_concerned) = outside_of(
        inputs,
        asking,
        Effect::Deny,
        (inputs.program.path_roles, id),
        values,
    );
    outside.len() == values.len() && !is_concerned
}

/// Returns `true` if a rule holds for a role that has no values in this call: all its conditions must hold as they
/// stand.
fn holds_without_values(
    inputs: &Inputs,
    asking: &mut Asking,
    rule: &Rule,
    id: RuleId,
    subject: &Subject,
) -> bool {
    let mut why = None;
    let mut holds = meets_conditions(inputs, asking, rule, id, subject, &mut why) != Match::Nothing;
    if holds && rule.paths.is_some() {
        holds = false;
        why = Some(("paths", Why::Text("no value of the judged role")));
    }
    considered(inputs, asking, id, holds, "holds", why);
    holds
}

/// A tool without resource roles: the first rule that matches decides.
pub(super) fn judge_without_role(inputs: &Inputs, asking: &mut Asking, tool: &Tool) -> RoleVerdict {
    let mut subject = Subject {
        judged: None,
        isolated: None,
    };
    let mut whole = walk_tool(inputs, asking, tool, &subject);
    if inputs.operands.len() < 2 {
        return whole;
    }
    let mut found = RoleList::new();
    let listed_roles = inputs.program.listed_roles;
    let ordered = inputs.arguments.resolved.ordered(&mut found).iter().copied();
    for role in ordered.filter(|role| listed_roles.contains(*role)) {
        let values = inputs.values_of(role);
        if values.len() < 2 {
            continue;
        }
        for value in values.iter().copied() {
            if whole.effect() == Effect::Deny || asking.has_failed() {
                return whole;
            }
            subject.isolated = Some((role, value));
            whole = whole.join(walk_tool(inputs, asking, tool, &subject));
        }
    }
    whole
}

fn walk_tool(inputs: &Inputs, asking: &mut Asking, tool: &Tool, subject: &Subject) -> RoleVerdict {
    begin_walk(inputs, asking, subject, Vec::new);
    let (mut best, mut asked) = (None, None);
    let mut candidates = Candidates::of_tool(inputs.program, tool);
    while let Some((id, rule, _)) = take_candidate(inputs, asking, &mut candidates) {
        if asking.has_failed() {
            break;
        }
        let mut why = None;
        let matched = if rule.paths.is_some() {
            why = Some(("paths", Why::Text("the tool names no path")));
            Match::Nothing
        } else {
            meets_conditions(inputs, asking, rule, id, subject, &mut why)
        };
        considered(inputs, asking, id, matched != Match::Nothing, "holds", why);
        match matched {
            Match::Nothing => {}
            // The paths are granted, so that it is heard where nothing else is.
            Match::All if rule.asks_about_places(inputs.program.path_roles) && !rule.named.is_empty() => {
                asked.get_or_insert(RoleVerdict::Rule(rule.effect, id));
            }
            Match::All if decides(inputs, rule) => {
                let decided = RoleVerdict::Rule(rule.effect, id);
                let joined = best.map_or(decided, |best: RoleVerdict| best.join(decided));
                let mut joined = as_annotated(inputs, asking, tool, joined);
                if joined == decided {
                    joined = RoleVerdict::Rule(effect_of(inputs, asking, rule), id);
                }
                return end_walk(inputs, asking, false, joined);
            }
            Match::Partial | Match::All => {
                let effect = effect_of(inputs, asking, rule);
                best = join(best, RoleVerdict::Rule(effect, id));
            }
        }
    }
    let decided = match asked {
        Some(asked) => best.map_or(asked, |best: RoleVerdict| best.join(asked)),
        None => RoleVerdict::Default(Undecided::Call),
    };
    let decided = as_annotated(inputs, asking, tool, decided);
    end_walk(inputs, asking, true, decided)
}
