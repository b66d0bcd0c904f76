//! A division with a mistake does not hold.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::division::{Mistake, Tally, hold};
use super::worlds;
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
    (
        "places of the world are missing",
        Mistake::Forgets(
            |label| matches!(label, Label::Under(directory, _) if directory.starts_with("root:game/in")),
        ),
    ),
    (
        "a mod is missing",
        Mistake::Forgets(
            |label| matches!(label, Label::Under(directory, _) if directory.starts_with("mod:")),
        ),
    ),
    (
        "contexts with a contract are missing",
        Mistake::Forgets(|label| matches!(label, Label::Context(text) if text.contains("contract"))),
    ),
    (
        "contexts without the mod are missing",
        Mistake::Forgets(|label| matches!(label, Label::Context(text) if text.contains("without the mod"))),
    ),
    (
        "contexts that say nothing are missing",
        Mistake::Forgets(|label| matches!(label, Label::Context(text) if text == "any other context")),
    ),
    ("the context is not looked at", Mistake::ForgetsContexts),
    ("arguments are looked at apart", Mistake::Splits),
    (
        "a combination of what conditions look at is missing",
        Mistake::ForgetsMode,
    ),
    ("what is absent together is missing", Mistake::ForgetsAbsence),
    ("what is not exact is not said", Mistake::HidesNotes),
];

/// Policies among which each mistake is looked for.
const MOST: usize = 1_000;

#[test]
fn a_mistake_is_noticed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut some = Vec::new();
    for (what, mistake) in MISTAKES {
        let noticed = (0..MOST).find(|at| {
            let at = *at;
            if some.len() <= at {
                some.push(worlds::documents().new_tree(&mut runner).unwrap().current());
            }
            let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1);
            hold(&some[at], seed, 12, &mut Tally::default(), *mistake).is_err()
        });
        // `--nocapture` shows how rare each is.
        println!("{what}: policy {noticed:?}");
        assert!(noticed.is_some(), "nobody notices that {what}");
    }
}
