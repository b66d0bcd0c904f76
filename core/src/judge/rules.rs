//! Judging by the rules of the policy (SPEC §8.4): each role by itself, the most restrictive verdict stands.

use super::combine::{Author, Ruling, join};
use super::conditions::{Matched, Reason, Subject};
use super::walk::{Candidate, Capacity, Omit, View, Walk};
use super::{Evaluation, Verdict};
use crate::bind::Operand;
use crate::host::HostError;
use crate::model::Effect;
use crate::program::{DirectoryId, Gate, Rule, RuleId, Tool};
use crate::role::{Category, RoleId, RoleSet};
use crate::seed::FILESYSTEM;
use crate::sort;

const SANDBOX_REASON: &str = "All path roles resolved by sandbox containment";
const DEFAULT_REASON: &str = "No matching policy rule -- denied by default";

impl<'p> Evaluation<'p, '_, '_> {
    /// The verdict of the rules over the tool's resource roles, less those that the sandbox resolved.
    pub(super) fn judge_roles(
        &mut self,
        roles: &[RoleId],
        resolved: RoleSet,
    ) -> Result<Verdict<'p>, HostError> {
        let Some(tool) = self.tool else {
            return Ok(self.verdict(Ruling::DEFAULT_DENY, Vec::new()));
        };
        if roles.is_empty() {
            let ruling = self.judge_without_role(tool)?;
            return Ok(self.verdict(ruling, Vec::new()));
        }
        let judged = || roles.iter().copied().filter(|role| !resolved.contains(*role));
        let valued = self.reading.operands.iter();
        let view = View {
            roles: roles.iter().copied().collect(),
            judged: judged().collect(),
            valued: valued.fold(RoleSet::default(), |all, operand| all.union(operand.role_set)),
        };
        let mut whole: Option<Ruling> = None;
        let mut escalated = Vec::new();
        for role in judged() {
            let ruling = self.judge_role(tool, role, view)?;
            if ruling.effect == Effect::Escalate {
                escalated.push(self.program.registry.name(role));
            }
            whole = join(whole, ruling);
            if ruling.effect == Effect::Deny {
                break;
            }
        }
        let whole = whole.unwrap_or(Ruling {
            effect: Effect::Allow,
            author: Author::Sandbox,
        });
        Ok(self.verdict(whole, escalated))
    }

    fn verdict(&self, ruling: Ruling, escalated: Vec<&'p str>) -> Verdict<'p> {
        let rule = match ruling.author {
            Author::Rule(rule) => self.program.rule(rule),
            Author::Sandbox => return Verdict::allow("structural-sandbox-allow", SANDBOX_REASON),
            Author::Default => None,
        };
        match (rule, ruling.effect) {
            (Some(rule), Effect::Allow) => Verdict::allow(&rule.name, &*rule.reason),
            (Some(rule), Effect::Escalate) => Verdict::escalate(escalated, &rule.name, &*rule.reason),
            (Some(rule), Effect::Deny) => Verdict::deny(&rule.name, &*rule.reason),
            (None, _) => Verdict::deny("default-deny", DEFAULT_REASON),
        }
    }

    /// One role: all its values together, and where values come in company, each of them alone.
    fn judge_role(&mut self, tool: &'p Tool, role: RoleId, view: View) -> Result<Ruling, HostError> {
        if let Some(trace) = &mut self.trace {
            trace.begin_role(self.program.registry.name(role));
        }
        let subject = Subject {
            judged: Some(role),
            alone: None,
        };
        let mut whole = self.walk_role(tool, role, view, &subject)?;
        let bears = |operand: &&Operand<'_, '_>| operand.role_set.contains(role);
        let in_company = self.reading.operands.iter().filter(bears).nth(1).is_some();
        if in_company && self.program.registry.get(role).category != Category::Path {
            for value in self.values_of(role) {
                if whole.effect == Effect::Deny {
                    break;
                }
                let subject = Subject {
                    judged: Some(role),
                    alone: Some((role, value)),
                };
                whole = whole.join(self.walk_role(tool, role, view, &subject)?);
            }
        }
        Ok(whole)
    }

    fn walk_role(
        &mut self,
        tool: &'p Tool,
        role: RoleId,
        view: View,
        subject: &Subject,
    ) -> Result<Ruling, HostError> {
        self.begin_walk(subject);
        let mut left = self.values_in(role, subject);
        let had_values = !left.is_empty();
        let mut best: Option<Ruling> = None;
        if had_values && self.server() == FILESYSTEM && RoleSet::SANDBOX_SAFE.contains(role) {
            self.take_sandboxed(&mut left, &mut best)?;
        }
        let gates = self.gates(tool, role, &left)?;
        let directories = self.pinned_directories(tool, role, &left);
        let omit = if self.trace.is_some() {
            Omit::Nothing
        } else {
            Omit::AllBut {
                gates: &gates,
                directories: directories.as_deref(),
            }
        };
        let mut walk = Walk::of_role(self.program, tool, role, view, omit);
        while (!left.is_empty() || !had_values)
            && let Some(candidate) = walk.next()
        {
            let Some(rule) = self.program.rule(candidate.rule) else {
                continue;
            };
            let mut why = None;
            match candidate.capacity {
                Capacity::Overheard => {
                    let holds =
                        self.meets_roles(rule, &mut why) && self.overheard(rule, subject, &mut why)?;
                    self.considered(rule, holds, "is heard although it names other roles", why);
                    if holds {
                        best = join(best, ruling(rule, candidate.rule));
                    }
                }
                Capacity::Relevant if had_values => {
                    self.discharge(rule, &candidate, &mut walk, subject, &mut left, &mut best)?;
                }
                Capacity::Relevant => {
                    if self.holds_without_values(rule, subject)? {
                        return Ok(self.end_walk(join(best, ruling(rule, candidate.rule))));
                    }
                }
            }
        }
        let undecided = !left.is_empty() || !had_values;
        Ok(self.end_walk(if undecided {
            Some(Ruling::DEFAULT_DENY)
        } else {
            best
        }))
    }

    /// On the filesystem server, what lies within the sandbox needs no rule.
    fn take_sandboxed(&mut self, left: &mut Vec<usize>, best: &mut Option<Ruling>) -> Result<(), HostError> {
        let sandbox = self.directories.sandbox(&mut self.forms)?;
        let operands = &self.reading.operands;
        let before = left.len();
        left.retain(|at| !operands.get(*at).is_some_and(|operand| sandbox.holds(operand)));
        if left.len() < before {
            *best = join(
                *best,
                Ruling {
                    effect: Effect::Allow,
                    author: Author::Sandbox,
                },
            );
        }
        Ok(())
    }

    /// Takes from `left` the values that a relevant rule decides about.
    fn discharge(
        &mut self,
        rule: &'p Rule,
        candidate: &Candidate,
        walk: &mut Walk<'p>,
        subject: &Subject,
        left: &mut Vec<usize>,
        best: &mut Option<Ruling>,
    ) -> Result<(), HostError> {
        let mut why = None;
        if !self.meets_roles(rule, &mut why) {
            self.considered(rule, false, "", why);
            return Ok(());
        }
        let matched = self.conditions(rule, subject, &mut why)?;
        if matched == Matched::Nothing {
            self.considered(rule, false, "", why);
            return Ok(());
        }
        let mut outside = Vec::new();
        if let Some((_, directory)) = rule.paths {
            for at in left.iter().copied() {
                if !self.lies_within(at, directory, rule.effect)? {
                    outside.push(at);
                }
            }
            if outside.len() == left.len() && self.is_concerned(rule, directory, left)? {
                *best = join(*best, ruling(rule, candidate.rule));
                self.considered(rule, true, "is heard, since its directory may be concerned", None);
                return Ok(());
            }
            if outside.len() == left.len() {
                if candidate.directory.is_some()
                    && self.trace.is_none()
                    && self.is_out_of_reach(directory, left)?
                {
                    walk.drop_directory();
                }
                if self.trace.is_some() {
                    let shown = self
                        .directories
                        .rule(&mut self.forms, directory)?
                        .as_str()
                        .to_owned();
                    why = Some(("paths", format!("no value left lies within {shown}")));
                }
                self.considered(rule, false, "", why);
                return Ok(());
            }
        }
        *best = join(*best, ruling(rule, candidate.rule));
        if matched == Matched::All {
            *left = outside;
            self.considered(rule, true, "holds", None);
        } else {
            self.considered(rule, true, "holds for some values, and is heard", None);
        }
        Ok(())
    }

    /// Whether a restricting rule about the directory may concern one of the values.
    fn is_concerned(&mut self, rule: &Rule, directory: u32, values: &[usize]) -> Result<bool, HostError> {
        if rule.effect == Effect::Allow {
            return Ok(false);
        }
        for at in values.iter().copied() {
            if self.may_concern(at, directory)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether no rule about the directory, granting or restricting, concerns any of the values.
    fn is_out_of_reach(&mut self, directory: u32, values: &[usize]) -> Result<bool, HostError> {
        for at in values.iter().copied() {
            if self.lies_within(at, directory, Effect::Deny)? || self.may_concern(at, directory)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A rule for a role that has no values in this call: all its conditions must hold as they stand.
    fn holds_without_values(&mut self, rule: &'p Rule, subject: &Subject) -> Result<bool, HostError> {
        let mut why = None;
        let mut holds = self.meets_roles(rule, &mut why);
        holds = holds && self.conditions(rule, subject, &mut why)? != Matched::Nothing;
        if holds && rule.paths.is_some() {
            holds = false;
            why = Some(("paths", "no value of the judged role".to_owned()));
        }
        self.considered(rule, holds, "holds", why);
        Ok(holds)
    }

    /// A tool without resource roles: the first rule that matches decides.
    fn judge_without_role(&mut self, tool: &'p Tool) -> Result<Ruling, HostError> {
        let subject = Subject {
            judged: None,
            alone: None,
        };
        let mut whole = self.walk_tool(tool, &subject)?;
        if self.reading.operands.len() < 2 {
            return Ok(whole);
        }
        let listed = self.program.listed_roles;
        for role in crate::program::distinct(&self.reading.resolved, listed) {
            let values = self.values_of(role);
            if values.len() < 2 {
                continue;
            }
            for value in values {
                if whole.effect == Effect::Deny {
                    return Ok(whole);
                }
                let subject = Subject {
                    judged: None,
                    alone: Some((role, value)),
                };
                whole = whole.join(self.walk_tool(tool, &subject)?);
            }
        }
        Ok(whole)
    }

    fn walk_tool(&mut self, tool: &'p Tool, subject: &Subject) -> Result<Ruling, HostError> {
        self.begin_walk(subject);
        let mut best = None;
        let mut walk = Walk::of_tool(self.program, tool);
        while let Some(candidate) = walk.next() {
            let Some(rule) = self.program.rule(candidate.rule) else {
                continue;
            };
            let mut why = None;
            let matched = if rule.paths.is_some() {
                why = Some(("paths", "the tool names no path".to_owned()));
                Matched::Nothing
            } else if self.meets_roles(rule, &mut why) {
                self.conditions(rule, subject, &mut why)?
            } else {
                Matched::Nothing
            };
            self.considered(rule, matched != Matched::Nothing, "holds", why);
            match matched {
                Matched::Nothing => {}
                Matched::Heard => best = join(best, ruling(rule, candidate.rule)),
                Matched::All => return Ok(self.end_walk(join(best, ruling(rule, candidate.rule)))),
            }
        }
        Ok(self.end_walk(Some(Ruling::DEFAULT_DENY)))
    }

    /// `if.roles`: any role of any argument of the tool.
    fn meets_roles(&self, rule: &Rule, why: &mut Reason) -> bool {
        let meets = rule.roles.is_none_or(|roles| roles.intersects(self.tool_roles));
        if !meets && self.trace.is_some() {
            *why = Some(("roles", "no argument of the tool has one of `roles`".to_owned()));
        }
        meets
    }

    /// The keys by which rules for these values are found, where any are filed so.
    fn gates(&mut self, tool: &Tool, role: RoleId, values: &[usize]) -> Result<Vec<Gate>, HostError> {
        let mut gates = Vec::new();
        if self.trace.is_some() || tool.chain(role).is_some() || !self.program.gated_roles.contains(role) {
            return Ok(gates);
        }
        for at in values.iter().copied() {
            for location in self.locate(at, role)? {
                gates.extend(location.keys().map(|key| Gate::Domain(key.into_owned())));
            }
            gates.push(Gate::Entry(self.text(at, role)?.into()));
        }
        sort::sort(&mut gates);
        gates.dedup();
        Ok(gates)
    }

    /// The rule directories that the values lie within, where directories are pinned and rules are many.
    fn pinned_directories(&self, tool: &Tool, role: RoleId, values: &[usize]) -> Option<Vec<DirectoryId>> {
        // Removing a directory concerns the rules about what is in it as well.
        if tool.chain(role).is_some()
            || role == RoleId::DELETE_PATH
            || !self.program.path_roles.contains(role)
        {
            return None;
        }
        let operands = values.iter().filter_map(|at| self.operand(*at));
        self.directories
            .pinned_around(operands.flat_map(|operand| operand.path().into_iter().chain(operand.entry())))
    }

    fn begin_walk(&mut self, subject: &Subject) {
        if self.trace.is_none() {
            return;
        }
        let alone = subject
            .alone
            .and_then(|(_, at)| self.operand(at))
            .map(|operand| operand.raw().to_owned());
        if let Some(trace) = &mut self.trace {
            trace.begin_walk(alone);
        }
    }

    fn end_walk(&mut self, ruling: Option<Ruling>) -> Ruling {
        let ruling = ruling.unwrap_or(Ruling::DEFAULT_DENY);
        if self.trace.is_some() {
            let verdict = self.verdict(ruling, Vec::new());
            let (decision, rule) = (verdict.decision.as_str(), verdict.rule.into_owned());
            if let Some(trace) = &mut self.trace {
                trace.end_walk(decision, rule);
            }
        }
        ruling
    }

    fn considered(&mut self, rule: &Rule, holds: bool, outcome: &'static str, why: Reason) {
        if let Some(trace) = &mut self.trace {
            trace.rule(rule, holds, outcome, why);
        }
    }
}

fn ruling(rule: &Rule, id: RuleId) -> Ruling {
    Ruling {
        effect: rule.effect,
        author: Author::Rule(id),
    }
}
