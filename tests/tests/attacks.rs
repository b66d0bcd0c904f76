//! The table of attacks in `tests/README.md` names what holds each of them; all of that must exist.

use std::fs;
use std::path::Path;

/// The names in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text of a file, or of every file below a folder.
fn text(path: &Path) -> String {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder");
        return entries.flatten().map(|entry| text(&entry.path())).collect();
    }
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn what_holds_an_attack_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = text(&root.join("tests/README.md"));
    let (_, table) = readme
        .split_once("## What attacks found")
        .expect("the section of attacks");
    let folders = ["tests/adversarial-2", "tests/adversarial-3"];
    let cases = folders
        .map(|folder| text(&root.join(folder).join("cases.jsonl")))
        .concat();
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter_map(|line| line.trim_end_matches(" |").rsplit_once(" | "));
    let mut found = 0;
    for (attack, holds) in rows.filter(|(_, holds)| *holds != "held by") {
        assert!(quoted(holds).next().is_some(), "nothing holds: {attack}");
        for group in holds.split("; ") {
            let (first, names) = group.split_once(": ").unwrap_or((group, ""));
            for name in quoted(first) {
                found += 1;
                if name.starts_with("rt-") || name.starts_with("r3-") {
                    assert!(
                        cases.contains(&format!("\"id\": \"{}", name.trim_end_matches('*'))),
                        "{name}"
                    );
                } else if name.contains('/') {
                    let held = text(&root.join(name));
                    for test in quoted(names) {
                        assert!(held.contains(test), "{name} has no `{test}`");
                    }
                }
            }
        }
    }
    assert!(found > 50, "{found}");
}
