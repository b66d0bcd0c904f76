//! One place in the arguments, as conditions of rules see it.

use crate::cost::TEXT_BYTES;
use crate::host::Facts;
use crate::model::refs::Ref;
use crate::model::{ConditionValue, Test};
use crate::path::PathCase;

/// The values that conditions see at one place in the arguments.
#[derive(Default)]
pub(super) struct Look {
    /// `true` if nobody can tell what a server reads there: a value of another shape, or JSON in a text.
    pub(super) is_unreadable: bool,
    /// The number that servers may convert the value to.
    pub(super) number: Option<f64>,
    /// The texts that are judged and sent in place of the value: its canonical forms. A condition on the text alone would be
    /// met, or not, by another spelling of it.
    pub(super) sent: Vec<String>,
    /// The same in place of the items of an array.
    pub(super) sent_items: Vec<String>,
    /// The values there, of which `has_items` says that some are items of an array or of a text.
    pub(super) operands: Vec<usize>,
    pub(super) has_items: bool,
    /// The names by which a condition may mean the branch that git takes the text for; a restriction alone looks at them.
    branches: Vec<String>,
    /// `true` if git takes the text for a ref that cannot be told, which meets every restriction that compares.
    is_unknown_ref: bool,
}

impl Look {
    /// Returns `true` if the test compares, and may mean the branch that git takes the value for.
    pub(super) fn names_branch(&self, test: &Test, case: PathCase, facts: &mut Facts<'_>) -> bool {
        let mut may_mean = |branch: &String| {
            test.may_hold(ConditionValue::Text(branch)) || may_be_confused(test, branch, case, facts)
        };
        matches!(test, Test::Equals(_) | Test::In(_))
            && (self.is_unknown_ref || self.branches.iter().any(&mut may_mean))
    }

    /// Adds what git takes a text under the role of a branch for.
    pub(super) fn add_ref(&mut self, text: &str) {
        let names = match Ref::read(text) {
            Ref::Branch(name) => vec![name],
            Ref::Either(one, other) => vec![one, other],
            Ref::Current | Ref::Unknown => {
                self.is_unknown_ref = true;
                Vec::new()
            }
        };
        for name in names.iter().filter_map(|at| text.get(*at..)) {
            let spellings = ["", "heads/", "refs/heads/"].iter();
            self.branches
                .extend(spellings.map(|start| format!("{start}{name}")));
        }
    }
}

/// Returns `true` if the test compares with a spelling of the branch that is the same file where paths ignore case.
fn may_be_confused(test: &Test, branch: &str, case: PathCase, facts: &mut Facts<'_>) -> bool {
    case == PathCase::Insensitive
        && test.texts().any(|text| {
            facts.take_steps(1 + (text.len() + branch.len()) / TEXT_BYTES);
            facts.has_failed() || case.confuses(text, branch)
        })
}
