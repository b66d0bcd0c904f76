//! No product package mentions the suite, and none hides a public item from its documentation for the suite.

use std::fs;
use std::path::{Path, PathBuf};

use super::search::check;

/// Words that belong to the suite.
const WORDS: &[&str] = &[
    "adversarial",
    "conformance",
    "misbehaviour",
    "misbehaving",
    "suite",
    "vectors",
];

/// The files that may speak of replaying: it is done to recordings and logs, by the command and by the host that they make.
const REPLAYING: &[&str] = &[
    "core/src/host/recording.rs",
    "host-shim/src/bin/callgate/explain.rs",
    "host-shim/src/bin/callgate/main.rs",
    "host-shim/src/bin/callgate/recording.rs",
    "host-shim/src/bin/callgate/replay.rs",
    "host-shim/src/gate/recorded.rs",
];

/// How an item is made public for callers who are not users: hidden from the documentation, or behind a feature.
const HIDDEN: &[&str] = &[
    "doc(hidden)",
    "doc = \"hidden\"",
    "feature = \"internal",
    "feature = \"test",
];

/// The files and folders of the product, relative to the checkout.
const PRODUCT: &[&str] = &[
    "core/Cargo.toml",
    "core/git",
    "core/src",
    "host-shim/Cargo.toml",
    "host-shim/build.rs",
    "host-shim/src",
    "js/playground/src",
    "js/src",
    "wasm/Cargo.toml",
    "wasm/git",
    "wasm/pack",
    "wasm/src",
    "wasm/tools",
    "wasm/wit",
];

#[test]
fn no_product_mentions_the_suite() {
    look("mentions the suite", |_, line| speaks(line));
}

#[test]
fn only_recordings_are_replayed() {
    look("replays something other than a recording", |file, line| {
        line.to_lowercase().contains("replay") && !REPLAYING.contains(&file)
    });
}

#[test]
fn no_item_is_public_for_the_suite_alone() {
    look("is public for the suite alone", |_, line| {
        HIDDEN.iter().any(|mark| line.contains(mark))
    });
}

/// Fails with every line of the product that is `wrong`, given its file and its text.
#[track_caller]
fn look(what: &str, wrong: impl Fn(&str, &str) -> bool) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for place in PRODUCT {
        collect(&root.join(place), &mut files);
    }
    assert!(files.len() > 150, "{} files", files.len());
    let mut faults = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lines = text.lines().enumerate().filter(|(_, line)| wrong(&name, line));
        faults.extend(lines.map(|(at, line)| format!("{name}:{}: {line}", at + 1)));
    }
    check(what, faults);
}

fn speaks(line: &str) -> bool {
    let words = line.split(|character: char| !character.is_alphanumeric());
    let mut words = words.map(str::to_lowercase);
    words.any(|word| WORDS.contains(&word.as_str()))
}

/// The source files of a folder, except those of its tests.
fn collect(place: &Path, found: &mut Vec<PathBuf>) {
    let name = place.file_stem().unwrap_or_default();
    if name == "target" || name.to_string_lossy().ends_with("tests") {
        return;
    }
    if place.is_dir() {
        let entries = fs::read_dir(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| collect(entry, found));
    } else if place
        .extension()
        .is_some_and(|extension| ["rs", "toml", "ts", "wit"].iter().any(|one| extension == *one))
    {
        found.push(place.to_owned());
    }
}
