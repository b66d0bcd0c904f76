//! Comments, documentation and messages use the field's words and plain English.

use std::fs;
use std::path::{Path, PathBuf};

use super::search::check;

/// Words that the project had for things which the field has words for, each with the one to use. A word is a whole identifier.
const WORDS: &[(&str, &str)] = &[
    ("AllBut", "`Filter`"),
    ("Asker", "`HostBridge`"),
    ("Bucket", "`ScopeIndex`"),
    ("Firm", "`Match::Exact`"),
    ("Forms", "the forms of what: `ValueForms`"),
    ("Heard", "`Match::Partial`"),
    ("Lane", "`RoleIndex`"),
    ("Misshapen", "`InvalidShape`"),
    ("Overheard", "`Relevance::CrossRole`"),
    ("PlainAnnotation", "`ResolvedAnnotation`"),
    ("Remembering", "`RecordingHost`"),
    ("Ruling", "`RoleVerdict`"),
    ("Seen", "`ConditionValue`, or the thing that is seen"),
    ("Shaped", "`PathBase`"),
    ("Soft", "`Match::LookAlike`"),
    ("are_plain", "`has_only_normal_components`"),
    ("conceal_places", "`redact_paths`"),
    ("doubled", "duplicate"),
    ("drop_directory", "`skip_directory`"),
    ("each_once", "`dedup`"),
    ("heedsPathLike", "`checksPathLike`"),
    ("is_cleared", "`may_forward`"),
    ("kin", "group"),
    ("may_be_odd", "the question itself"),
    ("misshapen", "of an invalid shape"),
    ("overheard", "cross-role"),
    ("overhears", "cross-role"),
    ("pollutes", "`is_prototype_setter`"),
    ("speaks_of", "`mentions` or `covers`"),
    ("text_under", "`canonical_text`"),
    ("unfitting", "unexpected"),
    ("unlike_patterns", "`pattern_mismatch`"),
    ("unlistable", "`opaque_list_roles`"),
];

/// Ends of sentences that say "not a" or "not one" in a foreign way: "is no string", "a line that is none". After "there" both are
/// plain.
const NOTHING: &[&str] = &["no", "none"];

/// The words that may follow "is no".
const AFTER_NO: &[&str] = &["longer", "more", "less", "later", "other", "further", "answer"];

/// The files and folders that people read, relative to the checkout.
const READ: &[&str] = &[
    "CHANGELOG.md",
    "README.md",
    "SECURITY.md",
    "core",
    "host-shim",
    "js/README.md",
    "js/playground/src",
    "js/src",
    "tests/README.md",
    "tests/cedar",
    "tests/launch",
    "tests/src",
    "tests/tests",
    "wasm",
];

/// Files that are not held to this, since they list words themselves.
const EXEMPT: &[&str] = &["tests/tests/absences/prose.rs", "tests/tests/absences/words.rs"];

#[test]
fn coined_words_are_gone() {
    let faults = look(|file, line| {
        let is_prose = file.ends_with(".md")
            || ["//", "/*", "* "]
                .iter()
                .any(|mark| line.trim().starts_with(mark));
        let mut words = line.split(|one: char| !one.is_alphanumeric() && one != '_');
        words.find_map(|word| {
            let (_, say) = WORDS.iter().find(|(coined, _)| *coined == word)?;
            // A sentence may begin with a word that names no type well.
            let is_type = word.starts_with(char::is_uppercase);
            (!is_prose || !is_type).then(|| format!("`{word}`, say {say}"))
        })
    });
    check("words that the field has others for", faults);
}

#[test]
fn nothing_is_no_thing() {
    let faults = look(|_, line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.windows(2).enumerate().find_map(|(at, pair)| {
            let [verb, nothing] = pair else { return None };
            let ends_clause = nothing.ends_with(['.', ',', ';', ':', ')']);
            let nothing = nothing.trim_end_matches(['.', ',', ';', ':', ')']);
            if !["is", "are", "was", "were"].contains(verb) || !NOTHING.contains(&nothing) {
                return None;
            }
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let is_existence = before.is_none_or(|word| word.to_lowercase().ends_with("there"));
            let next = words.get(at + 2).copied().unwrap_or("more");
            let is_plain = match nothing {
                "no" => AFTER_NO.iter().any(|word| next.starts_with(word)),
                _ => next == "of" || next == "that" && !ends_clause,
            };
            (!is_existence && !is_plain)
                .then(|| format!("`{verb} {nothing}`, say what it is not: `is not a …`"))
        })
    });
    check("sentences that say `is no …` or `is none`", faults);
}

/// A clause in place of a noun ("What the host answers") leaves open what kind of thing the item is.
#[test]
fn documentation_begins_with_a_noun_or_a_verb() {
    let mut faults = Vec::new();
    for (name, text) in files() {
        let mut above = "";
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            let begin = match line.split_once(' ') {
                Some((mark @ ("///" | "//!"), rest)) if !above.starts_with(mark) || above == mark => {
                    Some(rest)
                }
                Some(("/**", rest)) => Some(rest),
                Some(("*", rest)) if above == "/**" => Some(rest),
                _ => None,
            };
            let word = begin.and_then(|begin| begin.split_whitespace().next());
            if matches!(word, Some("What" | "Whether")) {
                faults.push(format!("{name}:{}: {line}", at + 1));
            }
            above = line;
        }
    }
    check(
        "documentation that begins with `What` or `Whether`; say what the item is or does, such as `Returns `true` if …`",
        faults,
    );
}

/// Every line that is `wrong`, given its file and its text, with the reason.
fn look(wrong: impl Fn(&str, &str) -> Option<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, text) in files() {
        for (at, line) in text.lines().enumerate() {
            if let Some(reason) = wrong(&name, line) {
                faults.push(format!("{name}:{}: {reason}\n    {}", at + 1, line.trim()));
            }
        }
    }
    faults
}

/// The files that people read, by their names.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for place in READ {
        collect(&root, &root.join(place), &mut found);
    }
    assert!(found.len() > 300, "{} files", found.len());
    found
}

fn collect(root: &Path, place: &Path, found: &mut Vec<(String, String)>) {
    let name = place.strip_prefix(root).unwrap_or(place).display().to_string();
    let is_foreign = place.ends_with("target") || place.ends_with("node_modules");
    if is_foreign || EXEMPT.contains(&name.as_str()) {
        return;
    }
    if place.is_dir() {
        let entries = fs::read_dir(place).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| collect(root, entry, found));
    } else if place
        .extension()
        .is_some_and(|extension| ["md", "rs", "ts", "wit"].iter().any(|one| extension == *one))
    {
        let text = fs::read_to_string(place).unwrap_or_else(|error| panic!("{name}: {error}"));
        found.push((name, text));
    }
}
