//! A program of the shells, under many names: it writes down how it was started.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;

pub(crate) fn main(log: &OsStr) -> ExitCode {
    let words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.collect();
    let directory = env::current_dir().unwrap_or_default();
    let files = (0..10).filter_map(|number| {
        let file = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
        Some(json!([number, file.to_string_lossy()]))
    });
    let files: Vec<_> = files.collect();
    let line = json!({"words": words, "directory": directory.to_string_lossy(), "files": files});
    let written = OpenOptions::new().append(true).open(log).and_then(|mut log| {
        // One write, so that programs that run at the same time do not mix.
        log.write_all(format!("{line}\n").as_bytes())
    });
    let fails = words.first().is_some_and(|name| name.ends_with("fails"));
    // A here-document is the value of a substitution.
    if words.len() == 1 && words.first().is_some_and(|name| name.ends_with("cat")) {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::stdout());
    }
    match written {
        Ok(()) if !fails => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
