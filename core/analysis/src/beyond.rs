//! Calls that a statement is about and no region shows: tools that nobody annotated, and what only a repository tells.

use std::collections::BTreeSet;

use serde_json::json;

use super::held::{HeldStatement, Outcome, about, is_excluded};
use super::meant::Meant;
use super::{ANY_OTHER, Analysis};
use crate::imagined::Imagined;
use callgate_engine::bind::Call;
use callgate_engine::engine::{Engine, LinklessHost};
use callgate_engine::glob::NamePattern;
use callgate_engine::model::refs::Ref;
use callgate_engine::model::{Effect, ServerKind};
use callgate_engine::policy::Invariant;
use callgate_engine::program::{ListMatcher, Program, Tool};
use callgate_engine::role::{RoleId, RoleSet, Step};

/// Branches that a statement is held against one by one.
const MOST_BRANCHES: usize = 16;

/// The answer to a statement about the calls of a trusted server's tools that are not annotated.
pub(super) enum Unnamed {
    /// It is not about them, or holds.
    Holds(usize),
    Refuted(Outcome),
    Unknown(String),
}

/// Holds the statement against the tools that a trusted server has beside the annotated ones.
pub(super) fn unnamed(analysis: &Analysis<'_>, invariant: &Invariant, server: &str) -> Unnamed {
    let calls = &invariant.calls;
    let arguments = json!({});
    let name = match &calls.tool {
        None => Some(ANY_OTHER.to_owned()),
        Some(patterns) => patterns
            .iter()
            .find_map(|pattern| instance(analysis, server, pattern)),
    };
    let Some(name) = name else {
        return Unnamed::Holds(0);
    };
    let verdict = analysis
        .imagined
        .judge(&Call::from_value(server, &name, &arguments));
    if !is_excluded(invariant, verdict.decision.strictness()) {
        return Unnamed::Holds(1);
    }
    if calls.roles.is_some() || calls.within.is_some() || calls.domains.is_some() || calls.values.is_some() {
        return Unnamed::Unknown(format!(
            "{server}/{name}: every call of a trusted server is decided alike, whatever its arguments are, and nobody says what \
             those of this tool mean"
        ));
    }
    Unnamed::Refuted(Outcome::Refuted {
        call: json!({"serverName": server, "toolName": name, "arguments": arguments}),
        decision: verdict.decision.as_str(),
        rule: verdict.rule.to_string(),
    })
}

/// The name of a tool that the pattern matches and that is not annotated.
fn instance(analysis: &Analysis<'_>, server: &str, pattern: &NamePattern) -> Option<String> {
    let name = pattern.as_str().replace('*', "some-tool");
    let is_annotated = analysis.imagined.program().tool(server, &name).is_some();
    (!is_annotated && pattern.matches(&name)).then_some(name)
}

/// Why a statement that no call refutes is not proven of a tool where no repository is looked at.
pub(super) fn of_repositories(
    (engine, program): (&Engine, &Program),
    invariant: &Invariant,
    tool: &Tool,
) -> Vec<String> {
    let meant = Meant::new(program, &invariant.calls);
    let bears = |wanted: &dyn Fn(RoleId) -> bool| {
        let mut roles = tool.arguments.iter().flat_map(|one| one.roles.possible());
        roles.any(|role| wanted(role) && meant.may_be_of(RoleSet::from(role)))
    };
    let is_branch = |role: RoleId| role == RoleId::BRANCH_NAME;
    let is_remote = |role: RoleId| program.registry.get(role).canonicalize == Step::GitUrl;
    for value in meant.values() {
        let is_name = !value.is_empty() && !value.contains(['/', ':']);
        let what = if is_name && bears(&is_remote) {
            "which URL the remote"
        } else if Ref::read(value) == Ref::Current && bears(&is_branch) {
            "which branch"
        } else {
            continue;
        };
        return vec![format!(
            "{what} `{value}` is depends on the repository, and none is looked at"
        )];
    }
    let is_git = program.server(&tool.server).kind == Some(ServerKind::Git);
    let mut roles = tool.arguments.iter().flat_map(|one| one.roles.possible());
    if !is_git || !roles.any(is_branch) {
        return Vec::new();
    }
    let mut reasons = on_branches((engine, program), invariant, tool);
    if reasons.is_empty() && is_excluded(invariant, Effect::Deny as u8) {
        reasons.extend(outside_repositories((engine, program), invariant, tool));
    }
    reasons
}

/// The same, if a call refutes the statement in a directory that is not a repository, where nobody can tell what `HEAD` is.
fn outside_repositories(
    (engine, program): (&Engine, &Program),
    invariant: &Invariant,
    tool: &Tool,
) -> Option<String> {
    let host = LinklessHost::without_repositories(program);
    let analysis = about(Imagined::new(engine, Some(&host)), invariant);
    let refuted = HeldStatement::new(&analysis, tool, invariant, None).refuted()?;
    let Outcome::Refuted { call, decision, rule } = refuted else {
        return None;
    };
    let arguments = call.get("arguments").unwrap_or(&call);
    Some(format!(
        "outside of a repository the decision about {arguments} is {decision}, by `{rule}`; no repository is looked at"
    ))
}

/// The same, if a call refutes the statement while some branch is checked out.
fn on_branches((engine, program): (&Engine, &Program), invariant: &Invariant, tool: &Tool) -> Vec<String> {
    let (branches, are_all) = branches(program, tool, invariant);
    for branch in &branches {
        let host = LinklessHost::on_branch(program, branch);
        let analysis = about(Imagined::new(engine, Some(&host)), invariant);
        let refuted = HeldStatement::new(&analysis, tool, invariant, Some(branch)).refuted();
        if let Some(Outcome::Refuted { call, decision, rule }) = refuted {
            let arguments = call.get("arguments").unwrap_or(&call);
            return vec![format!(
                "where the branch `{branch}` is checked out, the decision about {arguments} is {decision}, by `{rule}`; no \
                 repository is looked at"
            )];
        }
    }
    match are_all {
        true => Vec::new(),
        false => vec![format!(
            "more than {MOST_BRANCHES} branches may be checked out, and no repository is looked at"
        )],
    }
}

/// The branches that rules of the tool, or the statement, tell apart, and one that they do not name; and whether these are all.
fn branches(program: &Program, tool: &Tool, invariant: &Invariant) -> (Vec<String>, bool) {
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    for (_, rule) in program.rules_of(tool) {
        let lists = rule.lists.iter();
        for list in lists.filter(|list| list.roles.contains(RoleId::BRANCH_NAME)) {
            if let ListMatcher::Identifiers(names) = &list.matcher {
                listed.extend(names.sets.iter().flat_map(|(_, entries)| entries.iter()));
            }
        }
    }
    listed.extend(invariant.calls.values.iter().flatten().map(|value| &**value));
    let named = listed.into_iter().filter_map(|text| match Ref::read(text) {
        Ref::Branch(at) | Ref::Either(at, _) => text.get(at..).map(str::to_owned),
        Ref::Current | Ref::Unknown => None,
    });
    let mut all: Vec<String> = std::iter::once("some-branch".to_owned()).chain(named).collect();
    let are_all = all.len() <= MOST_BRANCHES;
    all.truncate(MOST_BRANCHES);
    (all, are_all)
}
