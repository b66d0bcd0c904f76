//! The engine behind a gate: the core in this process, or a component in wasmtime.

pub(crate) mod layered;
pub(crate) mod native;
pub(crate) mod unusable;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callgate_engine::approval::Offer;
use callgate_engine::bind::CallError;
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::engine::{Existence, Operation};
use callgate_engine::host::Host;
use callgate_engine::judge::{Decision, StructuralRule, Verdict};
use callgate_engine::model::{ReplyStatus, Semantics};
use callgate_engine::policy::Ceiling;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call_text::CallText;
use crate::timings::Starting;

pub use unusable::Unusable;

/// The two ways to run the engine. Both give the same answers, byte for byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// A WebAssembly component in wasmtime, within limits of memory and time; with the feature `component`.
    Component,
    /// The core as a library of this process: no limits but its own, and nothing between its memory and that of this
    /// process.
    #[default]
    Native,
}

/// The host that an engine asks, from whichever thread.
pub(crate) type SharedHost = Arc<dyn Host + Send + Sync>;

/// An engine that has loaded its documents.
pub(crate) struct Started {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// None for the native engine.
    pub(crate) component: Option<Starting>,
    /// How long the documents took.
    pub(crate) loading: Duration,
}

/// Why there is no engine.
pub(crate) enum NotStarted {
    Refused(Vec<Diagnostic>),
    Component(Unusable),
    /// What happened while the documents were loaded.
    Engine(EngineFault),
}

/// A question about a call that is JSON text.
pub type Request<'a> = callgate_engine::engine::Request<'a, CallText<'a>>;

/// An engine's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The decision, with its reason.
    pub verdict: Verdict<'static>,
    /// The arguments to forward if the verdict lets the call pass, as JSON text. `None` unless the request was to gate
    /// the call, and for arguments that are not an object, which is denied.
    pub arguments: Option<String>,
    /// The steps that led to the verdict, if the request asked for them: an object with `verdict`, `serverName`,
    /// `toolName`, `values`, `checks`, `roles`, `stepsLeftOut` and `recording`.
    pub explanation: Option<Value>,
}

/// A world's answer, for an agent too: it never holds a path of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The stable code, as in `EN-WRITE-D-002`.
    pub code: String,
    /// The kind of answer that the code stands for.
    pub status: ReplyStatus,
    /// The meaning of the code, for a person.
    pub message: String,
    /// The details of the answer; [`ReplyData`](callgate_engine::world::ReplyData) has the shapes.
    pub data: Value,
}

/// A place of a world, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The answer, for an agent too.
    pub reply: Reply,
    /// The number of the reference to the place in its table. It is for the host alone.
    pub reference: Option<u64>,
}

/// A table of references to places of a gate's world: one for each session that is to end on its own. It holds as many
/// as the engine's limit `references` says; numbers are given once and never again.
///
/// Where the engine is a component, a table keeps an instance for itself, some megabytes of memory.
pub struct References(pub(crate) Box<dyn Session>);

/// Why an engine did not answer. A call is denied by rule `structural-engine-fault`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineFault {
    /// It failed, or its host did.
    Failed,
    /// It took longer than this.
    Deadline(Duration),
    /// It needed more than this many bytes of memory.
    Memory(usize),
    /// It needed more than this much fuel.
    Fuel(u64),
}

/// Why a question about a world has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The engine has no world.
    NoWorld,
    /// The context is not a JSON object: why.
    Context(String),
    /// The engine did not answer.
    Engine(EngineFault),
}

/// Why it is not known what approving a call would cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unoffered {
    /// The text is not a call.
    Call(CallError),
    /// The engine did not answer.
    Engine(EngineFault),
}

/// An engine with its documents and its host. It answers every question or says that it cannot; `None` is an answer.
pub(crate) trait Backend: Send + Sync {
    fn kind(&self) -> EngineKind;

