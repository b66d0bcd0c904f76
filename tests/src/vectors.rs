//! Replaying recorded cases, `vectors/1`.

mod probes;
mod tags;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::compare::{Asked, Requirement, meets};
use crate::report::{CaseFile, Disagreement, Report, Tally};
use crate::source::{Progress, ReplayError, each, lines};
use crate::subject::{
    Batch, EngineParts, Extraction, Match, Operation, Outcome, Subject, Surroundings, WhitelistScript,
    run_offered,
};

/// The engine's heuristic is off, because the recorded engine does not have it (SPEC §15).
const OPTIONS: &str = r#"{"compatibility":"runtime","heuristicPaths":"off"}"#;

/// The reasons for untagged cases that this engine answers differently, by file and case.
///
/// A case that is listed here must not be answered as recorded, nor with a looser verdict.
#[derive(Debug, Default)]
pub struct Departures(BTreeMap<String, BTreeMap<String, String>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Departure {
    file: String,
    case: String,
    reason: String,
}

impl Departures {
    /// Reads JSON Lines of `{file, case, reason}`. Errors call the file `name`.
    ///
    /// # Errors
    /// A line is malformed, or a case is listed twice.
    pub fn read(name: &str, text: &str) -> Result<Self, ReplayError> {
        let mut departures = Self::default();
        for (number, line) in lines(text) {
            let one: Departure =
                serde_json::from_str(line).map_err(|error| ReplayError::at_line(name, number, error))?;
            let file = departures.0.entry(one.file).or_default();
            if file.insert(one.case.clone(), one.reason).is_some() {
                return Err(ReplayError::at_line(
                    name,
                    number,
                    format!("the case `{}` stands here twice", one.case),
                ));
            }
        }
        Ok(departures)
    }

    fn of(&self, file: &str) -> BTreeMap<&str, &str> {
        let cases = self.0.get(file).into_iter().flatten();
        cases
            .map(|(case, reason)| (case.as_str(), reason.as_str()))
            .collect()
    }
}

/// Replays the file `name` with the content `text`, and calls `progress` after every group.
///
/// # Errors
/// A line is malformed, a departure names a case that does not exist, the tables of requirements lack a tag or a probe
/// of the file, or the file of probes lacks one of the table.
pub fn replay(
    subject: &mut dyn Subject,
    name: &str,
    text: &str,
    departures: &Departures,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, ReplayError> {
    let mut departures = departures.of(name);
    let mut report = Report::default();
    let mut probes_met = Vec::new();
    each(name, lines(text).into_iter(), progress, |number, line| {
        let group = Group::read(line)?;
        if group.cases.iter().any(Case::is_probe) {
            probes_met.push(group.name.clone());
        }
        let place = format!("{name}:{number}");
        group.replay(subject, name, &place, &mut departures, &mut report)
    })?;
    if let Some(case) = departures.keys().next() {
        return Err(ReplayError::new(
            name,
            format!("the departure `{case}` names no case of the file"),
        ));
    }
    let missing = probes::PROBES
        .iter()
        .find(|(probe, _)| !probes_met.iter().any(|met| met == probe));
    match missing {
        Some((probe, _)) if !probes_met.is_empty() => {
            Err(ReplayError::new(name, format!("the probe `{probe}` is gone")))
        }
        _ => Ok(report),
    }
}

/// One line: a world, an engine, and their cases.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group {
    format: String,
    name: String,
    #[serde(default, rename = "seed")]
    _seed: Value,
    #[serde(default = "bare_world")]
    world: Value,
    engine: Option<BTreeMap<String, Box<RawValue>>>,
    cases: Vec<Case>,
}

/// One case. Everything that the engine reads stays text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    op: String,
    request: Option<Box<RawValue>>,
    server: Option<String>,
    tool: Option<String>,
    args: Option<Box<RawValue>>,
    allowed_directory: Option<String>,
    container_workspace_dir: Option<String>,
    extract: Option<Vec<Extraction>>,
    #[serde(rename = "match")]
    matches: Option<Vec<Match>>,
    #[serde(default)]
    expect: Value,
    weakness: Option<String>,
    #[serde(default)]
    weakness_also: Vec<String>,
    safer: Option<String>,
    #[serde(default, rename = "note")]
    _note: Value,
    #[serde(default, rename = "design")]
    _design: Value,
}

/// The world of a group without one.
fn bare_world() -> Value {
    json!({"home": "/home/u", "cwd": "/srv/app", "fs": {"dirs": ["/home/u", "/srv/app"]}})
}

impl Group {
    fn read(line: &str) -> Result<Self, String> {
        let group: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if group.format != "vectors/1" {
            return Err(format!("unknown format `{}`, expected `vectors/1`", group.format));
        }
        Ok(group)
    }

