//! A subject that answers as a test says.

use super::{Batch, Need, Operation, Outcome, Subject, SubjectKind};

/// Answers each operation with a closure; native, and offers everything.
pub(super) struct Fake<F>(F);

impl<F: FnMut(&Batch, &Operation) -> Outcome> Fake<F> {
    pub(super) fn new(answer: F) -> Self {
        Self(answer)
    }
}

impl<F: FnMut(&Batch, &Operation) -> Outcome> Subject for Fake<F> {
    fn name(&self) -> &str {
        "fake"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Native
    }

    fn offers(&self, _need: Need) -> bool {
        true
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        batch
            .operations
            .iter()
            .map(|operation| (self.0)(batch, operation))
            .collect()
    }
}
