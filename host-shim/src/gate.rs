//! A gate: an engine with its documents and its host, behind one builder.

mod additions;
mod builder;
mod given;
mod verdict;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use callgate_core::{Call, CallError, Ceiling, Described, Engine, Host, Semantics, View};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::documents::{Document, Fault};
use crate::members::Members;

pub use builder::{GateBuilder, GateError};
pub use given::Given;
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
pub struct Gate {
    engine: Engine,
    host: SharedHost,
    documents: Vec<Document>,
    warnings: Vec<Fault>,
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

    /// What an annotated tool does, for schedulers and telemetry.
    pub fn semantics(&self, server: &str, tool: &str) -> Option<&Semantics> {
        self.engine.semantics(server, tool)
    }

    /// The server and name of every annotated tool, and what it does.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str, Described<'_>)> {
        let described = |(server, tool)| Some((server, tool, self.semantics(server, tool)?.described()));
        self.engine.tools().filter_map(described)
    }

    /// What calls may use at most. The host counts the recursion that it limits.
    pub fn ceiling(&self) -> Option<&Ceiling> {
        self.engine.ceiling()
    }

    /// Judges a call whose arguments are prepared: relative paths are relative to the host's current directory.
    ///
    /// # Errors
    /// When the text is not a call. What cannot be judged is denied, not an error.
    pub fn evaluate<'c>(&self, call: impl Into<Given<'c>>) -> Result<Verdict, CallError> {
        let call = call.into().read()?;
        let judged = guarded(|| Verdict::from(self.engine.evaluate(&call, self.host.as_ref())));
        Ok(judged.unwrap_or_else(Verdict::engine_fault))
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
        let given = call.into();
        let arguments = arguments_of(given.call);
        let call = given.read()?;
        let judged = guarded(|| {
            let gated = self
                .engine
                .gate(&call, container_workspace_dir, self.host.as_ref());
            Gated {
                args_for_transport: gated.prepared.apply_to_json(arguments, View::Transport),
                verdict: gated.verdict.into(),
            }
        });
        Ok(judged.unwrap_or_else(|| Gated {
            verdict: Verdict::engine_fault(),
            args_for_transport: None,
        }))
    }

    /// The verdict of [`Gate::evaluate`] with everything that led to it: an object with `verdict`, `serverName`,
    /// `toolName`, `values`, `checks`, `roles`, `stepsLeftOut` and `recording`.
    ///
    /// # Errors
    /// Those of [`Gate::evaluate`].
    pub fn explain<'c>(&self, call: impl Into<Given<'c>>) -> Result<Value, CallError> {
        let call = call.into().read()?;
        let explained = guarded(|| serde_json::to_value(self.engine.explain(&call, self.host.as_ref())));
        Ok(explanation(&call, explained))
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
        let call = call.into().read()?;
        let explained = guarded(|| {
            let host = self.host.as_ref();
            serde_json::to_value(self.engine.explain_gate(&call, container_workspace_dir, host))
        });
        Ok(explanation(&call, explained))
    }

    /// What [`Gate::explain`] said of a call as one line of a recording file, which
    /// [`replay::recordings`](crate::replay::recordings) replays without any disk or git.
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
            format: "recording/1",
            engine,
            recording: &explanation["recording"],
            request: one_line(call.trim())?,
            context: context.map(|context| one_line(context.trim())).transpose()?,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Box<RawValue>>,
    verdict: &'e Value,
    explanation: &'e Value,
}

/// The value, unless a panic of the host, or one that should not be in the engine, got in its way.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// An explanation, or that of a denial where there is none.
fn explanation(call: &Call<'_>, explained: Option<serde_json::Result<Value>>) -> Value {
    match explained {
        Some(Ok(explanation)) => explanation,
        Some(Err(_)) | None => json!({
            "verdict": Verdict::engine_fault(),
            "serverName": call.server(),
            "toolName": call.tool(),
            "values": [],
            "checks": [],
            "roles": [],
            "stepsLeftOut": 0,
            "recording": callgate_core::Recording::default(),
        }),
    }
}

/// The JSON text of a call's arguments; absent ones are an empty object.
fn arguments_of(call: &str) -> &str {
    let members = serde_json::from_str::<Members<'_>>(call);
    let arguments = members.ok().and_then(|Members(members)| {
        members
            .into_iter()
            .find(|(name, _)| name == "arguments")
            .map(|(_, value)| RawValue::get(value))
    });
    arguments.unwrap_or("{}")
}

#[cfg(test)]
mod tests;
