//! Cases with written expectations and recorded explanations, `cases/1`.
//!
//! A line is a group `{format, name?, says?, machine? or recording?, engine?, texts?, cases}`: one engine and one host. The
//! engine's documents are values, or, in `texts`, text that need not be JSON. The host
//! is a `machine`, as [`callgate_host::VirtualHost`] reads it, or a [`callgate_engine::host::Recording`] of what a host once
//! answered. `says` is the sentence of the specification that the cases test. `callgate explain --record` writes such
//! lines. A case is `{op, why?, …, expect}`:
//!
//! | `op` | takes | the answer is |
//! |---|---|---|
//! | `gate` | `call`, `context`?, `containerWorkspaceDir`? | `{verdict, argsForTransport}` of a call that is prepared and judged |
//! | `evaluate` | `call`, `context`? | the verdict of a call whose arguments are already prepared |
//! | `explain` | `call`, `context`? | the explanation; the verdict in it must be that of `evaluate` |
//! | `explainGate` | `call`, `context`?, `containerWorkspaceDir`? | the same for a call that is prepared and judged |
//! | `offer` | `call`, `context`?, `containerWorkspaceDir`? | what approving the escalated call would cover, or `null` |
//! | `resolve` | `address`, `requireExists`?, `context`? | `{reply, hostPath}` of an address in the engine's world |
//! | `enforce` | `tool`, `command`, `root`, `mode`?, `subdirectory`?, `address`?, `context`? | the reply to an operation |
//! | `references` | `steps` | an array with the answer to each step, which [`ReferenceStep`](crate::ReferenceStep) describes |
//! | `semantics` | `server`, `tool` | what a tool does |
//! | `diagnostics` | | `[{code, severity, path, line, column}]` for the engine's documents, accepted or not |
//! | `warnings` | | a line of text for each diagnostic of accepted documents |
//! | `construct` | | `null`; the engine is only built |
//! | the name of a function | `args` | its answer |
//!
//! `gate`, `evaluate`, `explain` and `explainGate` may be asked with `approvals` (a document), `offeredFor` (another call; what is offered for
//! it, if anything, is added to them) and `now` (milliseconds since 1970, or text); the answer of `gate` then has the
//! explanation for an agent too.
//!
//! `expect` has one or more of these, and all of them must hold:
//!
//! | key | holds where |
//! |---|---|
//! | `decision`, `rule`, `reason` | the verdict has exactly this |
//! | `approval` | the verdict names this approval; `null` if it names none |
//! | `reasonHas` | the reason contains each of these strings |
//! | `transport` | `argsForTransport` is this |
//! | `answer` | the answer is this |
//! | `holds` | the answer contains this: of an object, the members given here; anything else is compared as a whole |
//! | `lines` | the answer is this many strings, each starting with the string given here |
//! | `refused` | the engine refuses, and the message contains each of these strings |
//!
//! If the engine has a world, no reply, verdict or explanation for an agent may contain the directory of a root or a
//! mod, or the home directory.

mod case;
mod expected;
mod fields;
mod secrets;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::report::{CaseFile, Disagreement, Report, Tally};
use crate::source::{Progress, ReplayError, each, lines};
use crate::subject::{Batch, EngineParts, Outcome, Subject, Surroundings, run_offered};
use case::Case;
use fields::Fields;
use secrets::Secrets;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    format: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    says: String,
    machine: Option<Value>,
    recording: Option<Value>,
    engine: Option<BTreeMap<String, Box<RawValue>>>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
    cases: Vec<Fields>,
}

/// One line: an engine, a host and the cases.
struct Group {
    name: String,
    says: String,
    surroundings: Surroundings,
    engine: Option<EngineParts>,
    secrets: Secrets,
    cases: Vec<Case>,
}

/// The machine of a group without one.
fn bare_machine() -> Value {
    json!({"home": "/home/u", "cwd": "/srv/app", "fs": {"dirs": ["/home/u", "/srv/app"]}})
}

