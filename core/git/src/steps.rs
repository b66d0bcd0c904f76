//! How much work the questions of one evaluation may take.

use std::cell::Cell;

use crate::files::Error;

/// The most steps of one evaluation: about 50 ms natively.
pub(crate) const MAX_STEPS: usize = 6_000_000;

/// The steps that are left: a byte of a file that is read is one.
pub(crate) struct Steps(Cell<usize>);

impl Default for Steps {
    fn default() -> Self {
        Self::new(MAX_STEPS)
    }
}

impl Steps {
    pub(crate) fn new(count: usize) -> Self {
        Self(Cell::new(count))
    }

    pub(crate) fn left(&self) -> usize {
        self.0.get()
    }

    /// Counts work.
    ///
    /// # Errors
    /// There are not so many steps left. From then on there are none.
    pub(crate) fn take(&self, count: usize) -> Result<(), Error> {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or_default());
        left.map(|_| ()).ok_or_else(exhausted)
    }
}

/// The error says nothing of where the work ended, so that it does not depend on the order of the questions.
fn exhausted() -> Error {
    Error::new(format!(
        "git's files take too much work for one call: the limit is {MAX_STEPS} steps, of which a byte is one"
    ))
}
