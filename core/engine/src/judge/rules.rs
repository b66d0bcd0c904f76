//! Judging by the rules of the policy (SPEC §8.4): each role by itself, the most restrictive verdict stands.

use super::candidates::{Candidates, Relevance, RoleView, concerning};
use super::combine::{RoleVerdict, Undecided, join};
use super::hits::{Match, Subject};
use super::reason::Why;
use super::{Case, Values, Verdict};
use crate::model::{Effect, SandboxOrder};
use crate::program::{DirectoryId, RoleList, Rule, RuleId, Tool};
use crate::role::{Category, RoleId};

/// Why a rule is passed over for what the sandbox grants.
const UNHEARD: &str = "it is not about what the sandbox grants";

/// The state while one role's values go through the rules.
pub(super) struct Progress {
    /// The values that no rule has decided about, in order.
    pub(super) left: Values,
    /// Those that the sandbox grants in the end, in order.
    pub(super) granted: Values,
    /// `true` if the role had values to begin with.
    pub(super) had_values: bool,
    /// The strictest rule so far.
    best: Option<RoleVerdict>,
}

/// How far a rule reached.
enum Reach {
    /// No value that is left lies within its directory.
    Nothing(DirectoryId),
    /// Anything else.
    Else,
}

impl Progress {
    fn is_undecided(&self) -> bool {
        !self.left.is_empty() || !self.had_values
    }

    fn undecided(&self, role: RoleId) -> Undecided {
        Undecided::Role(role, self.left.first().copied())
    }

    pub(super) fn add(&mut self, verdict: RoleVerdict) {
        self.best = join(self.best, verdict);
    }
}

