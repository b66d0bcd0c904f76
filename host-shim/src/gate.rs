//! A gate: an engine with its documents and its host, behind one builder.

mod additions;
mod builder;
mod given;
mod judge;
mod timings;
mod verdict;
mod world;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use callgate_core::{CallError, Ceiling, Described, Engine, Host, Input, Semantics};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::documents::{Document, Fault};
use judge::Judge;

pub use builder::{GateBuilder, GateError};
pub use given::Given;
pub use judge::EngineKind;
pub use timings::{Starting, Timings};
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
    /// The core beside a component: what it says of documents, for which no call is judged.
    beside: OnceLock<Option<Box<Engine>>>,
    host: SharedHost,
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
    #[cfg(feature = "testing")]
    pub(crate) fn pool(&self) -> Option<&crate::component::Pool> {
        match &self.judge {
            Judge::Component(pool) => Some(pool),
            Judge::Native(_) => None,
        }
    }

    /// What an annotated tool does, for schedulers and telemetry.
    pub fn semantics(&self, server: &str, tool: &str) -> Option<&Semantics> {
        self.core()?.semantics(server, tool)
    }

    /// The server and name of every annotated tool, and what it does.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str, Described<'_>)> {
        let described = |(server, tool)| Some((server, tool, self.semantics(server, tool)?.described()));
        let tools = self.core().into_iter().flat_map(Engine::tools);
        tools.filter_map(described)
    }

    /// What calls may use at most. The host counts the recursion that it limits.
    pub fn ceiling(&self) -> Option<&Ceiling> {
        self.core()?.ceiling()
    }

    /// The core with this gate's documents, for questions that judge no call. Where a component judges, it is built
    /// when it is asked for; none where the host failed at that.
    fn core(&self) -> Option<&Engine> {
        match &self.judge {
            Judge::Native(native) => Some(&native.engine),
            #[cfg(feature = "component")]
            Judge::Component(_) => {
                let built = self.beside.get_or_init(|| {
                    let parts = self.documents.iter();
                    let builder = parts.fold(Engine::builder(), |builder, document| {
                        builder.part(document.part, Input::Text(&document.text))
                    });
                    builder.build(self.host.as_ref()).ok().map(Box::new)
                });
                built.as_deref()
            }
        }
    }

    /// Judges a call whose arguments are prepared: relative paths are relative to the host's current directory.
    ///
    /// # Errors
    /// When the text is not a call. What cannot be judged is denied, not an error.
    pub fn evaluate<'c>(&self, call: impl Into<Given<'c>>) -> Result<Verdict, CallError> {
        self.judge.evaluate(call.into())
    }

    /// Prepares and judges a call in one pass: what is judged is what is to be forwarded.
    ///
    /// Relative paths are relative to the sandbox; paths under `container_workspace_dir` are moved onto it.
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn gate<'c>(
        &self,
        call: impl Into<Given<'c>>,
        container_workspace_dir: Option<&str>,
    ) -> Result<Gated, CallError> {
        self.judge.gate(call.into(), container_workspace_dir)
    }

    /// The verdict of [`Gate::evaluate`] with everything that led to it: an object with `verdict`, `serverName`,
    /// `toolName`, `values`, `checks`, `roles`, `stepsLeftOut` and `recording`.
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn explain<'c>(&self, call: impl Into<Given<'c>>) -> Result<Value, CallError> {
        self.judge.explain(call.into())
    }

    /// The same for the verdict of [`Gate::gate`].
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn explain_gate<'c>(
        &self,
        call: impl Into<Given<'c>>,
        container_workspace_dir: Option<&str>,
    ) -> Result<Value, CallError> {
        self.judge.explain_gate(call.into(), container_workspace_dir)
    }

    /// What [`Gate::explain`] said of a call as one line of a recording file, which
    /// `callgate replay` judges again without any disk or git.
    ///
    /// It holds the documents, the arguments, the context and what the host answered.
    ///
    /// # Errors
    /// When `call` is not JSON.
    pub fn recorded<'c>(
        &self,
        call: impl Into<Given<'c>>,
        explanation: &Value,
    ) -> Result<String, serde_json::Error> {
        let Given { call, context } = call.into();
        // JSON has line breaks between its tokens only.
        let one_line = |text: &str| RawValue::from_string(text.replace(['\n', '\r'], " "));
        let mut engine = BTreeMap::new();
        for document in &self.documents {
            engine.insert(document.part.key(), one_line(document.text.trim())?);
        }
        serde_json::to_string(&Recorded {
            format: "cases/1",
            engine,
            recording: &explanation["recording"],
            cases: [RecordedCall {
                op: "explain",
                call: one_line(call.trim())?,
                context: context.map(|context| one_line(context.trim())).transpose()?,
                expect: Expected { answer: explanation },
            }],
        })
    }
}

/// One line of a recording file.
#[derive(Serialize)]
struct Recorded<'e> {
    format: &'static str,
    engine: BTreeMap<&'static str, Box<RawValue>>,
    recording: &'e Value,
    cases: [RecordedCall<'e>; 1],
}

#[derive(Serialize)]
struct RecordedCall<'e> {
    op: &'static str,
    call: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Box<RawValue>>,
    expect: Expected<'e>,
}

#[derive(Serialize)]
struct Expected<'e> {
    answer: &'e Value,
}

#[cfg(test)]
mod tests;
