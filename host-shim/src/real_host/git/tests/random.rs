//! Random configurations, compared with git's answers.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::world::World;

/// Lines of a configuration with few names, so that they often coincide.
fn line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "[remote \"a\"]",
        "[remote \"b\"]",
        "[remote \"x:\"]",
        "[url \"/one/\"]",
        "[url \"/two/\"]",
        "[url \"x:\"]",
        "url = x:y",
        "url = x:y/z",
        "url = /one/a",
        "url = w",
        "pushurl = x:p",
        "pushurl = w",
        "pushurl = /two/p",
        "insteadOf = x:",
        "insteadOf = x:y",
        "insteadOf = w",
        "insteadOf = /one/",
        "insteadOf =",
        "pushInsteadOf = x:",
        "pushInsteadOf = x:y/",
        "pushInsteadOf = w",
        "pushInsteadOf =",
    ])
}

/// Patterns and texts from few letters and every construct of git's wildmatch.
fn pattern() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "/",
        "a",
        "b",
        "/",
        "*",
        "**",
        "**/",
        "/**",
        "?",
        "[ab]",
        "[!a]",
        "[^a]",
        "[a-b]",
        "[]a]",
        "[b-]",
        "[[:alpha:]]",
        "[![:upper:]]",
        "[/]",
        "[",
        "]",
        "\\",
        "\\a",
        "\\*",
        "-",
        "A",
        ".",
    ]);
    prop::collection::vec(piece, 1..7).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        // The same cases in every run.
        rng_seed: RngSeed::Fixed(20_261_123),
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_configurations_are_read_as_git_does(lines in prop::collection::vec(line(), 0..16)) {
        let world = World::new(&format!("[remote \"a\"]\nurl = x:y\n{}\n", lines.join("\n")));
        world.check_named("repo");
    }

    #[test]
    fn random_rewriting_of_urls_is_that_of_git(lines in prop::collection::vec(line(), 0..16)) {
        let world = World::new("");
        world.append(".gitconfig", &format!("[url \"/three/\"]\n{}\n", lines.join("\n")));
        for url in ["x:y/z", "w", "/one/a"] {
            world.check_url("repo", url);
        }
    }

    #[test]
    fn random_conditions_hold_when_they_do_in_git(pattern in pattern(), text in "[ab/A.-]{1,6}") {
        let quoted = pattern.replace('\\', "\\\\");
        let world = World::new(&format!(
            "[remote \"o\"]\nurl = x{text}\n[includeIf \"hasconfig:remote.*.url:x{quoted}\"]\npath = ../../there\n"
        ));
        world.append("there", "[url \"/there/\"]\ninsteadOf = x\n");
        world.check_named("repo");
    }
}
