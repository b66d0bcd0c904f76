//! Another build of the engine as an oracle: generated engines, machines and calls, judged by both, byte for byte.
//!
//! A refactoring changes no verdict. What it is held against is this program, built from the commit before.

mod excepted;
mod gather;
mod generate;
mod process;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::subject::{Batch, Operation, Outcome, Subject};

pub use excepted::{Exception, read as read_exceptions};
pub use generate::Questions;
pub use process::{Oracle, answer};

/// What a comparison counted.
#[derive(Debug, Default)]
pub struct Compared {
    /// Calls that were judged by both.
    pub calls: usize,
    /// Engines that both refused to build.
    pub refused: usize,
    /// Answers by decision and rule; rules of policies are one row a decision.
    pub verdicts: BTreeMap<String, usize>,
    /// Questions that were answered differently, as lines of JSON.
    pub differences: Vec<String>,
    /// What explains differences.
    pub exceptions: Vec<Exception>,
    /// How often each exception explained one.
    pub excepted: BTreeMap<String, usize>,
}

impl Compared {
    /// Puts the questions of `batch` to both.
    ///
    /// # Errors
    /// The oracle does not answer.
    pub fn ask(&mut self, batch: &Batch, oracle: &mut Oracle, now: &mut dyn Subject) -> Result<(), String> {
        oracle.send(batch)?;
        let answers = now.run(batch);
        let before = oracle.receive()?;
        if answers.len() != before.len() {
            return Err(format!("{} answers, and {} before", answers.len(), before.len()));
        }
        for ((operation, before), after) in batch.operations.iter().zip(&before).zip(&answers) {
            self.count(operation, after);
            if !is_same(before, after) && !self.excepts(batch, before, after) {
                let question = Batch {
                    operations: vec![operation.clone()],
                    ..batch.clone()
                };
                let line = serde_json::json!({"question": question, "before": before, "after": after});
                self.differences.push(line.to_string());
            }
        }
        Ok(())
    }

    /// Counts a difference that an exception explains.
    fn excepts(&mut self, batch: &Batch, before: &Outcome, after: &Outcome) -> bool {
        let documents = serde_json::to_string(batch).unwrap_or_default();
        let mut exceptions = self.exceptions.iter();
        let Some(found) = exceptions.find(|one| one.covers(&documents, before, after)) else {
            return false;
        };
        *self.excepted.entry(found.why.clone()).or_default() += 1;
        true
    }

    fn count(&mut self, operation: &Operation, answer: &Outcome) {
        if matches!(operation, Operation::Construct) {
            self.refused += usize::from(matches!(answer, Outcome::Refused(_)));
            return;
        }
        self.calls += 1;
        let row = match answer {
            Outcome::Answer(answer) => {
                let verdict = answer.get("verdict").unwrap_or(answer);
                match (verdict["decision"].as_str(), verdict["rule"].as_str()) {
                    (Some(decision), Some(rule)) if is_own(rule) => format!("{decision} {rule}"),
                    (Some(decision), _) => format!("{decision} by a rule of the policy"),
                    (None, _) if answer.is_null() => "no offer".to_owned(),
                    (None, _) => "an offer".to_owned(),
                }
            }
            Outcome::Refused(_) => "refused".to_owned(),
            Outcome::Fault(_) => "fault".to_owned(),
        };
        *self.verdicts.entry(row).or_default() += 1;
    }
}

/// Returns `true` for a rule of the engine's own.
fn is_own(rule: &str) -> bool {
    rule.starts_with("structural-") || rule == "default-deny"
}

/// Compares answers with the order of their members. A refusal may be worded anew.
fn is_same(before: &Outcome, after: &Outcome) -> bool {
    let text = Value::to_string;
    match (before, after) {
        (Outcome::Answer(before), Outcome::Answer(after)) => text(before) == text(after),
        (Outcome::Refused(_), Outcome::Refused(_)) => true,
        (Outcome::Answer(_) | Outcome::Refused(_) | Outcome::Fault(_), _) => false,
    }
}

#[cfg(test)]
mod tests;
