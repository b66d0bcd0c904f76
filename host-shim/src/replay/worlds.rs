//! Replaying cases of worlds, `world/1`: what an engine says about places, and that it never names one of the host's.
//!
//! A line is `{format, name, machine, engine, cases}`: the host as [`crate::VirtualHost::from_world`] reads it, the
//! engine's documents by their keys, and cases `{why, ask, …, expect}`. A case without a file's `engine` part has the
//! documents of `defaults`, an empty policy and no tools.
//!
//! What is expected is part of the answer: of an object the members that are written, of anything else all. `reasonHas`
//! is a part of the verdict's reason. Besides, no reply, no verdict and no explanation for an agent may hold the
//! directory of a root or a mod, or the home directory.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::report::{Disagreement, Report, Tally};
use super::subject::{Batch, EngineParts, Operation, Outcome, Subject, Surroundings, WorldQuestion};
use super::{Progress, ReplayError, each, lines};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    format: String,
    name: String,
    machine: Value,
    engine: BTreeMap<String, Box<RawValue>>,
    cases: Vec<Map<String, Value>>,
}

/// One case, taken apart.
struct Case {
    why: String,
    question: WorldQuestion,
    expect: Value,
}

/// Replays the file `name` with the content `text`; `progress` is called after every line.
///
/// # Errors
/// When a line is malformed.
pub fn replay(
    subject: &mut dyn Subject,
    name: &str,
    text: &str,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, ReplayError> {
    let mut report = Report::default();
    each(name, lines(text).into_iter(), progress, |number, line| {
        replay_line(subject, name, number, line, &mut report)
    })?;
    Ok(report)
}

fn replay_line(
    subject: &mut dyn Subject,
    name: &str,
    number: usize,
    line: &str,
    report: &mut Report,
) -> Result<(), String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if line.format != "world/1" {
        return Err(format!("unknown format `{}`, expected `world/1`", line.format));
    }
    let cases = line.cases.iter().enumerate();
    let cases: Vec<Case> = cases
        .map(|(at, case)| Case::read(case).map_err(|message| format!("case {at}: {message}")))
        .collect::<Result<_, _>>()?;
    let mut engine = EngineParts::default();
    for (part, text) in &line.engine {
        engine.set(part, text.get().to_owned());
    }
    let secrets = secrets(&line);
    let batch = Batch {
        surroundings: Surroundings::World(line.machine.clone()),
        engine: Some(engine),
        operations: cases
            .iter()
            .map(|case| Operation::World(case.question.clone()))
            .collect(),
    };
    let outcomes = subject.run(&batch);
    let file = format!("{} {name}", subject.name());
    for (at, case) in cases.iter().enumerate() {
        let tags = [case.kind().to_owned()];
        let got = outcomes.get(at);
        if got.is_some_and(|outcome| case.is_met(outcome, &secrets)) {
            report.count(&file, &tags, Tally::PASSED);
            continue;
        }
        report.fail(
            &file,
            Disagreement {
                subject: subject.name().to_owned(),
                place: format!("{name}:{number}"),
                case: format!("{} {at}: {}", line.name, case.why),
                tags: tags.to_vec(),
                world: line.machine.clone(),
                engine: batch
                    .engine
                    .as_ref()
                    .map(EngineParts::to_value)
                    .unwrap_or_default(),
                input: json!(case.question),
                expected: case.expect.clone(),
                got: json!(got),
            },
        );
    }
    Ok(())
}

/// Every path that only the host may know.
fn secrets(line: &Line) -> Vec<String> {
    let world = line
        .engine
        .get("world")
        .map(|text| serde_json::from_str::<Value>(text.get()));
    let world = world.and_then(Result::ok).unwrap_or_default();
    let named = ["roots", "mounts"]
        .into_iter()
        .filter_map(|key| world[key].as_object());
    let paths = named.flat_map(Map::values).filter_map(Value::as_str);
    let home = line.machine["home"].as_str();
    let paths = paths
        .chain(home)
        .filter(|path| path.starts_with('/') && path.len() > 1);
    paths.map(str::to_owned).collect()
}

impl Case {
    fn read(case: &Map<String, Value>) -> Result<Self, String> {
        let mut rest = case.clone();
        let why = rest.remove("why").and_then(|why| why.as_str().map(str::to_owned));
        let why = why.ok_or("expected `why`, the sentence that the case is about")?;
        let expect = rest.remove("expect").ok_or("expected `expect`")?;
        // A case writes values where a question has their text, so that it can be read.
        for key in ["context", "request"] {
            if let Some(value) = rest.get_mut(key).filter(|value| value.is_object()) {
                *value = Value::from(value.to_string());
            }
        }
        let question = serde_json::from_value(Value::Object(rest)).map_err(|error| error.to_string())?;
        Ok(Self {
            why,
            question,
            expect,
        })
    }

