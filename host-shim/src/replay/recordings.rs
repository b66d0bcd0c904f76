//! Replaying recordings, `recording/1`: single evaluations with everything that the host answered.
//!
//! A line is `{format, name?, engine, recording, request, context?, verdict, explanation?}`: the engine's documents by
//! their keys, the [`callgate_core::Recording`], the call, and what came of it. Both must come again exactly.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::report::{Disagreement, Report, Tally};
use super::subject::{Batch, EngineParts, Operation, Outcome, Subject, Surroundings, WorldQuestion};
use super::{Progress, ReplayError, each, lines};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    format: String,
    #[serde(default)]
    name: String,
    engine: BTreeMap<String, Box<RawValue>>,
    recording: Value,
    request: Box<RawValue>,
    context: Option<Box<RawValue>>,
    verdict: Value,
    explanation: Option<Value>,
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
        Line::read(line)?.replay(subject, name, number, &mut report);
        Ok(())
    })?;
    Ok(report)
}

impl Line {
    fn read(line: &str) -> Result<Self, String> {
        let line: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if line.format != "recording/1" {
            return Err(format!(
                "unknown format `{}`, expected `recording/1`",
                line.format
            ));
        }
        Ok(line)
    }

    fn replay(&self, subject: &mut dyn Subject, name: &str, number: usize, report: &mut Report) {
        let mut engine = EngineParts::default();
        for (part, text) in &self.engine {
            engine.set(part, text.get().to_owned());
        }
        let request = self.request.get().to_owned();
        let mut operations = vec![Operation::Evaluate {
            request: request.clone(),
            times: 1,
        }];
        let mut expected = vec![Outcome::Answer(self.verdict.clone())];
        if let Some(explanation) = &self.explanation {
            operations.push(Operation::Explain { request });
            expected.push(Outcome::Answer(explanation.clone()));
        }
        if let Some(context) = &self.context {
            operations = vec![Operation::World(WorldQuestion::Evaluate {
                request: self.request.get().to_owned(),
                context: Some(context.get().to_owned()),
            })];
            let mut answer = json!({"verdict": self.verdict});
            answer["explanation"] = self.explanation.clone().unwrap_or_default();
            expected = vec![Outcome::Answer(answer)];
        }
        let batch = Batch {
            surroundings: Surroundings::Recording(self.recording.clone()),
            engine: Some(engine),
            operations,
        };
        let mut got = subject.run(&batch);
        if let (Some(_), None, [Outcome::Answer(answer)]) =
            (&self.context, &self.explanation, got.as_mut_slice())
        {
            answer["explanation"] = Value::Null;
        }
        let file = format!("{} {name}", subject.name());
        if got == expected {
            report.count(&file, &[], Tally::PASSED);
            return;
        }
        report.fail(
            &file,
            Disagreement {
                subject: subject.name().to_owned(),
                place: format!("{name}:{number}"),
                case: self.name.clone(),
                tags: Vec::new(),
                world: self.recording.clone(),
                engine: batch
                    .engine
                    .as_ref()
                    .map(EngineParts::to_value)
                    .unwrap_or_default(),
                input: json!(batch.operations),
                expected: json!(expected),
                got: json!(got),
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::fake::Fake;
    use super::super::{Operation, Outcome, Surroundings};
    use super::replay;

    fn line() -> Value {
        json!({"format": "recording/1", "engine": {"compiledPolicy": {"rules": []}},
            "recording": {"homeDir": "/", "currentDir": "/", "exchanges": []},
            "request": {"serverName": "s", "toolName": "t"},
            "verdict": {"decision": "deny"}, "explanation": {"verdict": {"decision": "deny"}, "steps": []}})
    }

    #[test]
    fn verdict_and_explanation_must_come_again() {
        let check = |explanation: Value, failed: usize| {
            let mut fake = Fake::new(|batch, operation| {
                assert!(matches!(batch.surroundings, Surroundings::Recording(_)));
                Outcome::Answer(match operation {
                    Operation::Evaluate { .. } => json!({"decision": "deny"}),
                    _ => explanation.clone(),
                })
            });
            let report = replay(&mut fake, "r.jsonl", &line().to_string(), &mut |_| {}).expect("a report");
            assert_eq!(report.total().failed, failed);
            assert_eq!(report.total().passed, 1 - failed);
        };
        check(json!({"verdict": {"decision": "deny"}, "steps": []}), 0);
        check(json!({"verdict": {"decision": "deny"}, "steps": ["another"]}), 1);
    }

    #[test]
    fn malformed_lines_are_refused() {
        let check = |line: Value| {
            let mut fake = Fake::new(|_, _| Outcome::Answer(Value::Null));
            assert!(
                replay(&mut fake, "r.jsonl", &line.to_string(), &mut |_| {}).is_err(),
                "{line}"
            );
        };
        check(json!({"format": "recording/1"}));
        let mut unknown = line();
        unknown["format"] = json!("recording/2");
        check(unknown);
    }
}
