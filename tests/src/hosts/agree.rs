//! Several hosts as one subject: they must give the same bytes, explanations included.

use crate::subject::{Batch, Need, Operation, Outcome, Subject, SubjectKind, run_offered};
use serde_json::{Value, json};

/// Hosts that are asked the same questions. The answer is that of the first, if the others agree.
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
        // Cases for one kind of host cannot be answered by all hosts.
        SubjectKind::Native
    }

    fn offers(&self, need: Need) -> bool {
        match need {
            // The hosts that have functions must agree; a component has none.
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
        // A disagreement about an explanation is reported for the evaluation that it explains.
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

/// The batch, with an explanation added after every evaluation.
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
    // A host that misbehaves differently each time cannot be explained afterwards.
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

/// Returns `true` if the answers are equal byte for byte. Each host may word a refusal in its own way.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Answer(one), Outcome::Answer(other)) => text(one) == text(other),
        (Outcome::Refused(_), Outcome::Refused(_)) => true,
        (Outcome::Fault(_), Outcome::Fault(_)) => true,
        // A host that reads text rejects what is not a call; a host that takes values denies it.
        (Outcome::Refused(_), Outcome::Answer(answer)) | (Outcome::Answer(answer), Outcome::Refused(_)) => {
            answer.get("verdict").unwrap_or(answer)["rule"] == "structural-unreadable-argument"
        }
        (Outcome::Answer(_) | Outcome::Refused(_) | Outcome::Fault(_), _) => false,
    }
}

/// Compares values, the order of members included.
fn text(value: &Value) -> String {
    value.to_string()
}
