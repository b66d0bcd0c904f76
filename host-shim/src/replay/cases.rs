//! Cases with written expectations, `cases/1`: what an engine must answer by its specification.
//!
//! A line is a group `{format, name, says, world?, engine?, cases}`: one engine in one world, `says` the sentence of
//! the specification that the cases are about. A case is `{op, …, expect}`:
//!
//! | `op` | takes | is |
//! |---|---|---|
//! | `gate` | `call`, `containerWorkspaceDir`? | preparing and judging a call |
//! | `evaluate` | `call` | judging it |
//! | `semantics` | `server`, `tool` | what a tool does |
//! | `diagnostics` | | what was noticed when the engine was built |
//! | `construct` | | building the engine, and nothing else |
//! | the name of a plain function | `args` | its answer |
//!
//! `expect` has one of these, or several, all of which must hold:
//!
//! | key | holds where |
//! |---|---|
//! | `decision`, `rule`, `reason` | the verdict has exactly this |
//! | `reasonHas` | the reason holds each of these texts |
//! | `transport` | `argsForTransport` is this |
//! | `answer` | the answer is this |
//! | `lines` | the answer is as many texts, each of which begins so |
//! | `refused` | there is no answer, and the message holds each of these texts |

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::report::{Disagreement, Report, Tally};
use super::subject::{Batch, EngineParts, Operation, Outcome, Subject, Surroundings};
use super::{Progress, ReplayError, each, lines};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    format: String,
    name: String,
    says: String,
    #[serde(default = "bare_world")]
    world: Value,
    engine: Option<BTreeMap<String, Box<RawValue>>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    op: String,
    call: Option<Box<RawValue>>,
    server: Option<String>,
    tool: Option<String>,
    args: Option<Vec<Value>>,
    #[serde(rename = "containerWorkspaceDir")]
    container_workspace_dir: Option<String>,
    #[serde(default, rename = "why")]
    _why: String,
    expect: Expected,
}

/// What must hold of an answer.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Expected {
    decision: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    reason_has: Vec<String>,
    transport: Option<Value>,
    #[serde(deserialize_with = "any_value")]
    answer: Option<Value>,
    lines: Option<Vec<String>>,
    refused: Option<Vec<String>>,
}

/// A value that is there, `null` too.
fn any_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn bare_world() -> Value {
    json!({"home": "/home/u", "cwd": "/srv/app", "fs": {"dirs": ["/home/u", "/srv/app"]}})
}

