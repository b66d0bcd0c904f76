//! What a machine may lack: skipped with a message on a person's machine, a failure in CI.

/// Says what is missing; under `CI=true` that fails the test.
pub(crate) fn skip(what: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{what}, which CI must not do without"
    );
    eprintln!("skipped: {what}");
}
