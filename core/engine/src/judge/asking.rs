//! Everything that changes while a call is judged.

use std::collections::BTreeSet;

use super::canonical::Canonicalizer;
use super::directories::Directories;
use super::lookups::Lookups;
use super::trace::Trace;
use crate::program::RuleId;

/// What asks, what is remembered, what counts, and what watches.
///
/// The canonicalizer asks the host through [`Facts`](crate::host::Facts), which remember its answers and count steps by their meter,
/// since each question costs. No verdict depends on what watches.
pub(super) struct Asking<'p, 'h> {
    /// Makes canonical forms; it has the facts.
    pub(super) canonicalizer: Canonicalizer<'p, 'h>,
    /// The directories of the program, as far as they were asked about.
    pub(super) directories: Directories<'p>,
    /// What was found in the call, as far as it was asked.
    pub(super) lookups: Lookups,
    /// The steps for an explanation.
    pub(super) trace: Option<Trace>,
    /// The rules that hold, where approvals are compared with them.
    pub(super) held: Option<BTreeSet<RuleId>>,
    /// `true` if a rule was heard that looks at counts which nobody says.
    pub(super) lacks_counts: bool,
    /// How often the call counts for each counter of the program; empty where it was not looked at.
    pub(super) counted: Vec<u64>,
}

impl Asking<'_, '_> {
    /// Counts work that is being done. Beyond the bound the evaluation has failed, like one whose host fails.
    pub(super) fn take_steps(&mut self, count: usize) {
        self.canonicalizer.facts.take_steps(count);
    }

    /// Returns `true` if the host has failed, or the evaluation takes more work than it may.
    pub(super) fn has_failed(&self) -> bool {
        self.canonicalizer.facts.has_failed()
    }

    /// Records a structural check for an explanation.
    pub(super) fn note(&mut self, check: &'static str, passed: bool, detail: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.check(check, passed, detail());
        }
    }

    /// Records a structural check that holds, and why, for an explanation. Where the host has failed nothing is known.
    pub(super) fn note_held(&mut self, check: &'static str, why: &'static str) {
        if !self.has_failed() {
            self.note(check, true, || why.to_owned());
        }
    }
}
