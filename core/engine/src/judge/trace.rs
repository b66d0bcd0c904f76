//! How a verdict came about, step by step, bounded like everything else.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::program::{Program, Rule, RuleId};

/// A verdict with everything that led to it.
///
/// The same call, engine and host answers give the same explanation, byte for byte, in every host.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The verdict, as `{decision, rule, reason, escalatedRoles?}`.
    pub verdict: Verdict<'static>,
    /// The server that was called.
    pub server_name: String,
    /// The tool that was called.
    pub tool_name: String,
    /// Every string that bears a role.
    pub values: Vec<ValueStep>,
    /// The structural checks, in order, up to the one that decided.
    pub checks: Vec<CheckStep>,
    /// The judgement of each role by the rules.
    pub roles: Vec<RoleStep>,
    /// The parts of a shell command. It is not written where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandStep>,
    /// What the policy counts. It is not written where that is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterStep>,
    /// How many steps were left out because the explanation reached its limit.
    pub steps_left_out: usize,
    /// How many of them are values. It is not written where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub values_left_out: usize,
    /// The questions to the host and its answers; as a host, it gives this verdict again.
    pub recording: crate::host::Recording,
}

impl Explanation {
    /// The same for an agent, who is to learn nothing of the host: without what the host was asked, without canonical
    /// paths, and without the details of steps that may hold one. Addresses stay, and what is said about them.
    #[must_use]
    pub fn for_agent(mut self) -> Self {
        hide(&mut self.values, &mut self.checks, &mut self.roles);
        for part in self.commands.iter_mut().filter_map(|step| step.judged.as_mut()) {
            hide(&mut part.values, &mut part.checks, &mut part.roles);
            // Reasons of parts stand in the verdict of the call as far as an agent may see them.
            part.verdict.reason = Cow::Borrowed("");
        }
        self.recording = crate::host::Recording::default();
        self
    }
}

/// Leaves out of steps what tells something of the host.
fn hide(values: &mut [ValueStep], checks: &mut [CheckStep], roles: &mut [RoleStep]) {
    const SPEAKS_OF_ADDRESSES: [&str; 2] = ["visibility", "operations"];
    for value in values.iter_mut().filter(|value| value.role != "address") {
        value.canonical = None;
    }
    // Values that the engine filled in are the host's, such as the URL of a remote that is a directory.
    let mut filled_in = Vec::new();
    for value in values.iter_mut().filter(|value| value.argument.is_empty()) {
        filled_in.push(std::mem::take(&mut value.raw));
    }
    for check in checks {
        if !SPEAKS_OF_ADDRESSES.contains(&check.check) {
            check.detail.clear();
        }
    }
    for walk in roles.iter_mut().flat_map(|role| &mut role.walks) {
        if let Some(alone) = walk.alone.as_mut().filter(|alone| filled_in.contains(alone)) {
            alone.clear();
        }
        walk.rules.iter_mut().for_each(|rule| rule.detail.clear());
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A part of a shell command: a program that it runs, or what was not understood of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandStep {
    /// The argument that holds the command, as a JSON Pointer.
    pub argument: String,
    /// Where the part begins in the command, in bytes of UTF-8.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The construct that was not understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_understood: Option<String>,
    /// The judgement of the program, as a call of the server `shell`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<PartStep>,
}

/// The judgement of a program that a shell command runs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartStep {
    /// The program, which is the tool that was judged.
    pub tool_name: String,
    /// The verdict on this part alone, before what the tool's annotation says of parts that no rule decides about.
    pub verdict: Verdict<'static>,
    /// Every string that bears a role.
    pub values: Vec<ValueStep>,
    /// The structural checks, in order, up to the one that decided.
    pub checks: Vec<CheckStep>,
    /// The judgement of each role by the rules.
    pub roles: Vec<RoleStep>,
}

/// A counter of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CounterStep {
    /// Its name.
    pub counter: String,
    /// How many calls it has counted, as the host says; none if nobody says so.
    pub count: Option<u64>,
    /// How often this call counts once it is made.
    pub adds: u64,
}

/// One string under one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueStep {
    /// The argument that holds the string, as a JSON Pointer; empty for what the engine filled in.
    pub argument: String,
    /// The role that it bears.
    pub role: String,
    /// The string as given; a placeholder under a role that redacts.
    pub raw: String,
    /// Its canonical form under the role; none where it has none.
    pub canonical: Option<String>,
    /// The argument that it is relative to, where the annotation names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// `true` if the call does not give the argument, and the server takes this value. It is not written otherwise.
    #[serde(default, skip_serializing_if = "is_false")]
    pub absent: bool,
}

/// One structural check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckStep {
    /// The name of the check.
    pub check: &'static str,
    /// `true` if the check passed, or was let through.
    pub passed: bool,
    /// The details that were found.
    pub detail: String,
}

/// The judgement of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleStep {
    /// The role; none where the tool has no resource role.
    pub role: Option<String>,
    /// All values together, then each alone where that matters.
    pub walks: Vec<WalkStep>,
}

