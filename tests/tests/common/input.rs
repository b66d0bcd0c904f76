//! Requirements that a machine may lack: the test is skipped with a message, and fails in CI.

/// Prints what is missing. Fails the test under `CI=true`.
pub(crate) fn skip(what: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{what}, which CI must not do without"
    );
    eprintln!("skipped: {what}");
}