    /// The outer error is the backend's, the inner one is that of a text that is not a call.
    fn judge(&self, request: &Request<'_>) -> Result<Result<Response, CallError>, EngineFault>;

    /// `None` if the call does not escalate, or cannot be covered.
    fn offer(&self, request: &Request<'_>) -> Result<Result<Option<Offer>, CallError>, EngineFault>;

    /// `None` for an unknown tool.
    fn semantics(&self, server: &str, tool: &str) -> Result<Option<Semantics>, EngineFault>;

    /// The server and name of every annotated tool.
    fn tools(&self) -> Result<Vec<(String, String)>, EngineFault>;

    /// `None` without a ceiling.
    fn ceiling(&self) -> Result<Option<Ceiling>, EngineFault>;

    fn references(self: Arc<Self>) -> Result<References, Unanswered>;

    fn enforce(
        &self,
        mode: Option<&str>,
        operation: &Operation<'_>,
        context: Option<&str>,
    ) -> Result<Reply, Unanswered>;
}

/// A table of references.
pub(crate) trait Session: Send {
    fn resolve(
        &mut self,
        address: &str,
        existence: Existence,
        context: Option<&str>,
    ) -> Result<Resolution, Unanswered>;

    fn host_path(&mut self, reference: u64) -> Result<Option<String>, EngineFault>;

    fn revoke(&mut self, reference: u64) -> Result<bool, EngineFault>;

    fn revoke_all(&mut self) -> Result<(), EngineFault>;
}

impl References {
    /// The place that an address names in the context's mode, and a reference to it. The context is JSON text, as
    /// [`Context`](callgate_engine::world::Context) has it.
    ///
    /// # Errors
    /// When the context is not an object, or the engine does not answer.
    pub fn resolve(
        &mut self,
        address: &str,
        existence: Existence,
        context: Option<&str>,
    ) -> Result<Resolution, Unanswered> {
        self.0.resolve(address, existence, context)
    }

    /// The path that a reference stands for; `None` once it is revoked. The path was canonical when it was resolved; what
    /// stands there may have changed since.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn host_path(&mut self, reference: u64) -> Result<Option<String>, EngineFault> {
        self.0.host_path(reference)
    }

    /// Ends a reference. Returns `true` if it was valid.
    ///
    /// # Errors
    /// When the engine does not answer. Then no reference of the table is valid any more.
    pub fn revoke(&mut self, reference: u64) -> Result<bool, EngineFault> {
        self.0.revoke(reference)
    }

    /// Ends every reference, as when the mode or the session changes.
    ///
    /// # Errors
    /// Those of [`References::revoke`].
    pub fn revoke_all(&mut self) -> Result<(), EngineFault> {
        self.0.revoke_all()
    }
}

impl EngineKind {
    /// `component` or `native`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Native => "native",
        }
    }
}

impl Reply {
    /// Returns `true` if the operation is granted.
    pub fn is_success(&self) -> bool {
        self.status == ReplyStatus::Success
    }
}

impl fmt::Display for EngineFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed => formatter.write_str("The engine or its host failed"),
            Self::Deadline(limit) => {
                write!(formatter, "The engine took longer than {} ms", limit.as_millis())
            }
            Self::Memory(limit) => write!(formatter, "The engine needed more than {limit} bytes of memory"),
            Self::Fuel(limit) => write!(formatter, "The engine needed more than {limit} units of fuel"),
        }
    }
}

impl std::error::Error for EngineFault {}

impl EngineFault {
    /// The denial of a call that the engine could not judge, by rule `structural-engine-fault`.
    pub fn verdict(&self) -> Verdict<'static> {
        Verdict {
            decision: Decision::Deny,
            rule: StructuralRule::EngineFault.as_str().into(),
            reason: format!("{self} while it judged the call").into(),
            approval: None,
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorld => formatter.write_str("the engine has no world"),
            Self::Context(why) => write!(formatter, "the context: {why}"),
            Self::Engine(fault) => fault.fmt(formatter),
        }
    }
}

impl std::error::Error for Unanswered {}

impl fmt::Display for Unoffered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(formatter),
            Self::Engine(fault) => fault.fmt(formatter),
        }
    }
}

impl std::error::Error for Unoffered {}

impl From<EngineFault> for NotStarted {
    fn from(fault: EngineFault) -> Self {
        Self::Engine(fault)
    }
}

impl From<EngineFault> for Unanswered {
    fn from(fault: EngineFault) -> Self {
        Self::Engine(fault)
    }
}
