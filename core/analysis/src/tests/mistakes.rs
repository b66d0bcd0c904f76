//! A division with a mistake does not hold.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::division::{Mistake, Tally, hold};
use super::worlds;
use crate::label::Label;

/// Mistakes that a division may make, and for each the first policy that notices it: looking for that takes minutes.
const MISTAKES: &[(&str, usize, Mistake)] = &[
    (
        "a directory is missing",
        4,
        Mistake::Forgets(|label| matches!(label, Label::Under(directory, _) if directory == "/srv/app")),
    ),
    (
        "what is elsewhere is missing",
        1,
        Mistake::Forgets(|label| matches!(label, Label::Under(directory, _) if directory == "/")),
    ),
    (
        "a directory that holds others is missing",
        59,
        Mistake::Forgets(|label| matches!(label, Label::Holds(..))),
    ),
    (
        "what a pattern matches is missing",
        1,
        Mistake::Forgets(|label| matches!(label, Label::Matches(..))),
    ),
    (
        "other letters are missing",
        32,
        Mistake::Forgets(|label| matches!(label, Label::OtherCase(..))),
    ),
    (
        "an entry or a host is missing",
        2,
        Mistake::Forgets(|label| matches!(label, Label::Is(_))),
    ),
    (
        "what lies below, and other spellings are missing",
        142,
        Mistake::Forgets(|label| matches!(label, Label::Of(..))),
    ),
    (
        "any other value is missing",
        1,
        Mistake::Forgets(|label| matches!(label, Label::Words("any other value"))),
    ),
    (
        "any other host is missing",
        5,
        Mistake::Forgets(|label| matches!(label, Label::Words("any other host"))),
    ),
    (
        "places of the world are missing",
        68,
        Mistake::Forgets(
            |label| matches!(label, Label::Under(directory, _) if directory.starts_with("root:game/in")),
        ),
    ),
    (
        "a mod is missing",
        4,
        Mistake::Forgets(
            |label| matches!(label, Label::Under(directory, _) if directory.starts_with("mod:")),
        ),
    ),
    (
        "contexts with a contract are missing",
        22,
        Mistake::Forgets(|label| matches!(label, Label::Context(text) if text.contains("contract"))),
    ),
    (
        "contexts without the mod are missing",
        12,
        Mistake::Forgets(|label| matches!(label, Label::Context(text) if text.contains("without the mod"))),
    ),
    (
        "contexts that say nothing are missing",
        0,
        Mistake::Forgets(|label| matches!(label, Label::Context(text) if text == "any other context")),
    ),
    ("the context is not looked at", 4, Mistake::ForgetsContexts),
    ("arguments are looked at apart", 46, Mistake::Splits),
    (
        "a combination of what conditions look at is missing",
        2,
        Mistake::ForgetsMode,
    ),
    ("what is absent together is missing", 287, Mistake::ForgetsAbsence),
    ("what is not exact is not said", 0, Mistake::HidesNotes),
];

/// Policies among which each mistake is looked for.
const MOST: usize = 1_000;

#[test]
fn a_mistake_is_noticed() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut some = Vec::new();
    let mut others = Vec::new();
    for (what, first, mistake) in MISTAKES {
        let mut is_noticed = |at: usize| {
            while some.len() <= at {
                some.push(worlds::documents().new_tree(&mut runner).unwrap().current());
            }
            let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 1);
            hold(&some[at], seed, 12, &mut Tally::default(), *mistake).is_err()
        };
        if !is_noticed(*first) {
            let noticed = (0..MOST).find(|at| is_noticed(*at));
            others.push(match noticed {
                Some(at) => format!("{what}: policy {at}, not {first}"),
                None => format!("nobody notices that {what}"),
            });
        }
    }
    // A change of the policies that are made up changes the numbers, which are then to be written above.
    assert!(others.is_empty(), "{}", others.join("\n"));
}
