//! No product package hides a public item from its documentation for the suite.

use std::fs;
use std::path::{Path, PathBuf};

use super::search::check;

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
    "core/analysis",
    "core/authoring",
    "core/compat",
    "core/engine",
    "core/git",
    "core/jsontext",
    "core/programs",
    "core/shell",
    "core/src",
    "core/virtual-host",
    "host-shim/Cargo.toml",
    "host-shim/build.rs",
    "host-shim/bundle/src",
    "host-shim/command/src",
    "host-shim/doctor/src",
    "host-shim/guard/src",
    "host-shim/hook/src",
    "host-shim/serve/src",
    "host-shim/src",
    "js/playground/src",
    "js/src",
    "wasm/Cargo.toml",
    "wasm/boundary",
    "wasm/git",
    "wasm/pack",
    "wasm/proxy",
    "wasm/src",
    "wasm/tools",
    "wasm/wit",
];

#[test]
fn no_item_is_public_for_the_suite_alone() {
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
        let lines = text.lines().enumerate();
        let hidden = lines.filter(|(_, line)| HIDDEN.iter().any(|mark| line.contains(mark)));
        faults.extend(hidden.map(|(at, line)| format!("{name}:{}: {line}", at + 1)));
    }
    check("is public for the suite alone", faults);
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
