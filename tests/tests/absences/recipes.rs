//! How many files of code know one role, one key and one question: whoever adds another of the kind writes as many, and a page.
//!
//! Each is counted by one that nothing treats apart. What a command writes, or a user might have written, does not count: schemas,
//! packs, examples.

use std::fs;
use std::path::{Path, PathBuf};

/// Where product code is.
const ROOMS: &[&str] = &["core", "host-shim", "wasm", "js/src", "js/playground/src"];

/// Files that do not count, by a part of their path.
const OUTSIDE: &[&str] = &[
    "/benches/",
    "/examples/",
    "/fuzz/",
    "/node_modules/",
    "/packs/",
    "/target/",
    "/tests.rs",
    "/tests/",
];

/// The files in which one of the spellings stands as a word.
fn knowing(spellings: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for room in ROOMS {
        walk(&root.join(room), &mut files);
    }
    let shown = |file: &Path| {
        file.strip_prefix(&root)
            .expect("a file of the checkout")
            .to_string_lossy()
            .into_owned()
    };
    let mut found: Vec<String> = files
        .iter()
        .filter(|file| {
            let name = shown(file);
            !OUTSIDE.iter().any(|part| name.contains(part))
                && fs::read_to_string(file)
                    .is_ok_and(|text| spellings.iter().any(|word| has_word(&text, word)))
        })
        .map(|file| shown(file))
        .collect();
    found.sort();
    found
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = |extension: &str| matches!(extension, "rs" | "ts" | "wit");
        if path.is_dir() {
            walk(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension.to_str().is_some_and(is_ours))
        {
            files.push(path);
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[track_caller]
fn check(spellings: &[&str], most: usize) {
    let found = knowing(spellings);
    assert!(
        (1..=most).contains(&found.len()),
        "{} files know {spellings:?}, at most {most} may:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn a_role_is_a_row() {
    check(&["share-permission"], 1);
}

#[test]
fn a_key_has_a_name_a_reader_a_schema_and_a_type() {
    check(&["manualAdditions", "manual_additions"], 4);
}

/// Ten are the goal.
#[test]
fn a_question_is_asked_and_answered_in_so_many_files() {
    check(
        &["git_push_refs", "gitPushRefs", "git-push-refs", "GitPushRefs"],
        22,
    );
}