    fn kind(&self) -> &'static str {
        match &self.question {
            WorldQuestion::Resolve { .. } => "world-resolve",
            WorldQuestion::Enforce { .. } => "world-enforce",
            WorldQuestion::Gate { .. } => "world-gate",
            WorldQuestion::Evaluate { .. } => "world-evaluate",
            WorldQuestion::References { .. } => "world-references",
            WorldQuestion::Diagnostics => "world-diagnostics",
        }
    }

    fn is_met(&self, outcome: &Outcome, secrets: &[String]) -> bool {
        let Outcome::Answer(answer) = outcome else {
            return false;
        };
        let mut expect = self.expect.clone();
        let part = expect
            .as_object_mut()
            .and_then(|expect| expect.remove("reasonHas"));
        let reason = answer["verdict"]["reason"].as_str().unwrap_or_default();
        let part = part.as_ref().map_or(Some(""), Value::as_str);
        part.is_some_and(|part| reason.contains(part))
            && holds(&expect, answer)
            && self.keeps(secrets, answer)
    }

    /// Whether what an agent may see holds none of the secrets, other than what it said itself.
    fn keeps(&self, secrets: &[String], answer: &Value) -> bool {
        let shown = match &self.question {
            WorldQuestion::Resolve { .. } => answer["reply"].to_string(),
            WorldQuestion::Enforce { .. } => answer.to_string(),
            WorldQuestion::Gate { .. } => {
                let mut explanation = answer["explanation"].clone();
                for value in explanation["values"].as_array_mut().into_iter().flatten() {
                    value["raw"] = Value::Null;
                }
                format!("{}{explanation}", answer["verdict"])
            }
            WorldQuestion::Evaluate { .. } => answer["verdict"].to_string(),
            WorldQuestion::References { .. } | WorldQuestion::Diagnostics => return true,
        };
        secrets.iter().all(|secret| !shown.contains(secret.as_str()))
    }
}

/// Whether the answer has what is expected.
fn holds(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            let holds_member =
                |(key, one): (&String, &Value)| got.get(key).is_some_and(|other| holds(one, other));
            expected.iter().all(holds_member)
        }
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len() && expected.iter().zip(got).all(|(one, other)| holds(one, other))
        }
        _ => expected == got,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::NativeSubject;

    fn replayed(cases: Value) -> Result<(usize, usize), String> {
        let line = json!({
            "format": "world/1", "name": "n",
            "machine": {"home": "/home/u", "cwd": "/", "fs": {"files": ["/srv/r/a"]}},
            "engine": {
                "compiledPolicy": {"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": []},
                "toolAnnotations": {"generatedAt": "", "servers": {}},
                "world": {
                    "roots": {"r": "/srv/r"},
                    "visibility": [{"mode": "m", "root": "r", "subdirectory": null, "when": []}],
                    "operations": [],
                },
            },
            "cases": cases,
        });
        let report = replay(&mut NativeSubject, "f", &line.to_string(), &mut |_| {});
        let total = report.map_err(|error| error.to_string())?.total();
        Ok((total.passed, total.failed))
    }

    #[test]
    fn a_case_is_held_to_what_it_expects() {
        let case = |expect: Value| json!([{"why": "w", "ask": "resolve", "address": "root:r/a", "context": {"mode": "m"}, "expect": expect}]);
        let code = |code: &str| json!({"reply": {"code": code}});
        assert_eq!(replayed(case(code("WA-RES-S-001"))), Ok((1, 0)));
        assert_eq!(replayed(case(code("WA-RES-I-001"))), Ok((0, 1)));
        assert_eq!(replayed(case(json!({"hostPath": "/srv/r/a"}))), Ok((1, 0)));
        assert_eq!(replayed(case(json!({"other": null}))), Ok((0, 1)));
        assert!(replayed(json!([{"ask": "resolve", "address": "x", "expect": null}])).is_err());
        assert!(replayed(json!([{"why": "w", "ask": "resolv", "expect": null}])).is_err());
    }

    #[test]
    fn what_names_the_host_is_found() {
        let case = Case {
            why: String::new(),
            question: WorldQuestion::Resolve {
                address: String::new(),
                require_exists: true,
                context: None,
            },
            expect: json!({}),
        };
        let secrets = ["/srv/r".to_owned()];
        let answer =
            |text: &str| Outcome::Answer(json!({"reply": {"message": text}, "hostPath": "/srv/r/a"}));
        assert!(case.is_met(&answer("fine"), &secrets));
        assert!(!case.is_met(&answer("at /srv/r/a"), &secrets));
    }
}
