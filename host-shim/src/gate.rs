//! A gate: an engine with its documents and its host, behind one builder.

mod additions;
mod builder;
mod layers;
mod recorded;

use std::path::PathBuf;
use std::sync::Arc;

use callgate_engine::approval::Offer;
use callgate_engine::bind::CallError;
use callgate_engine::engine::{Audience, BuildError, Engine, Operation};
use callgate_engine::host::{Host, Recording};
use callgate_engine::judge::Verdict;
use callgate_engine::model::Semantics;
use callgate_engine::policy::Ceiling;
use serde_json::{Value, json};

use crate::backend::{
    Backend, EngineFault, EngineKind, References, Reply, Request, Response, Unanswered, Unoffered,
};
use crate::call_text::CallText;
use crate::documents::{Document, Fault};
use crate::timings::Timings;

pub use builder::{GateBuilder, GateError};
pub use layers::LayerEngine;

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
/// The engine is the core in this process, or, where [`GateBuilder::engine`] says so, a component in wasmtime: that has its
/// own memory, a deadline, and nothing of the outside but the host. If it fails, or its host does, a call is denied by rule
/// `structural-engine-fault`, and any other question is an error.
pub struct Gate {
    backend: Arc<dyn Backend>,
    name: String,
    /// The layers above, the uppermost first.
    above: Vec<Arc<Gate>>,
    /// The servers that are left to layers below.
    leaves: Vec<String>,
    documents: Vec<Document>,
    files: Vec<PathBuf>,
    scenario_files: Vec<PathBuf>,
    warnings: Vec<Fault>,
    timings: Timings,
    host: Arc<dyn Host + Send + Sync>,
}

/// An annotated tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The server that offers it.
    pub server: String,
    /// Its name.
    pub name: String,
    /// The tool's semantics.
    pub semantics: Semantics,
}

impl Gate {
    /// Starts building a gate.
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// Warnings about the documents, which did not stop loading.
    pub fn warnings(&self) -> &[Fault] {
        &self.warnings
    }

    /// The way in which the engine runs.
    pub fn engine(&self) -> EngineKind {
        self.backend.kind()
    }

    /// How long the parts of building the gate took.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// Judges a call.
    ///
    /// # Errors
    /// When the text is not a call. What cannot be judged is denied, not an error.
    pub fn judge(&self, request: &Request<'_>) -> Result<Response, CallError> {
        match self.backend.judge(request) {
            Ok(answer) => answer,
            Err(fault) => denied(request, &fault),
        }
    }

