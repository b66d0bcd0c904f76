//! A subject that answers as a test tells it to.

use crate::subject::{Batch, Need, Operation, Outcome, Subject, SubjectKind};

/// A native subject that answers each operation with a closure, and offers everything unless told otherwise.
pub(crate) struct Fake<F> {
    answer: F,
    lacks: Option<Need>,
}

impl<F: FnMut(&Batch, &Operation) -> Outcome> Fake<F> {
    pub(crate) fn new(answer: F) -> Self {
        Self { answer, lacks: None }
    }

    /// The same subject, without one of the things that a host may offer.
    pub(crate) fn without(self, need: Need) -> Self {
        let lacks = Some(need);
        Self { lacks, ..self }
    }
}

impl<F: FnMut(&Batch, &Operation) -> Outcome> Subject for Fake<F> {
    fn name(&self) -> &str {
        "fake"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Native
    }

    fn offers(&self, need: Need) -> bool {
        self.lacks != Some(need)
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        batch
            .operations
            .iter()
            .map(|operation| (self.answer)(batch, operation))
            .collect()
    }
}
