//! Statements about all calls, proven over the regions or refuted by a call.

use serde::Serialize;

use super::beyond::{self, Unnamed};
use super::held::{HeldStatement, Outcome, about, is_excluded};
use super::{Progress, Subject, Watcher};
use crate::imagined::Imagined;
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use callgate_engine::model::Effect;
use callgate_engine::policy::Invariant;

/// A statement and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// Its name, or its place in the document.
    pub name: String,
    /// The answer.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// On what disk a statement about a place is proven where no host is given.
const WITHOUT_LINKS: &str = "a disk without links";

/// Holds the statements of an engine's documents against all calls of its tools. The watcher is told of every tool that a
/// statement is about.
///
/// With a host its links and repositories are looked at. Without one there are no links, which the answer says where that
/// matters, and what only a repository tells is not known.
pub fn check_invariants(engine: &Engine, host: Option<&dyn Host>, watcher: Watcher<'_>) -> Vec<Statement> {
    let statements = engine.invariants().iter().enumerate();
    statements
        .map(|(at, invariant)| {
            let name = invariant.name.as_deref().map(str::to_owned);
            let name = name.unwrap_or_else(|| format!("invariants[{at}]"));
            let progress = Progress {
                subject: Subject::Statement(&name),
                at: at + 1,
                of: engine.invariants().len(),
                part_of: None,
            };
            let outcome = outcome((engine, host), invariant, &|tool| {
                watcher(&Progress {
                    part_of: Some(&progress),
                    ..*tool
                });
            });
            Statement { name, outcome }
        })
        .collect()
}

fn outcome(
    (engine, host): (&Engine, Option<&dyn Host>),
    invariant: &Invariant,
    watcher: Watcher<'_>,
) -> Outcome {
    let calls = &invariant.calls;
    let analysis = about(Imagined::new(engine, host), invariant);
    let (mut regions, mut escalates, mut because) = (0, false, Vec::new());
    let holds = |patterns: &Option<Vec<callgate_engine::glob::NamePattern>>, name: &str| {
        let patterns = patterns.as_ref();
        patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(name)))
    };
    let program = analysis.imagined.program();
    let tools = &program.tools;
    for (at, tool) in tools.iter().enumerate() {
        if !holds(&calls.server, &tool.server) || !holds(&calls.tool, &tool.name) {
            continue;
        }
        watcher(&Progress {
            subject: Subject::Tool {
                server: &tool.server,
                name: &tool.name,
            },
            at: at + 1,
            of: tools.len(),
            part_of: None,
        });
        let mut held = HeldStatement::new(&analysis, tool, invariant, None);
        if let Some(refuted) = held.refuted() {
            return refuted;
        }
        regions += held.regions;
        escalates |= held.escalates;
        if held.may_be_about_calls() {
            let mut reasons = held.reasons();
            if host.is_none() {
                reasons.extend(beyond::of_repositories((engine, program), invariant, tool));
            }
            let name = format!("{}/{}", tool.server, tool.name);
            because.extend(reasons.into_iter().map(|why| format!("{name}: {why}")));
        }
    }
    for server in program.trusted_servers() {
        if !holds(&calls.server, server) {
            continue;
        }
        match beyond::unnamed(&analysis, invariant, server) {
            Unnamed::Holds(more) => regions += more,
            Unnamed::Refuted(outcome) => return outcome,
            Unnamed::Unknown(why) => because.push(why),
        }
    }
    if !because.is_empty() {
        Outcome::Unknown { because }
    } else if regions == 0 {
        Outcome::Empty
    } else {
        let on = calls.within.is_some() && host.is_none();
        Outcome::Proven {
            regions,
            on: on.then_some(WITHOUT_LINKS),
            but_for_approvals: escalates && is_excluded(invariant, Effect::Allow as u8),
        }
    }
}
