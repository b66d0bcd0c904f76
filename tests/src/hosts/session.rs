//! The shared parts of the hosts in Rust: refusals, and engines that could not be built.

use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::Diagnostic;
use serde::Serialize;
use serde_json::{Value, json};

use crate::subject::EngineParts;

/// Why an operation has no answer although nothing is broken.
pub(super) type Refusal = String;

/// Why the engine was not built.
pub(super) struct Unbuilt {
    pub(super) message: String,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Unbuilt {
    /// The state of a batch that has no engine.
    pub(super) fn not_asked() -> Self {
        Self::from("the batch has no engine".to_owned())
    }
}

impl From<String> for Unbuilt {
    fn from(message: String) -> Self {
        Self {
            message,
            diagnostics: Vec::new(),
        }
    }
}

/// The documents of an engine by their kinds.
///
/// # Errors
/// There is no kind of document with that name.
pub(super) fn documents(parts: &EngineParts) -> Result<Vec<(DocumentKind, &str)>, Unbuilt> {
    let known = |(name, text)| match DocumentKind::parse(name) {
        Some(kind) => Ok((kind, text)),
        None => Err(Unbuilt::from(format!("an engine has no part `{name}`"))),
    };
    parts.iter().map(known).collect()
}

/// The first of `times` answers, or the first that differs from it.
pub(super) fn repeated(
    times: u32,
    mut ask: impl FnMut() -> Result<Value, Refusal>,
) -> Result<Value, Refusal> {
    let first = ask()?;
    for _ in 1..times {
        let again = ask()?;
        if again != first {
            return Ok(again);
        }
    }
    Ok(first)
}

/// `[{code, severity, path, line, column}]`, the last two without the sandbox, which JavaScript has no text of.
pub(super) fn places<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>) -> Value {
    let shown = |one: &Diagnostic| {
        let position = one.position.filter(|_| one.path != "sandbox");
        json!({
            "code": one.code, "severity": one.severity, "path": one.path,
            "line": position.map(|position| position.line), "column": position.map(|position| position.column),
        })
    };
    diagnostics.into_iter().map(shown).collect()
}

/// A warning in words; not every host has the position of every one.
pub(super) fn worded(warning: &Diagnostic) -> String {
    let position = None;
    Diagnostic {
        position,
        ..warning.clone()
    }
    .to_string()
}

pub(super) fn value(answer: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(refusal)
}

pub(super) fn refusal(error: impl std::fmt::Display) -> Refusal {
    error.to_string()
}