    fn replay(
        &self,
        subject: &mut dyn Subject,
        file: &str,
        place: &str,
        departures: &mut BTreeMap<&str, &str>,
        report: &mut Report,
    ) -> Result<(), String> {
        let batch = self.batch()?;
        let mut outcomes = run_offered(subject, &batch).into_iter();
        let world = |key: &str| self.world[key].as_str().unwrap_or_default();
        let file = CaseFile::new(subject.name(), file);
        for (at, case) in self.cases.iter().enumerate() {
            let Some(outcome) = outcomes.next().flatten() else {
                // A case that is not asked cannot depart.
                departures.remove(format!("{}[{at}]", self.name).as_str());
                report.count(&file, &case.tags(), Tally::NOT_OFFERED);
                continue;
            };
            let args = case.args_value();
            let asked = Asked {
                op: &case.op,
                args: &args,
                home: world("home"),
                cwd: world("cwd"),
            };
            let tags = case.tags();
            let recorded = case.recorded();
            let name = format!("{}[{at}]", self.name);
            let met = self.required(case, &tags, &asked, &recorded, &outcome)?;
            let ending = match departures.remove(name.as_str()) {
                None => met,
                Some(reason) if met.is_ok() => Err(json!({"departure": reason, "butMet": recorded})),
                Some(reason)
                    if case.op == "evaluate"
                        && !meets(Requirement::NeverLooser, &asked, &recorded, &outcome) =>
                {
                    Err(json!({"departure": reason, "notLooserThan": recorded}))
                }
                Some(_) => {
                    report.count(&file, &tags, Tally::DEPARTED);
                    continue;
                }
            };
            match ending {
                Ok(()) => {
                    let same = meets(Requirement::Recorded, &asked, &recorded, &outcome);
                    let as_recorded = usize::from(same && !tags.is_empty());
                    report.count(
                        &file,
                        &tags,
                        Tally {
                            as_recorded,
                            ..Tally::PASSED
                        },
                    );
                }
                Err(expected) => report.fail(
                    &file,
                    Disagreement {
                        subject: subject.name().to_owned(),
                        place: place.to_owned(),
                        case: name,
                        tags,
                        world: self.world.clone(),
                        engine: batch
                            .engine
                            .as_ref()
                            .map(EngineParts::to_value)
                            .unwrap_or_default(),
                        input: json!(batch.operations[at]),
                        expected,
                        got: json!(outcome),
                    },
                ),
            }
        }
        Ok(())
    }

    fn batch(&self) -> Result<Batch, String> {
        let engine = self.engine.as_ref().map(|documents| {
            let mut parts = EngineParts::default();
            parts.set("options", OPTIONS.to_owned());
            for (name, text) in documents {
                parts.set(name, text.get().to_owned());
            }
            parts
        });
        Ok(Batch {
            surroundings: Surroundings::Machine(self.world.clone()),
            engine,
            operations: self.cases.iter().map(Case::operation).collect::<Result<_, _>>()?,
        })
    }

    /// Returns what was required, if the outcome is different.
    fn required(
        &self,
        case: &Case,
        tags: &[String],
        asked: &Asked<'_>,
        recorded: &Value,
        outcome: &Outcome,
    ) -> Result<Result<(), Value>, String> {
        if case.is_probe() {
            let must = probes::must(&self.name)
                .ok_or_else(|| format!("no rule says what the probe `{}` must answer", self.name))?;
            return Ok(must.check(asked, recorded, outcome));
        }
        let requirements = tags::requirements(&case.op, tags)?;
        let met = requirements
            .iter()
            .any(|requirement| meets(*requirement, asked, recorded, outcome));
        let names: Vec<String> = requirements.iter().map(|one| format!("{one:?}")).collect();
        Ok(if met {
            Ok(())
        } else {
            Err(json!({"recorded": recorded, "anyOf": names}))
        })
    }
}

impl Case {
    fn is_probe(&self) -> bool {
        self.safer.is_some()
    }

    fn tags(&self) -> Vec<String> {
        self.weakness.iter().chain(&self.weakness_also).cloned().collect()
    }

    fn args_value(&self) -> Value {
        let parsed = self.args.as_ref().map(|args| serde_json::from_str(args.get()));
        parsed.and_then(Result::ok).unwrap_or_default()
    }

    fn recorded(&self) -> Value {
        match (&self.extract, &self.matches) {
            (Some(extractions), Some(matches)) => json!({
                "extract": extractions.iter().map(|one| &one.expect).collect::<Vec<_>>(),
                "match": matches.iter().map(|one| &one.expect).collect::<Vec<_>>(),
            }),
            _ => self.expect.clone(),
        }
    }

    fn operation(&self) -> Result<Operation, String> {
        let missing = |key: &str| format!("a case of `{}` has no `{key}`", self.op);
        let text = |value: &Option<Box<RawValue>>, key: &str| {
            value
                .as_ref()
                .map(|text| text.get().to_owned())
                .ok_or_else(|| missing(key))
        };
        let name = |value: &Option<String>, key: &str| value.clone().ok_or_else(|| missing(key));
        Ok(match self.op.as_str() {
            "construct" => Operation::Construct,
            "evaluate" => Operation::Evaluate {
                request: text(&self.request, "request")?,
                times: 1,
            },
            "getAnnotation" => Operation::GetAnnotation {
                server: name(&self.server, "server")?,
                tool: name(&self.tool, "tool")?,
                args: text(&self.args, "args")?,
            },
            "prepareToolArgs" => Operation::PrepareToolArgs {
                server: name(&self.server, "server")?,
                tool: name(&self.tool, "tool")?,
                args: text(&self.args, "args")?,
                allowed_directory: self.allowed_directory.clone(),
                container_workspace_dir: self.container_workspace_dir.clone(),
            },
            "whitelist" => Operation::Whitelist(WhitelistScript {
                extract: self.extract.clone().ok_or_else(|| missing("extract"))?,
                matches: self.matches.clone().ok_or_else(|| missing("match"))?,
            }),
            function => match self.args_value() {
                Value::Array(args) => Operation::Function {
                    name: function.to_owned(),
                    args,
                },
                _ => return Err(missing("args")),
            },
        })
    }
}

#[cfg(test)]
mod tests;
