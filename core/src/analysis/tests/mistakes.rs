//! A division with a mistake does not hold.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::arbitrary;
use super::division::{Mistake, Tally, hold};
use crate::analysis::label::Label;

/// Mistakes that a division may make.
const MISTAKES: &[(&str, Mistake)] = &[
    (
        "a directory is missing",
        Mistake::Forgets(|label| matches!(label, Label::Under(directory, _) if directory == "/srv/app")),
    ),
    (
        "what is elsewhere is missing",
        Mistake::Forgets(|label| matches!(label, Label::Under(directory, _) if directory == "/")),
    ),
    (
        "a directory that holds others is missing",
        Mistake::Forgets(|label| matches!(label, Label::Holds(..))),
    ),
    (
        "what a pattern matches is missing",
        Mistake::Forgets(|label| matches!(label, Label::Matches(..))),
    ),
    (
        "other letters are missing",
        Mistake::Forgets(|label| matches!(label, Label::OtherCase(..))),
    ),
    (
        "an entry or a host is missing",
        Mistake::Forgets(|label| matches!(label, Label::Is(_))),
    ),
    (
        "what lies below, and other spellings are missing",
        Mistake::Forgets(|label| matches!(label, Label::Of(..))),
    ),
    (
        "any other value is missing",
        Mistake::Forgets(|label| matches!(label, Label::Words("any other value"))),
    ),
    (
        "any other host is missing",
        Mistake::Forgets(|label| matches!(label, Label::Words("any other host"))),
    ),
    ("arguments are looked at apart", Mistake::Splits),
    (
        "a combination of what conditions look at is missing",
        Mistake::ForgetsMode,
    ),
    ("what is absent together is missing", Mistake::ForgetsAbsence),
    ("what is not exact is not said", Mistake::HidesNotes),
];

/// Policies among which each mistake is looked for; all but one are found among the first hundred.
const MOST: usize = 1_000;

#[test]
fn a_mistake_is_noticed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut some = Vec::new();
    for (what, mistake) in MISTAKES {
        let is_noticed = (0..MOST).any(|at| {
            if some.len() <= at {
                some.push(
                    arbitrary::more_documents()
                        .new_tree(&mut runner)
                        .unwrap()
                        .current(),
                );
            }
            let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1);
            hold(&some[at], seed, 12, &mut Tally::default(), *mistake).is_err()
        });
        assert!(is_noticed, "nobody notices that {what}");
    }
}