impl<'p> Case<'p, '_, '_> {
    /// The verdict of the rules over the tool's resource roles, less those that the sandbox resolved.
    pub(super) fn judge_roles(&mut self) -> Verdict<'p> {
        let Some(tool) = self.tool else {
            let denied = self.default_deny(Undecided::Call);
            return self.verdict(denied, Vec::new());
        };
        let roles = self.tool_roles.intersection(self.program.resource_roles);
        if roles.is_empty() {
            let whole = self.judge_without_role(tool);
            let verdict = self.verdict(whole, Vec::new());
            self.note_unjudged(whole, &verdict);
            return verdict;
        }
        let view = self.role_view(roles);
        let mut whole: Option<RoleVerdict> = None;
        let mut decisive = None;
        let mut escalated = Vec::new();
        let mut found = RoleList::new();
        let ordered = self.arguments.resolved.ordered(&mut found).iter().copied();
        for role in ordered.filter(|role| view.heard.contains(*role)) {
            let verdict = self.judge_role(tool, role, view);
            if verdict.effect() == Effect::Escalate {
                escalated.push(self.program.registry.name(role));
            }
            let joined = join(whole, verdict);
            if joined != whole {
                (whole, decisive) = (joined, Some(role));
            }
            if verdict.effect() == Effect::Deny || self.canonicalizer.facts.has_failed() {
                break;
            }
        }
        let whole = whole.unwrap_or(RoleVerdict::Sandbox);
        let granted = self.judge_granted(tool, whole);
        let mut verdict = self.verdict(granted, escalated);
        self.note_unjudged(granted, &verdict);
        if granted == whole
            && let RoleVerdict::Rule(Effect::Escalate | Effect::Deny, _) = whole
            && let Some(why) = decisive.and_then(|role| self.without_value(role))
        {
            verdict.reason.to_mut().push_str(&why);
        }
        verdict
    }

    /// Judges one role: all values together, then each value by itself if there are several.
    pub(super) fn judge_role(&mut self, tool: &'p Tool, role: RoleId, view: RoleView) -> RoleVerdict {
        if let Some(trace) = &mut self.trace {
            trace.begin_role(self.program.registry.name(role));
        }
        let mut subject = Subject {
            judged: Some(role),
            isolated: None,
        };
        let mut whole = self.walk_role(tool, role, view, &subject);
        if self.count_of(role) < 2 || self.program.registry.get(role).category == Category::Path {
            return whole;
        }
        let is_default = whole == RoleVerdict::Default;
        for value in self.values_of(role) {
            if self.canonicalizer.facts.has_failed() || (whole.effect() == Effect::Deny && !is_default) {
                break;
            }
            subject.isolated = Some((role, value));
            let alone = self.walk_role(tool, role, view, &subject);
            if is_default && alone == RoleVerdict::Default {
                // All values together only say that some rule is missing; this is the value that it is missing for.
                return alone;
            }
            whole = whole.join(alone);
        }
        whole
    }

    fn walk_role(&mut self, tool: &'p Tool, role: RoleId, view: RoleView, subject: &Subject) -> RoleVerdict {
        let program = self.program;
        self.begin_walk(subject, || concerning(program, tool, role, view));
        let left = self.collect_values(role, subject);
        let mut progress = Progress {
            had_values: !left.is_empty(),
            granted: self.granted(role, &left),
            left,
            best: None,
        };
        if !self.program.defaults.hears_granted {
            self.take_granted(&mut progress);
        }
        let mut candidates = self.candidates(tool, role, view, &progress.left);
        while progress.is_undecided() && !self.canonicalizer.facts.has_failed() {
            let next = self.next_candidate(&mut candidates, role, &progress.left);
            let Some((id, rule, relevance)) = next else {
                self.take_granted(&mut progress);
                if progress.had_values && self.is_sandboxed(role, SandboxOrder::AfterRules) {
                    self.take_after_rules(role, &mut progress);
                }
                let best = progress.best.filter(|_| !progress.is_undecided());
                let decided = best.unwrap_or_else(|| self.default_deny(progress.undecided(role)));
                return self.end_walk(true, decided);
            };
            let is_unheard = self.passes_over_granted(rule, role, view, relevance);
            if is_unheard && progress.is_granted() {
                self.considered(id, false, "", Some(("sandbox", Why::Text(UNHEARD))));
                continue;
            }
            match relevance {
                Relevance::CrossRole => {
                    let mut why = None;
                    let holds = self.holds_across_roles(rule, id, subject, &mut why);
                    self.considered(id, holds, "applies although it names other roles", why);
                    if holds {
                        progress.add(RoleVerdict::Rule(rule.effect, id));
                    }
                }
                Relevance::Direct | Relevance::InDirectory if progress.had_values => {
                    let aside = match is_unheard {
                        true => progress.set_aside(),
                        false => Values::new(),
                    };
                    let reach = self.discharge(rule, id, subject, &mut progress);
                    progress.take_back(aside);
                    if let Reach::Nothing(directory) = reach
                        && relevance == Relevance::InDirectory
                        && self.is_out_of_reach(rule, directory, &progress.left)
                    {
                        candidates.skip_directory();
                    }
                }
                Relevance::Direct | Relevance::InDirectory => {
                    if self.holds_without_values(rule, id, subject) {
                        progress.add(RoleVerdict::Rule(rule.effect, id));
                        break;
                    }
                }
            }
        }
        let best = progress.best;
        let decided = best.unwrap_or_else(|| self.default_deny(progress.undecided(role)));
        self.end_walk(false, decided)
    }

    /// Takes from the values that are left those that a relevant rule decides about.
    fn discharge(&mut self, rule: &Rule, id: RuleId, subject: &Subject, progress: &mut Progress) -> Reach {
        let mut why = None;
        let matched = self.conditions(rule, id, subject, &mut why);
        if matched == Match::Nothing {
            self.considered(id, false, "", why);
            return Reach::Else;
        }
        let mut outside = Values::new();
        if let Some((roles, directory)) = rule.paths {
            let is_concerned;
            (outside, is_concerned) = self.outside(rule.effect, (roles, directory), &progress.left);
            if outside.len() == progress.left.len() {
                if is_concerned {
                    progress.add(RoleVerdict::Rule(rule.effect, id));
                    self.considered(id, true, "applies, since its directory may be concerned", None);
                    return Reach::Else;
                }
                self.considered_directory(id, directory);
                return Reach::Nothing(directory);
            }
        }
        let needs_none =
            rule.effect == Effect::Allow && !self.needs_rule() && progress.grants_all_but(&outside);
        progress.add(match needs_none {
            true => RoleVerdict::Sandbox,
            false => RoleVerdict::Rule(rule.effect, id),
        });
        if matched == Match::All {
            progress.left = outside;
            self.considered(id, true, "holds", None);
        } else {
            self.considered(id, true, "holds for some values, and applies", None);
        }
        Reach::Else
    }

    /// Returns `true` if no rule that is filed with this one, by their directory, has a say about the values.
    fn is_out_of_reach(&mut self, rule: &Rule, id: DirectoryId, values: &[usize]) -> bool {
        if rule.effect == Effect::Allow {
            return true;
        }
        let (outside, is_concerned) = self.outside(Effect::Deny, (self.program.path_roles, id), values);
        outside.len() == values.len() && !is_concerned
    }

    /// Returns `true` if a rule holds for a role that has no values in this call: all its conditions must hold as they
    /// stand.
    fn holds_without_values(&mut self, rule: &Rule, id: RuleId, subject: &Subject) -> bool {
        let mut why = None;
        let mut holds = self.conditions(rule, id, subject, &mut why) != Match::Nothing;
        if holds && rule.paths.is_some() {
            holds = false;
            why = Some(("paths", Why::Text("no value of the judged role")));
        }
        self.considered(id, holds, "holds", why);
        holds
    }

    /// A tool without resource roles: the first rule that matches decides.
    pub(super) fn judge_without_role(&mut self, tool: &'p Tool) -> RoleVerdict {
        let mut subject = Subject {
            judged: None,
            isolated: None,
        };
        let mut whole = self.walk_tool(tool, &subject);
        if self.operands.len() < 2 {
            return whole;
        }
        let mut found = RoleList::new();
        let listed_roles = self.program.listed_roles;
        let ordered = self.arguments.resolved.ordered(&mut found).iter().copied();
        for role in ordered.filter(|role| listed_roles.contains(*role)) {
            let values = self.values_of(role);
            if values.len() < 2 {
                continue;
            }
            for value in values {
                if whole.effect() == Effect::Deny || self.canonicalizer.facts.has_failed() {
                    return whole;
                }
                subject.isolated = Some((role, value));
                whole = whole.join(self.walk_tool(tool, &subject));
            }
        }
        whole
    }

    fn walk_tool(&mut self, tool: &'p Tool, subject: &Subject) -> RoleVerdict {
        self.begin_walk(subject, Vec::new);
        let (mut best, mut asked) = (None, None);
        let mut candidates = Candidates::of_tool(self.program, tool);
        while let Some((id, rule, _)) = self.take_candidate(&mut candidates) {
            if self.canonicalizer.facts.has_failed() {
                break;
            }
            let mut why = None;
            let matched = if rule.paths.is_some() {
                why = Some(("paths", Why::Text("the tool names no path")));
                Match::Nothing
            } else {
                self.conditions(rule, id, subject, &mut why)
            };
            self.considered(id, matched != Match::Nothing, "holds", why);
            match matched {
                Match::Nothing => {}
                // The paths are granted, so that it is heard where nothing else is.
                Match::All if rule.asks_about_places(self.program.path_roles) && !rule.named.is_empty() => {
                    asked.get_or_insert(RoleVerdict::Rule(rule.effect, id));
                }
                Match::Partial => best = join(best, RoleVerdict::Rule(rule.effect, id)),
                Match::All => {
                    let decided = RoleVerdict::Rule(rule.effect, id);
                    let decided = best.map_or(decided, |best| best.join(decided));
                    let decided = self.unjudged(tool, decided);
                    return self.end_walk(false, decided);
                }
            }
        }
        let decided = match asked {
            Some(asked) => best.map_or(asked, |best: RoleVerdict| best.join(asked)),
            None => self.default_deny(Undecided::Call),
        };
        let decided = self.unjudged(tool, decided);
        self.end_walk(true, decided)
    }
}
