//! Random configurations, compared with git's answers.

use callgate_engine::host::{GitIgnore, Host as _};
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

/// The lines of an ignore file in names that every program reads alike.
fn plain_line() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a", "b", "ab", ".a", "*", "?", "[ab]", "[!a]", "[a-b]*", "a*", "*b", ".*", "**",
    ]);
    let names = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    let marks = (
        prop::sample::select(vec!["", "", "!"]),
        prop::sample::select(vec!["", "", "/"]),
    );
    let ends = prop::sample::select(vec!["", "", "/", "  ", "\r"]);
    (marks, names, ends).prop_map(|((mark, slash), names, end)| format!("{mark}{slash}{names}{end}"))
}

/// The same from every construct.
fn odd_line() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec!["", "", "!", "#", "\\!", "\\#", " ", "/", "!/", "!!"]);
    let end = prop::sample::select(vec!["", "", "/", " ", "\\ ", " \\", "\r", "\t", "//", "/**"]);
    (start, pattern(), end).prop_map(|(start, pattern, end)| format!("{start}{pattern}{end}"))
}

/// The places of ignore files.
const IGNORE_FILES: [&str; 4] = [
    "repo/.gitignore",
    "repo/b/.gitignore",
    "repo/.git/info/exclude",
    ".config/git/ignore",
];

/// What is asked about; some of it is there.
const PATHS: [&str; 14] = [
    "a", "b", "ab", ".a", "a/a", "a/b", "a/b/a", "a/b/ab", "b/a", "b/b", "b/.a/b", "b/a/.a", "A", "c/a b",
];

/// Compares the answers about all paths with those of git, where ours is told. Returns how many were not.
fn check_ignored(files: &[Vec<String>], ignores_case: bool) -> usize {
    let world = World::new(&format!("[core]\nignoreCase = {ignores_case}\n"));
    for file in ["a/b/a", "b/b", "b/.a/b", "b/a/x", "ab"] {
        world.append(&format!("repo/{file}"), "");
    }
    for (place, lines) in IGNORE_FILES.into_iter().zip(files) {
        world.append(place, &lines.join("\n"));
    }
    let arguments = [&["check-ignore", "--no-index", "-v", "-n"], PATHS.as_slice()].concat();
    let (_, lines) = world.run("repo", &arguments);
    assert_eq!(lines.len(), PATHS.len(), "{lines:?}");
    let mut untold = 0;
    for (path, line) in PATHS.iter().zip(lines) {
        let said = line.strip_suffix(&format!("\t{path}"));
        let pattern = said.and_then(|said| said.splitn(3, ':').nth(2));
        let git = match pattern.expect("git answers for the path") {
            "" => GitIgnore::Unmentioned,
            pattern if pattern.starts_with('!') => GitIgnore::Included,
            _ => GitIgnore::Ignored,
        };
        let ours = world.host.git_check_ignore(&world.text(&format!("repo/{path}")));
        match ours.unwrap() {
            Some(ours) => assert_eq!(ours, git, "{path}, {files:?}, {line}"),
            None => untold += 1,
        }
    }
    untold
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

    #[test]
    fn random_ignore_files_are_read_as_git_does(
        files in prop::collection::vec(prop::collection::vec(plain_line(), 0..6), 4),
    ) {
        assert_eq!(check_ignored(&files, false), 0, "{files:?}");
    }

    #[test]
    fn odd_ignore_files_are_read_as_git_does_or_not_at_all(
        files in prop::collection::vec(prop::collection::vec(odd_line(), 0..6), 4),
        ignores_case in any::<bool>(),
    ) {
        check_ignored(&files, ignores_case);
    }
}
