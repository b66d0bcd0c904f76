//! The expectations of a case.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::subject::Outcome;

/// The requirements on an answer.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Expected {
    decision: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    reason_has: Vec<String>,
    #[serde(deserialize_with = "any_value")]
    approval: Option<Value>,
    transport: Option<Value>,
    #[serde(deserialize_with = "any_value")]
    answer: Option<Value>,
    #[serde(deserialize_with = "any_value")]
    holds: Option<Value>,
    lines: Option<Vec<String>>,
    refused: Option<Vec<String>>,
}

/// Reads a value that is present, even `null`, as `Some`.
fn any_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Expected {
    pub(super) fn is_empty(&self) -> bool {
        self.decision.is_none()
            && self.rule.is_none()
            && self.reason.is_none()
            && self.reason_has.is_empty()
            && self.approval.is_none()
            && self.transport.is_none()
            && self.answer.is_none()
            && self.holds.is_none()
            && self.lines.is_none()
            && self.refused.is_none()
    }

    /// The expected outcome, if the actual one is different.
    pub(super) fn check(&self, outcome: &Outcome) -> Result<(), Value> {
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
        if let Some(expected) = &self.approval
            && verdict["approval"] != *expected
        {
            return Err(json!({"approval": expected}));
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
        if let Some(expected) = &self.holds
            && !holds(expected, answer)
        {
            return Err(json!({"holds": expected}));
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

/// Returns `true` if the answer contains what is expected.
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
