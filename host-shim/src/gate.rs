//! A gate: an engine with its documents and its host, behind one builder.

mod additions;
mod builder;
mod judge;
mod timings;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;

use callgate_core::{CallError, Host};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::documents::{Document, Fault};
use judge::Judge;

pub use builder::{GateBuilder, GateError};
pub use judge::EngineKind;
pub use timings::Timings;
pub use verdict::{Decision, Gated, Verdict};

/// A policy decision point that is ready to judge: share it between threads, it keeps nothing between calls.
///
/// ```
/// use callgate_host::{Decision, Gate};
///
/// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bundle");
/// let gate = Gate::builder().bundle(format!("{folder}/callgate.json")).build()?;
/// let call = format!(
///     r#"{{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {{"path": "{folder}/x"}}}}"#
/// );
/// assert_eq!(gate.evaluate(&call)?.decision, Decision::Allow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Calls are JSON text `{serverName, toolName, arguments}`. Argument values that no role and no condition names
/// are never parsed.
///
/// Unless [`GateBuilder::engine`] says otherwise the engine is a component in wasmtime: it has its own memory, a
/// deadline, and nothing of the outside but the host. What goes wrong in it, or in the host, is a denial by rule
/// `structural-engine-fault`.
pub struct Gate {
    judge: Judge,
    documents: Vec<Document>,
    warnings: Vec<Fault>,
    timings: Timings,
}

type SharedHost = Arc<dyn Host + Send + Sync>;

impl Gate {
    /// Starts building a gate.
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// What was noticed about the documents and did not stop loading.
    pub fn warnings(&self) -> &[Fault] {
        &self.warnings
    }

    /// What runs the engine.
    pub fn engine(&self) -> EngineKind {
        self.judge.kind()
    }

    /// How long the parts of building the gate took.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// The instances of the component.
    #[cfg(feature = "component")]
    pub(crate) fn pool(&self) -> Option<&crate::component::Pool> {
        match &self.judge {
            Judge::Component(pool) => Some(pool),
            Judge::Native(_) => None,
        }
    }

    /// Judges a call whose arguments are prepared: relative paths are relative to the host's current directory.
    ///
    /// # Errors
    /// When the text is not a call. What cannot be judged is denied, not an error.
    pub fn evaluate(&self, call: &str) -> Result<Verdict, CallError> {
        self.judge.evaluate(call)
    }

    /// Prepares and judges a call in one pass: what is judged is what is to be forwarded.
    ///
    /// Relative paths are relative to the sandbox; paths under `container_workspace_dir` are moved onto it.
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn gate(&self, call: &str, container_workspace_dir: Option<&str>) -> Result<Gated, CallError> {
        self.judge.gate(call, container_workspace_dir)
    }

    /// The verdict of [`Gate::evaluate`] with everything that led to it: an object with `verdict`, `serverName`,
    /// `toolName`, `values`, `checks`, `roles`, `stepsLeftOut` and `recording`.
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn explain(&self, call: &str) -> Result<Value, CallError> {
        self.judge.explain(call)
    }

    /// The same for the verdict of [`Gate::gate`].
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn explain_gate(
        &self,
        call: &str,
        container_workspace_dir: Option<&str>,
    ) -> Result<Value, CallError> {
        self.judge.explain_gate(call, container_workspace_dir)
    }

    /// What [`Gate::explain`] said of a call as one line of a recording file, which
    /// [`replay::recordings`](crate::replay::recordings) replays without any disk or git.
    ///
    /// It holds the documents, the arguments and what the host answered.
    ///
    /// # Errors
    /// When `call` is not JSON.
    pub fn recorded(&self, call: &str, explanation: &Value) -> Result<String, serde_json::Error> {
        // JSON has line breaks between its tokens only.
        let one_line = |text: &str| RawValue::from_string(text.replace(['\n', '\r'], " "));
        let mut engine = BTreeMap::new();
        for document in &self.documents {
            engine.insert(document.part.key(), one_line(document.text.trim())?);
        }
        serde_json::to_string(&Recorded {
            format: "recording/1",
            engine,
            recording: &explanation["recording"],
            request: one_line(call.trim())?,
            verdict: &explanation["verdict"],
            explanation,
        })
    }
}

/// One line of a recording file.
#[derive(Serialize)]
struct Recorded<'e> {
    format: &'static str,
    engine: BTreeMap<&'static str, Box<RawValue>>,
    recording: &'e Value,
    request: Box<RawValue>,
    verdict: &'e Value,
    explanation: &'e Value,
}

#[cfg(test)]
mod tests;
