//! Versions move together: whatever people install has that of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The version of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The names of files in which other packagers have a version.
const NAMES: [&str; 4] = ["marketplace.json", "package.json", "plugin.json", "server.json"];

/// Folders with what is built, installed, or for tests alone.
const PASSED_OVER: [&str; 5] = ["node_modules", "target", "test", "tests", ".git"];

fn described(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            if !PASSED_OVER.contains(&name.as_str()) {
                described(&entry.path(), found);
            }
        } else if NAMES.contains(&name.as_str()) {
            found.push(entry.path());
        }
    }
}

/// Each version in the file that is not the workspace's.
fn others(value: &Value, found: &mut Vec<String>) {
    let Value::Object(object) = value else {
        value
            .as_array()
            .into_iter()
            .flatten()
            .for_each(|value| others(value, found));
        return;
    };
    let version = object.get("version").and_then(Value::as_str);
    found.extend(version.filter(|version| *version != VERSION).map(str::to_owned));
    object.values().for_each(|value| others(value, found));
}

#[test]
fn every_package_has_the_version_of_the_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    described(&root, &mut files);
    assert!(
        files.iter().any(|file| file.ends_with("js/package.json")),
        "{files:?}"
    );
    for file in files {
        let mut found = Vec::new();
        let text = fs::read_to_string(&file).unwrap();
        others(&serde_json::from_str(&text).unwrap(), &mut found);
        assert!(
            found.is_empty(),
            "{}: {found:?}, expected {VERSION}",
            file.display()
        );
    }

    let lock: Value =
        serde_json::from_str(&fs::read_to_string(root.join("js/package-lock.json")).unwrap()).unwrap();
    assert_eq!(lock["packages"][""]["version"], VERSION, "js/package-lock.json");

    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let crates: Vec<&str> = manifest
        .lines()
        .filter(|line| line.starts_with("callgate-") && line.contains("path ="))
        .collect();
    assert!(crates.len() > 5, "{crates:?}");
    for line in crates {
        assert!(line.contains(&format!("version = \"{VERSION}\"")), "{line}");
    }
    let changes = fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    assert!(changes.contains(&format!("\n## {VERSION}")), "CHANGELOG.md");
}
