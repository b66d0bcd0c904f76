//! The crate has nothing that reaches outside the process or outlives a question.

use std::fs;
use std::path::Path;

#[test]
fn nothing_reaches_outside_or_outlives_a_question() {
    const WORDS: &[&str] = &[
        "std::env",
        "std::fs",
        "std::io",
        "std::net",
        "std::os",
        "std::process",
        "std::sync",
        "std::thread",
        "std::time",
        "HashMap",
        "\nstatic ",
        "thread_local",
        "unsafe",
        "println",
        "OnceCell",
        "LazyCell",
    ];
    let mut count = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        count += 1;
        let source = fs::read_to_string(&path).unwrap();
        let code: Vec<&str> = source
            .lines()
            .map(str::trim_start)
            .filter(|line| !line.starts_with("//"))
            .collect();
        // A static that is public starts with its visibility.
        let code = format!("\n{}", code.join("\n")).replace("pub(crate) ", "");
        // A shared value, which no question changes.
        let code = code.replace("use std::sync::Arc;", "");
        for word in WORDS {
            assert!(!code.contains(word), "{word:?} in {}", path.display());
        }
    }
    assert!(count > 10, "{count} files");
}

#[test]
fn the_crate_has_no_dependencies() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("\n[dependencies]"), "{manifest}");
    assert!(manifest.contains("unsafe_code = \"forbid\""), "{manifest}");
}
