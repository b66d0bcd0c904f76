//! No product package exists for the suite, or speaks of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::search::check;

/// What only the suite has.
const WORDS: &[&str] = &[
    "adversarial",
    "conformance",
    "misbehaviour",
    "misbehaving",
    "suite",
    "vectors",
];

/// What a user is handed, from the checkout.
const PRODUCT: &[&str] = &[
    "core/Cargo.toml",
    "core/git",
    "core/src",
    "host-shim/Cargo.toml",
    "host-shim/build.rs",
    "host-shim/src",
    "js/src",
    "wasm/Cargo.toml",
    "wasm/pack",
    "wasm/src",
    "wasm/wit",
];

/// What speaks of the suite until the component's contract is small. What does not any more must go from here.
const KNOWN: &[&str] = &[
    "host-shim/Cargo.toml",
    "host-shim/src/component/world.rs",
    "host-shim/src/testing.rs",
];

#[test]
fn no_product_speaks_of_the_suite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for place in PRODUCT {
        collect(&root.join(place), &mut files);
    }
    assert!(files.len() > 150, "{} files", files.len());
    let mut faults = Vec::new();
    let mut known: Vec<&str> = KNOWN.to_vec();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let spoken = text.lines().enumerate().filter(|(_, line)| speaks(line));
        let spoken: Vec<String> = spoken
            .map(|(at, line)| format!("{name}:{}: {line}", at + 1))
            .collect();
        if KNOWN.contains(&name.as_str()) {
            known.retain(|one| spoken.is_empty() || *one != name);
        } else {
            faults.extend(spoken);
        }
    }
    check("speaks of the suite", faults);
    check(
        "listed and does not",
        known.iter().map(|one| (*one).to_owned()).collect(),
    );
}

fn speaks(line: &str) -> bool {
    let words = line.split(|character: char| !character.is_alphanumeric());
    let mut words = words.map(str::to_lowercase);
    words.any(|word| WORDS.contains(&word.as_str()))
}

/// The texts of a folder, but for those of its tests.
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
