//! Judging by the rules of the policy (SPEC §8.4): each role by itself, the most restrictive verdict stands.

use std::borrow::Cow;

use super::changes::changes;
use super::combine::{RoleVerdict, Undecided, join};
use super::directories::{Around, Grants, Known, Pinned};
use super::hits::{Match, Subject};
use super::reason::{Reason, Why};
use super::walk::{Relevance, RoleView, Walk, concerning};
use super::{Case, Values, Verdict};
use crate::cost::LOOK_UP;
use crate::model::{Effect, SandboxOrder};
use crate::net::Location;
use crate::program::{DEFAULT_REASON, DirectoryId, RoleList, Rule, RuleId, Tool, UNDECIDED};
use crate::role::{Category, REDACTED, RoleId, RoleSet};
use crate::sort;

const SANDBOX_REASON: &str = "All path roles resolved by sandbox containment";

/// Why a rule is passed over for what the sandbox grants.
const UNHEARD: &str = "it is not about what the sandbox grants";

/// Room for most reasons of the default denial.
const DEFAULT_REASON_BYTES: usize = 160;

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

    /// The subject of the rules: the tool's resource roles, less those that the sandbox resolved.
    pub(super) fn role_view(&self, roles: RoleSet) -> RoleView {
        let operands = self.operands.iter();
        let judged = roles.without(self.sandboxed);
        RoleView {
            roles,
            judged,
            heard: match self.program.defaults.hears_granted {
                true => roles,
                false => judged,
            },
            valued: operands.fold(RoleSet::default(), |all, operand| {
                all.union(operand.bound.role_set)
            }),
        }
    }

    fn verdict(&mut self, verdict: RoleVerdict, escalated: Vec<&'p str>) -> Verdict<'p> {
        let rule = match verdict {
            RoleVerdict::Rule(_, rule) => self.program.rule(rule),
            RoleVerdict::Sandbox => return Verdict::allow("structural-sandbox-allow", SANDBOX_REASON),
            RoleVerdict::Unjudged(effect, lack) => return self.unjudged_verdict(effect, lack),
            RoleVerdict::Default => None,
        };
        match (rule, verdict.effect()) {
            (Some(rule), Effect::Allow) => Verdict::allow(&rule.name, &*rule.reason),
            (Some(rule), Effect::Escalate) => Verdict::escalate(escalated, &rule.name, &*rule.reason),
            (Some(rule), Effect::Deny) => Verdict::deny(&rule.name, &*rule.reason),
            (None, _) => Verdict::deny("default-deny", self.default_reason()),
        }
    }

    /// The default denial for these values. Nothing is stricter, so that judging ends with it and these are the verdict's values.
    fn default_deny(&mut self, undecided: Undecided) -> RoleVerdict {
        self.undecided = undecided;
        RoleVerdict::Default
    }

    fn default_reason(&mut self) -> Cow<'p, str> {
        match self.undecided {
            Undecided::Call => {
                let known = self.tool.and_then(|tool| tool.default_reason.as_deref());
                known.unwrap_or(DEFAULT_REASON).into()
            }
            Undecided::Role(role, value) if self.names_arguments() => {
                let mut reason = String::with_capacity(DEFAULT_REASON_BYTES);
                reason.push_str(DEFAULT_REASON);
                reason.push_str(UNDECIDED);
                self.push_undecided(&mut reason, role, value);
                reason.into()
            }
            Undecided::Role(..) => DEFAULT_REASON.into(),
        }
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
        let around = self.directories_around(role, &progress.left);
        let mut walk = Walk::default();
        walk.add_role(program, tool, role, view, &around);
        self.canonicalizer.facts.take_steps(walk.cost() * LOOK_UP);
        while progress.is_undecided() && !self.canonicalizer.facts.has_failed() {
            if walk.needs_keys() {
                self.add_keyed(&mut walk, role, &progress.left);
            }
            let Some((id, relevance)) = walk.next() else {
                self.take_granted(&mut progress);
                if progress.had_values && self.is_sandboxed(role, SandboxOrder::AfterRules) {
                    self.take_after_rules(role, &mut progress);
                }
                let best = progress.best.filter(|_| !progress.is_undecided());
                let decided = best.unwrap_or_else(|| self.default_deny(progress.undecided(role)));
                return self.end_walk(true, decided);
            };
            let Some(rule) = program.rule(id) else { continue };
            self.canonicalizer.facts.take_steps(1);
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
                        walk.skip_directory();
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
        let mut walk = Walk::default();
        walk.add_tool(self.program, tool);
        while let Some((id, _)) = walk.next() {
            let Some(rule) = self.program.rule(id) else {
                continue;
            };
            self.canonicalizer.facts.take_steps(1);
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

    /// Adds the rules that the index finds by these values.
    fn add_keyed(&mut self, walk: &mut Walk<'p>, role: RoleId, values: &[usize]) {
        let (by_domain, by_text) = walk.wanted_keys();
        for at in values.iter().copied() {
            if self.canonicalizer.facts.has_failed() {
                return;
            }
            if by_domain {
                let cost: usize = self.locations(at, role).iter().map(Location::cost).sum();
                self.canonicalizer.facts.take_steps(cost * LOOK_UP);
            }
            if by_text {
                self.text(at, role);
            }
        }
        let operands = values.iter().filter_map(|at| self.operands.get(*at));
        walk.add_keyed(role, operands);
    }

    /// The rule directories that can say anything about the values.
    fn directories_around(&mut self, role: RoleId, values: &[usize]) -> Around {
        match self.directories.known() {
            Known::Nothing => Around::Any,
            Known::Grants(grants) => Around::Grants(self.grants_around(grants, values)),
            Known::All(pinned) => self.pinned_around(pinned, role, values),
        }
    }

    /// The directories of grants that hold a value as it is or as it was given, by the way that they are written, or that held it.
    fn grants_around(&mut self, grants: &Grants, values: &[usize]) -> Vec<DirectoryId> {
        /// How many bytes are looked up in one step.
        const BYTES: usize = 64;
        let mut found = Vec::new();
        let mut bytes = 0;
        for operand in values.iter().filter_map(|at| self.operands.get(*at)) {
            let Some(path) = operand.path() else { continue };
            let canonicalizer = &mut self.canonicalizer;
            bytes += BYTES + self.directories.add_written(grants, path.as_str(), &mut found);
            if operand.given() != path.as_str() {
                let given = canonicalizer.lexical_of(operand);
                bytes += self.directories.add_written(grants, &given, &mut found);
            }
            self.directories
                .add_linked(canonicalizer, grants, path, &mut found);
        }
        self.canonicalizer.facts.take_steps(bytes / BYTES);
        sort::sort(&mut found);
        found.dedup();
        found
    }

    /// The pinned directories that the values lie within.
    fn pinned_around(&mut self, pinned: &Pinned, role: RoleId, values: &[usize]) -> Around {
        if !self.program.path_roles.contains(role) {
            return Around::Any;
        }
        // Removing a directory, or putting one there, concerns the rules about what is in it as well.
        let changes = changes(self);
        let mut changed = values.iter().filter_map(|at| changes.get(*at));
        if changed.any(|change| change.removed.is_some() || change.arrival.is_some()) {
            return Around::Any;
        }
        let operands = values.iter().filter_map(|at| self.operands.get(*at));
        if operands.clone().any(|operand| operand.pattern().is_some()) {
            return Around::Any;
        }
        self.directories
            .pinned_around(pinned, operands.flat_map(|operand| operand.paths()))
    }

    fn begin_walk(&mut self, subject: &Subject, concern: impl FnOnce() -> Vec<RuleId>) {
        let isolated = subject.isolated.filter(|_| self.trace.is_some());
        let isolated = isolated.and_then(|(_, at)| self.operands.get(at));
        let isolated = isolated.map(|operand| match self.redacts(self.name_of_value(&operand.bound)) {
            true => REDACTED.to_owned(),
            false => operand.bound.raw().to_owned(),
        });
        if let Some(trace) = &mut self.trace {
            trace.begin_walk(isolated, concern());
        }
    }

    fn end_walk(&mut self, went_through_all: bool, decided: RoleVerdict) -> RoleVerdict {
        if self.trace.is_some() {
            self.explain_walk(went_through_all, decided);
        }
        decided
    }

    fn explain_walk(&mut self, went_through_all: bool, decided: RoleVerdict) {
        let verdict = self.verdict(decided, Vec::new());
        if let Some(trace) = &mut self.trace {
            let decision = verdict.decision.as_str();
            trace.end_walk(self.program, went_through_all, decision, &verdict.rule);
        }
    }

    fn considered(&mut self, id: RuleId, holds: bool, outcome: &'static str, why: Reason<'_>) {
        if holds {
            self.note_rule(id);
        }
        if self.trace.is_some() {
            self.explain_rule(id, holds, outcome, why);
        }
    }

    fn explain_rule(&mut self, id: RuleId, holds: bool, outcome: &'static str, why: Reason<'_>) {
        if let Some(trace) = &mut self.trace {
            let why = why.map(|(condition, detail)| (condition, detail.to_string()));
            trace.rule(self.program, id, holds, outcome, why);
        }
    }

    fn considered_directory(&mut self, id: RuleId, directory: DirectoryId) {
        if let Some(trace) = &mut self.trace {
            let directory = self.directories.rule(&mut self.canonicalizer, directory);
            let detail = format!("no value left lies within {}", directory.as_str());
            trace.rule(self.program, id, false, "", Some(("paths", detail)));
        }
    }
}
