//! Data that a checkout may lack: skipped with a message on a person's machine, a failure in CI.

use std::path::PathBuf;

/// Says what is missing; under `CI=true` that fails the test.
pub(crate) fn skip(what: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{what}, which CI must not do without"
    );
    eprintln!("skipped: {what}");
}

/// The folder of the corpus: `CALLGATE_CORPUS`, else `shared/corpus` beside the checkout.
pub(crate) fn corpus_folder() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let folder = std::env::var_os("CALLGATE_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    folder.join("verdicts.jsonl").is_file().then_some(folder)
}
