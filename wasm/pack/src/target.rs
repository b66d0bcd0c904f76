//! The compiler's target for WebAssembly.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Its name.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Looks for its standard library, without which cargo would say that it cannot find `core`.
///
/// # Errors
/// The compiler in use has no such target, or cannot be started. The error is one line that says what to run.
pub(crate) fn require() -> Result<(), String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let mut command = Command::new(rustc);
    let output = command
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let output = output.map_err(|error| format!("`rustc` cannot be started: {error}"))?;
    let folder = String::from_utf8_lossy(&output.stdout);
    filled(Path::new(folder.trim()))
}

/// The folder has an entry: rustup leaves the empty folder behind when it removes a target.
fn filled(folder: &Path) -> Result<(), String> {
    let mut entries = folder.read_dir().into_iter().flatten();
    match entries.next() {
        Some(_) => Ok(()),
        None => Err(format!(
            "the compiler has no target `{TARGET}`, run `rustup target add {TARGET}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_libraries_is_missing() {
        let expected = "the compiler has no target `wasm32-unknown-unknown`, run `rustup target add wasm32-unknown-unknown`";
        let folder = std::env::temp_dir().join(format!("callgate-libraries-{}", std::process::id()));
        assert_eq!(filled(&folder), Err(expected.to_owned()));
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(filled(&folder), Err(expected.to_owned()));
        std::fs::write(folder.join("libcore.rlib"), "").unwrap();
        assert_eq!(filled(&folder), Ok(()));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