/// Replays the file `name` with the content `text`, and calls `progress` after every group.
///
/// # Errors
/// A line is malformed, or a case expects nothing.
pub fn replay(
    subject: &mut dyn Subject,
    name: &str,
    text: &str,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, ReplayError> {
    let mut report = Report::default();
    each(name, lines(text).into_iter(), progress, |number, line| {
        let place = format!("{name}:{number}");
        Group::read(line)?.replay(subject, name, &place, &mut report);
        Ok(())
    })?;
    Ok(report)
}

/// The engine, the host and the operations of a line, for programs that run them on their own.
///
/// # Errors
/// The line is malformed; the message says how.
pub fn batch(line: &str) -> Result<Batch, String> {
    Group::read(line).map(|group| group.batch())
}

impl Group {
    fn read(line: &str) -> Result<Self, String> {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if line.format != "cases/1" {
            return Err(format!("found the format `{}`, expected `cases/1`", line.format));
        }
        let surroundings = match (line.recording, line.machine) {
            (Some(_), Some(_)) => {
                return Err("found both `machine` and `recording`, expected one host".to_owned());
            }
            (Some(recording), None) => Surroundings::Recording(recording),
            (None, machine) => Surroundings::Machine(machine.unwrap_or_else(bare_machine)),
        };
        let world = line.engine.as_ref().and_then(|engine| engine.get("world"));
        let secrets = Secrets::of(world.map(|text| text.get()), &surroundings);
        let cases = line.cases.into_iter().enumerate().map(|(at, fields)| {
            Case::read(fields, world.is_some()).map_err(|message| format!("case {at}: {message}"))
        });
        let cases = cases.collect::<Result<_, _>>()?;
        let engine = line.engine.as_ref().map(|documents| {
            let mut parts = EngineParts::default();
            for (part, text) in documents {
                parts.set(part, text.get().to_owned());
            }
            for (part, text) in line.texts {
                parts.set(&part, text);
            }
            parts
        });
        Ok(Self {
            name: line.name,
            says: line.says,
            surroundings,
            engine,
            secrets,
            cases,
        })
    }

    fn batch(&self) -> Batch {
        Batch {
            surroundings: self.surroundings.clone(),
            engine: self.engine.clone(),
            operations: self
                .cases
                .iter()
                .flat_map(|case| case.operations.clone())
                .collect(),
        }
    }

    fn replay(&self, subject: &mut dyn Subject, name: &str, place: &str, report: &mut Report) {
        let batch = self.batch();
        let mut outcomes = run_offered(subject, &batch).into_iter();
        let file = CaseFile::new(subject.name(), name);
        for (at, case) in self.cases.iter().enumerate() {
            let tags = [self.tag(case)];
            let outcomes: Option<Vec<Outcome>> = outcomes.by_ref().take(case.operations.len()).collect();
            let Some(outcomes) = outcomes else {
                report.count(&file, &tags, Tally::NOT_OFFERED);
                continue;
            };
            let outcome = case.outcome(outcomes);
            let Err(expected) = case.check(&outcome, &self.secrets) else {
                report.count(&file, &tags, Tally::PASSED);
                continue;
            };
            report.fail(
                &file,
                Disagreement {
                    subject: subject.name().to_owned(),
                    place: place.to_owned(),
                    case: format!("{}[{at}] {}", self.name, case.why).trim_end().to_owned(),
                    tags: tags.to_vec(),
                    world: json!(batch.surroundings),
                    engine: self
                        .engine
                        .as_ref()
                        .map(EngineParts::to_value)
                        .unwrap_or_default(),
                    input: json!(case.operations),
                    expected,
                    got: json!(outcome),
                },
            );
        }
    }

    /// The heading under which the report counts a case: the sentence that it tests, or its operation.
    fn tag(&self, case: &Case) -> String {
        if self.says.is_empty() {
            format!("`{}`", case.op)
        } else {
            self.says.clone()
        }
    }
}

#[cfg(test)]
mod tests;
