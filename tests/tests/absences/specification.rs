//! The sections of `core/docs/specification.md` that the code cites are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::search::check;

/// The specification, relative to the checkout.
const PAGE: &str = "core/docs/specification.md";

/// The mark before a section, in two parts so that this file does not have it.
const MARK: &str = concat!("SPEC ", "§");

/// The folders whose code cites it.
const CITING: &[&str] = &["core", "host-shim", "js", "tests", "wasm"];

/// Folders that a build or an installation writes.
const LEFT_OUT: &[&str] = &["component", "dist", "node_modules", "target"];

#[test]
fn every_cited_section_is_there() {
    let root = root();
    let page = fs::read_to_string(root.join(PAGE)).expect("the specification is read");
    let sections = sections(&page);
    let mut files = Vec::new();
    for folder in CITING {
        code(&root.join(folder), &mut files);
    }
    let mut faults = Vec::new();
    let mut cited = 0;
    for file in files {
        let text = fs::read_to_string(&file).expect("code is text");
        for (at, line) in text.lines().enumerate() {
            for section in line.split(MARK).skip(1).map(cited_section) {
                cited += 1;
                if !sections.contains(section) {
                    faults.push(format!("{}:{}: {section}", file.display(), at + 1));
                }
            }
        }
    }
    check("sections that the specification does not have", faults);
    assert!(cited > 50, "{cited} citations were found");
}

#[test]
fn sections_are_found() {
    let page = "## 8. Evaluating\n1. one\n3. three\n   1. deep\n   9. ten\n4. four\n## 9. Approvals\n";
    let expected = ["8", "8.1", "8.3", "8.3.1", "8.3.9", "8.4", "9"];
    assert_eq!(sections(page), expected.map(str::to_owned).into());
    assert_eq!(cited_section("8.3.5): more"), "8.3.5");
    assert_eq!(cited_section("14."), "14");
}

/// The numbers of the headings, of the items below each, and of the items below those.
fn sections(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut heading, mut item) = (String::new(), String::new());
    for line in page.lines() {
        let trimmed = line.trim_start();
        let number = |text: &str| {
            let (number, _) = text.split_once(". ")?;
            number.parse::<u32>().ok().map(|number| number.to_string())
        };
        if let Some(title) = line.strip_prefix("## ") {
            heading = number(title).unwrap_or_default();
            found.insert(heading.clone());
        } else if let Some(number) = number(trimmed) {
            let section = match trimmed.len() == line.len() {
                true => {
                    item = format!("{heading}.{number}");
                    item.clone()
                }
                false => format!("{item}.{number}"),
            };
            found.insert(section);
        }
    }
    found
}

/// The section at the start of the text, without the full stop of a sentence.
fn cited_section(text: &str) -> &str {
    let is_part = |one: char| one.is_ascii_digit() || one == '.';
    let end = text.find(|one| !is_part(one)).unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

/// Every file of code below the folder.
fn code(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder is read") {
        let path = entry.expect("an entry is read").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if !LEFT_OUT.contains(&name.as_str()) {
                code(&path, files);
            }
        } else if [".rs", ".ts", ".mjs", ".wit"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            files.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