/// Going through the rules once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkStep {
    /// The value that was judged alone; none where all were judged together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<String>,
    /// The rules that were looked at, in order. Rules for other servers, tools and roles are not.
    pub rules: Vec<RuleStep>,
    /// The outcome: `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule that decided.
    pub rule: String,
}

/// One rule that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleStep {
    /// The rule's name.
    pub rule: String,
    /// The rule's effect if it holds.
    pub effect: &'static str,
    /// `true` if it held.
    pub holds: bool,
    /// The first condition that failed; none where the rule held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<&'static str>,
    /// Why it failed, or how it held.
    pub detail: String,
}

/// Collects the steps of one judgement.
///
/// It observes: nothing that is judged depends on whether there is a trace.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) checks: Vec<CheckStep>,
    pub(super) roles: Vec<RoleStep>,
    pub(super) commands: Vec<CommandStep>,
    pub(super) left_out: usize,
    /// The rules that concern the judged role and that the walk did not come to yet, in descending order.
    ahead: Vec<RuleId>,
    steps: usize,
    limit: usize,
}

impl Trace {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    fn has_room(&mut self) -> bool {
        let room = self.steps < self.limit;
        if room {
            self.steps += 1;
        } else {
            self.left_out += 1;
        }
        room
    }

    pub(super) fn check(&mut self, check: &'static str, passed: bool, detail: String) {
        if self.has_room() {
            self.checks.push(CheckStep {
                check,
                passed,
                detail,
            });
        }
    }

    pub(super) fn command(&mut self, step: impl FnOnce() -> CommandStep) {
        if self.has_room() {
            self.commands.push(step());
        }
    }

    /// The steps that it may still take.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.steps)
    }

    pub(super) fn begin_role(&mut self, role: &str) {
        if self.has_room() {
            self.roles.push(RoleStep {
                role: Some(role.to_owned()),
                walks: Vec::new(),
            });
        }
    }

    /// Begins the part that is about the call as a whole.
    pub(super) fn begin_call(&mut self) {
        if self.has_room() {
            self.roles.push(RoleStep {
                role: None,
                walks: Vec::new(),
            });
        }
    }

    /// Begins a walk through the rules that `concern` the judged role, in order.
    pub(super) fn begin_walk(&mut self, alone: Option<String>, concern: Vec<RuleId>) {
        self.ahead = concern;
        self.ahead.reverse();
        if !self.has_room() {
            return;
        }
        if self.roles.is_empty() {
            self.roles.push(RoleStep {
                role: None,
                walks: Vec::new(),
            });
        }
        if let Some(role) = self.roles.last_mut() {
            role.walks.push(WalkStep {
                alone,
                rules: Vec::new(),
                decision: "",
                rule: String::new(),
            });
        }
    }

    /// A rule that the walk came to, after those that the index passed over.
    pub(super) fn rule(
        &mut self,
        program: &Program,
        id: RuleId,
        holds: bool,
        outcome: &'static str,
        why: Option<(&'static str, String)>,
    ) {
        self.passed_over(program, Some(id));
        let (condition, detail) = match why {
            Some((condition, detail)) if !holds => (Some(condition), detail),
            _ => (None, outcome.to_owned()),
        };
        self.push(program, id, holds, condition, detail);
    }

    /// Records the rules ahead of this one, or all that are left, as passed over by the index.
    fn passed_over(&mut self, program: &Program, next: Option<RuleId>) {
        while let Some(id) = self.ahead.pop_if(|id| next.is_none_or(|next| *id <= next)) {
            if next != Some(id) {
                let condition = program.rule(id).and_then(Rule::keyed_condition);
                let directory = program.rule(id).and_then(|rule| rule.paths);
                let directory = directory.and_then(|(_, at)| program.directories.get_index(at as usize));
                let why = match (condition, directory) {
                    (Some("paths"), Some(directory)) => format!("no value left lies within {directory}"),
                    _ => "not by its key".to_owned(),
                };
                self.push(program, id, false, condition, why);
            }
        }
    }

    fn push(
        &mut self,
        program: &Program,
        id: RuleId,
        holds: bool,
        condition: Option<&'static str>,
        detail: String,
    ) {
        let Some(rule) = program.rule(id) else { return };
        if !self.has_room() {
            return;
        }
        if let Some(walk) = self.roles.last_mut().and_then(|role| role.walks.last_mut()) {
            walk.rules.push(RuleStep {
                rule: rule.name.to_string(),
                effect: rule.effect.as_str(),
                holds,
                condition,
                detail,
            });
        }
    }

    /// Ends a walk; one that went through `all` rules passed over those that are left.
    pub(super) fn end_walk(&mut self, program: &Program, all: bool, decision: &'static str, rule: &str) {
        if all {
            self.passed_over(program, None);
        }
        if let Some(walk) = self.roles.last_mut().and_then(|role| role.walks.last_mut())
            && walk.decision.is_empty()
        {
            walk.decision = decision;
            rule.clone_into(&mut walk.rule);
        }
    }
}