/// Replays the file `name` with the content `text`; `progress` is called after every group.
///
/// # Errors
/// When a line is malformed, or a case expects nothing.
pub fn replay(
    subject: &mut dyn Subject,
    name: &str,
    text: &str,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, ReplayError> {
    let mut report = Report::default();
    each(name, lines(text).into_iter(), progress, |number, line| {
        let place = format!("{name}:{number}");
        Group::read(line)?.replay(subject, name, &place, &mut report)
    })?;
    Ok(report)
}

impl Group {
    fn read(line: &str) -> Result<Self, String> {
        let group: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if group.format != "cases/1" {
            return Err(format!("unknown format `{}`, expected `cases/1`", group.format));
        }
        Ok(group)
    }

    fn replay(
        &self,
        subject: &mut dyn Subject,
        name: &str,
        place: &str,
        report: &mut Report,
    ) -> Result<(), String> {
        let operations: Vec<Operation> = self.cases.iter().map(Case::operation).collect::<Result<_, _>>()?;
        let engine = self.engine.as_ref().map(|documents| {
            let mut parts = EngineParts::default();
            for (part, text) in documents {
                parts.set(part, text.get().to_owned());
            }
            parts
        });
        let batch = Batch {
            surroundings: Surroundings::World(self.world.clone()),
            engine,
            operations,
        };
        let mut outcomes = subject.run(&batch).into_iter();
        let file = format!("{} {name}", subject.name());
        let tags = [self.says.clone()];
        for (at, case) in self.cases.iter().enumerate() {
            let silence = || Outcome::Fault("no outcome".to_owned());
            let outcome = outcomes.next().unwrap_or_else(silence);
            let Err(expected) = case.expect.check(&outcome) else {
                report.count(&file, &tags, Tally::PASSED);
                continue;
            };
            report.fail(
                &file,
                Disagreement {
                    subject: subject.name().to_owned(),
                    place: place.to_owned(),
                    case: format!("{}[{at}]", self.name),
                    tags: tags.to_vec(),
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
            );
        }
        Ok(())
    }
}

impl Case {
    fn operation(&self) -> Result<Operation, String> {
        let missing = |key: &str| format!("`{}` takes `{key}`", self.op);
        let call = || {
            let call = self.call.as_ref().ok_or_else(|| missing("call"))?;
            Ok::<_, String>(call.get().to_owned())
        };
        if self.expect.is_empty() {
            return Err(format!("`{}` expects nothing", self.op));
        }
        Ok(match self.op.as_str() {
            "gate" => Operation::Gate {
                request: call()?,
                container_workspace_dir: self.container_workspace_dir.clone(),
            },
            "evaluate" => Operation::Evaluate {
                request: call()?,
                times: 1,
            },
            "semantics" => Operation::Semantics {
                server: self.server.clone().ok_or_else(|| missing("server"))?,
                tool: self.tool.clone().ok_or_else(|| missing("tool"))?,
            },
            "diagnostics" => Operation::Diagnostics,
            "construct" => Operation::Construct,
            function => Operation::Function {
                name: function.to_owned(),
                args: self.args.clone().ok_or_else(|| missing("args"))?,
            },
        })
    }
}

impl Expected {
    fn is_empty(&self) -> bool {
        self.decision.is_none()
            && self.rule.is_none()
            && self.reason.is_none()
            && self.reason_has.is_empty()
            && self.transport.is_none()
            && self.answer.is_none()
            && self.lines.is_none()
            && self.refused.is_none()
    }

    /// What was expected, where the outcome is something else.
    fn check(&self, outcome: &Outcome) -> Result<(), Value> {
        match outcome {
            Outcome::Answer(answer) => {
                if self.refused.is_some() {
                    return Err(json!({"refused": self.refused}));
                }
                self.check_answer(answer)
            }
            Outcome::Refused(message) => match &self.refused {
                Some(texts) if texts.iter().all(|text| message.contains(text.as_str())) => Ok(()),
                Some(texts) => Err(json!({"refused": texts})),
                None => Err(json!("an answer")),
            },
            Outcome::Fault(_) => Err(json!("no fault")),
        }
    }

    fn check_answer(&self, answer: &Value) -> Result<(), Value> {
        let verdict = answer.get("verdict").unwrap_or(answer);
        for (key, expected) in [
            ("decision", &self.decision),
            ("rule", &self.rule),
            ("reason", &self.reason),
        ] {
            if let Some(expected) = expected
                && verdict[key] != **expected
            {
                return Err(json!({ key: expected }));
            }
        }
        let reason = verdict["reason"].as_str().unwrap_or_default();
        if let Some(text) = self
            .reason_has
            .iter()
            .find(|text| !reason.contains(text.as_str()))
        {
            return Err(json!({"reasonHas": text}));
        }
        for (found, expected) in [
            (&answer["argsForTransport"], &self.transport),
            (answer, &self.answer),
        ] {
            if let Some(expected) = expected
                && found != expected
            {
                return Err(expected.clone());
            }
        }
        let Some(lines) = &self.lines else {
            return Ok(());
        };
        let found: Vec<&str> = answer
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let begins = found
            .iter()
            .zip(lines)
            .all(|(found, line)| found.starts_with(line.as_str()));
        if found.len() == lines.len() && begins && answer.is_array() {
            Ok(())
        } else {
            Err(json!({"lines": lines}))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::fake::Fake;
    use super::super::{Operation, Outcome};
    use super::replay;

    fn file(case: Value) -> String {
        json!({"format": "cases/1", "name": "g", "says": "s", "engine": {}, "cases": [case]}).to_string()
    }

    #[track_caller]
    fn check(expect: Value, outcome: Outcome, passes: bool) {
        let mut fake = Fake::new(|_, operation| {
            assert!(matches!(operation, Operation::Gate { .. }));
            outcome.clone()
        });
        let case = json!({"op": "gate", "call": {"serverName": "s", "toolName": "t"}, "expect": expect});
        let report = replay(&mut fake, "c.jsonl", &file(case), &mut |_| {}).expect("a report");
        assert_eq!(
            (report.total().passed, report.total().failed),
            (usize::from(passes), usize::from(!passes)),
            "{expect}"
        );
    }

    #[test]
    fn all_that_is_expected_must_hold() {
        let gated = json!({
            "verdict": {"decision": "deny", "rule": "r", "reason": "because of x"}, "argsForTransport": {"a": 1},
        });
        let answer = || Outcome::Answer(gated.clone());
        for (expect, passes) in [
            (
                json!({"decision": "deny", "rule": "r", "reason": "because of x", "transport": {"a": 1}}),
                true,
            ),
            (json!({"decision": "allow"}), false),
            (json!({"decision": "deny", "rule": "s"}), false),
            (json!({"reasonHas": ["because", "x"]}), true),
            (json!({"reasonHas": ["because", "y"]}), false),
            (json!({"transport": {}}), false),
            (json!({"answer": gated}), true),
            (json!({"answer": {}}), false),
            (json!({"refused": []}), false),
            (json!({"lines": []}), false),
        ] {
            check(expect, answer(), passes);
        }
        let lines = || Outcome::Answer(json!(["error: a", "warning: b"]));
        check(json!({"lines": ["error", "warning: b"]}), lines(), true);
        check(json!({"lines": ["error"]}), lines(), false);
        check(json!({"lines": ["error", "error"]}), lines(), false);
        let refused = || Outcome::Refused("no such thing".to_owned());
        check(json!({"refused": ["such"]}), refused(), true);
        check(json!({"refused": ["other"]}), refused(), false);
        check(json!({"decision": "deny"}), refused(), false);
        check(
            json!({"decision": "deny"}),
            Outcome::Fault("trap".to_owned()),
            false,
        );
    }

    #[test]
    fn malformed_lines_are_refused() {
        for case in [
            json!({"op": "gate", "expect": {"decision": "deny"}}),
            json!({"op": "construct", "expect": {}}),
            json!({"op": "construct", "expect": {"decison": "deny"}}),
            json!({"op": "semantics", "expect": {"answer": null}, "server": "s"}),
        ] {
            let mut fake = Fake::new(|_, _| Outcome::Answer(Value::Null));
            let replayed = replay(&mut fake, "c.jsonl", &file(case.clone()), &mut |_| {});
            assert!(replayed.is_err(), "{case}");
        }
    }
}
