//! How much work one evaluation may take.

/// Counts the steps of one evaluation ([`Limits::steps`](crate::limits::Limits)). Beyond the bound it is exhausted, and stays so.
#[derive(Debug)]
pub(super) struct Meter {
    left: Option<usize>,
}

impl Meter {
    pub(super) fn new(steps: usize) -> Self {
        Self { left: Some(steps) }
    }

    /// Counts work that is being done.
    pub(super) fn take(&mut self, steps: usize) {
        self.left = self.left.and_then(|left| left.checked_sub(steps));
    }

    /// Returns `true` if the evaluation takes more work than it may.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.is_none()
    }
}
