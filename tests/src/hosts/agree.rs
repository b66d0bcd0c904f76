//! Several hosts as one: they must answer the same bytes, explanations included.

use crate::subject::{Batch, Need, Operation, Outcome, Subject, SubjectKind, run_offered};
use serde_json::{Value, json};

/// Hosts that are asked the same; what the first one answers counts, where the others agree.
pub struct Agreeing {
    name: String,
    subjects: Vec<Box<dyn Subject>>,
}

impl Agreeing {
    /// The hosts together.
    pub fn new(subjects: Vec<Box<dyn Subject>>) -> Self {
        let names: Vec<&str> = subjects.iter().map(|subject| subject.name()).collect();
        Self {
            name: names.join("="),
            subjects,
        }
    }
}

impl Subject for Agreeing {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SubjectKind {
        // Cases for one kind of host cannot be answered by all.
        SubjectKind::Native
    }

    fn offers(&self, need: Need) -> bool {
        match need {
            // Those that have them must agree; a component has none.
            Need::Functions => self.subjects.iter().any(|subject| subject.offers(need)),
            _ => self.subjects.iter().all(|subject| subject.offers(need)),
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        let asked = explained(batch);
        let answers: Vec<Vec<Option<Outcome>>> = self
            .subjects
            .iter_mut()
            .map(|subject| run_offered(subject.as_mut(), &asked))
            .collect();
        let count = batch.operations.len();
        let mut agreed: Vec<Outcome> = (0..asked.operations.len())
            .map(|at| agreed(&self.name, &answers, at))
            .collect();
        // A disagreement about an explanation is one about the evaluation that it explains.
        let explanations = agreed.split_off(count.min(agreed.len()));
        let mut faults = explanations
            .into_iter()
            .filter(|outcome| matches!(outcome, Outcome::Fault(_)));
        match faults.next() {
            Some(fault) => vec![fault; count],
            None => agreed,
        }
    }
}

/// The batch with an explanation of every evaluation after it.
fn explained(batch: &Batch) -> Batch {
    let mut batch = batch.clone();
    let explanations: Vec<Operation> = batch
        .operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Evaluate { request, .. } => Some(Operation::Explain {
                request: request.clone(),
            }),
            _ => None,
        })
        .collect();
    // What misbehaves differently each time cannot be explained afterwards.
    if !json!(batch.surroundings)
        .to_string()
        .contains("\"mode\":\"sequence\"")
    {
        batch.operations.extend(explanations);
    }
    batch
}

fn agreed(name: &str, answers: &[Vec<Option<Outcome>>], at: usize) -> Outcome {
    let silence = Outcome::Fault("no outcome".to_owned());
    let mut outcomes = answers.iter().filter_map(|answers| answers.get(at)?.as_ref());
    let Some(first) = outcomes.next() else {
        return silence;
    };
    match outcomes.find(|other| !is_same(first, other)) {
        None => first.clone(),
        Some(other) => Outcome::Fault(format!("{name} disagree: {} and {}", json!(first), json!(other))),
    }
}

/// Answers are the same byte for byte; a refusal may be worded in each host's way.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Answer(one), Outcome::Answer(other)) => text(one) == text(other),
        (Outcome::Refused(_), Outcome::Refused(_)) => true,
        (Outcome::Fault(_), Outcome::Fault(_)) => true,
        // What is no call at all is an error for a host that reads text; one that takes values denies it.
        (Outcome::Refused(_), Outcome::Answer(answer)) | (Outcome::Answer(answer), Outcome::Refused(_)) => {
            answer.get("verdict").unwrap_or(answer)["rule"] == "structural-unreadable-argument"
        }
        (Outcome::Answer(_) | Outcome::Refused(_) | Outcome::Fault(_), _) => false,
    }
}

/// The order of members counts.
fn text(value: &Value) -> String {
    value.to_string()
}