    /// Judges a call whose arguments are prepared: relative paths are relative to the host's current directory.
    ///
    /// # Errors
    /// Those of [`Gate::judge`].
    pub fn evaluate<'c>(&self, call: impl Into<CallText<'c>>) -> Result<Verdict<'static>, CallError> {
        Ok(self.judge(&Request::prepared(call))?.verdict)
    }

    /// Prepares and judges a call in one pass: what is judged is what is to be forwarded.
    ///
    /// Relative paths are relative to the sandbox. Where the agent runs in a container, which has another name for the
    /// sandbox, [`Gate::judge`] is asked with [`Request::in_container`].
    ///
    /// # Errors
    /// Those of [`Gate::judge`].
    pub fn gate<'c>(&self, call: impl Into<CallText<'c>>) -> Result<Response, CallError> {
        self.judge(&Request::gate(call))
    }

    /// The verdict of [`Gate::evaluate`] with everything that led to it, as in [`Response::explanation`].
    ///
    /// # Errors
    /// Those of [`Gate::judge`].
    pub fn explain<'c>(&self, call: impl Into<CallText<'c>>) -> Result<Value, CallError> {
        let request = Request::prepared(call).explained(Audience::Operator);
        match self.judge(&request)?.explanation {
            Some(explanation) => Ok(explanation),
            // The engine was asked for one, so it has failed.
            None => unexplained(&request, &EngineFault::Failed.verdict()),
        }
    }

    /// The constraints of an approval that would cover an escalated call, to be shown to whoever approves it and then
    /// added to [`Approvals`](callgate_engine::approval::Approvals). The caller keeps those, and gives them with each request
    /// ([`Request::approved`]).
    ///
    /// Returns `None` if the call does not escalate, and if something that escalates cannot be constrained, as
    /// [`Engine::offer`](callgate_engine::engine::Engine::offer) says.
    ///
    /// # Errors
    /// When the text is not a call, or the engine does not answer.
    pub fn offer(&self, request: &Request<'_>) -> Result<Option<Offer>, Unoffered> {
        match self.backend.offer(request) {
            Ok(answer) => answer.map_err(Unoffered::Call),
            Err(fault) => Err(Unoffered::Engine(fault)),
        }
    }

    /// The semantics of an annotated tool, for schedulers and telemetry; `None` for an unknown tool.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn semantics(&self, server: &str, tool: &str) -> Result<Option<Semantics>, EngineFault> {
        self.backend.semantics(server, tool)
    }

    /// Every annotated tool.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn tools(&self) -> Result<Vec<Tool>, EngineFault> {
        let named = self.backend.tools()?.into_iter();
        let described = named.map(|(server, name)| {
            let semantics = self.semantics(&server, &name)?.ok_or(EngineFault::Failed)?;
            Ok(Tool {
                server,
                name,
                semantics,
            })
        });
        described.collect()
    }

    /// The most that calls may do; `None` without a ceiling. The host counts the recursion that it limits.
    ///
    /// # Errors
    /// When the engine does not answer. That must not be taken for the absence of a ceiling.
    pub fn ceiling(&self) -> Result<Option<Ceiling>, EngineFault> {
        self.backend.ceiling()
    }

    /// A table for references to places of the world.
    ///
    /// # Errors
    /// When the engine has no world, or does not answer.
    pub fn references(&self) -> Result<References, Unanswered> {
        Arc::clone(&self.backend).references()
    }

    /// Returns `true` if the first rule of the place that holds the operation's command allows it in a mode. The
    /// context is JSON text, as [`Context`](callgate_engine::world::Context) has it; its mode is not looked at.
    ///
    /// # Errors
    /// When the engine has no world, the context is not an object, or the engine does not answer.
    pub fn enforce(
        &self,
        mode: Option<&str>,
        operation: &Operation<'_>,
        context: Option<&str>,
    ) -> Result<Reply, Unanswered> {
        self.backend.enforce(mode, operation, context)
    }

    /// The files that the gate's documents were read from, and that are to be watched for changes: each once.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files of scenarios that the bundle names under `tests`. The gate does not read them.
    pub fn scenario_files(&self) -> &[PathBuf] {
        &self.scenario_files
    }

    /// The documents compiled once more, into an engine of this process: for looking at a policy as a whole.
    ///
    /// # Errors
    /// When the documents are refused, which they were not before, and where there are layers: one engine is not all of them.
    pub fn compile(&self, host: &dyn Host) -> Result<Engine, BuildError> {
        self.check_alone()?;
        self.compile_alone(host)
    }

    /// The host that answers the engine's questions.
    pub fn host(&self) -> &dyn Host {
        self.host.as_ref()
    }

    /// The documents that the gate was built from.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }
}

/// The response of an engine that did not give one.
fn denied(request: &Request<'_>, fault: &EngineFault) -> Result<Response, CallError> {
    request.call.read()?;
    let verdict = fault.verdict();
    let explanation = request.explain.map(|_| unexplained(request, &verdict));
    Ok(Response {
        explanation: explanation.transpose()?,
        verdict,
        arguments: None,
    })
}

fn unexplained(request: &Request<'_>, verdict: &Verdict<'_>) -> Result<Value, CallError> {
    let call = request.call.read()?;
    Ok(json!({
        "verdict": verdict,
        "serverName": call.server(),
        "toolName": call.tool(),
        "values": [],
        "checks": [],
        "roles": [],
        "stepsLeftOut": 0,
        "recording": Recording::default(),
    }))
}

#[cfg(test)]
mod tests;
