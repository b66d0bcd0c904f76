//! What judges: the core as a library of this process, or as a component.

use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_core::{Call, CallError, Engine};
use serde_json::{Value, json};

use super::{Gated, Given, SharedHost, Verdict};
#[cfg(feature = "component")]
use crate::component::{Audience, EngineFault, Pool};

/// What runs the engine. Both give the same answers, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// A WebAssembly component in wasmtime, within limits of memory and time.
    #[cfg(feature = "component")]
    Component,
    /// The core as a library of this process: no limits but its own, and nothing between its memory and this
    /// process's.
    Native,
}

impl EngineKind {
    /// `component` or `native`.
    pub fn as_str(self) -> &'static str {
        match self {
            #[cfg(feature = "component")]
            Self::Component => "component",
            Self::Native => "native",
        }
    }
}

impl Default for EngineKind {
    /// The component, where this crate was built with it.
    fn default() -> Self {
        #[cfg(feature = "component")]
        return Self::Component;
        #[cfg(not(feature = "component"))]
        return Self::Native;
    }
}

pub(super) enum Judge {
    #[cfg(feature = "component")]
    Component(Box<Pool>),
    Native(Box<Native>),
}

/// The core in this process.
pub(super) struct Native {
    pub(super) engine: Engine,
    pub(super) host: SharedHost,
}

impl Judge {
    pub(super) fn kind(&self) -> EngineKind {
        match self {
            #[cfg(feature = "component")]
            Self::Component(_) => EngineKind::Component,
            Self::Native(_) => EngineKind::Native,
        }
    }

    pub(super) fn evaluate(&self, given: Given<'_>) -> Result<Verdict, CallError> {
        match self {
            #[cfg(feature = "component")]
            Self::Component(pool) => pool.evaluate(given).unwrap_or_else(|fault| {
                given.read()?;
                Ok(denied(&fault))
            }),
            Self::Native(native) => native.evaluate(given),
        }
    }

    pub(super) fn gate(
        &self,
        given: Given<'_>,
        container_workspace_dir: Option<&str>,
    ) -> Result<Gated, CallError> {
        match self {
            #[cfg(feature = "component")]
            Self::Component(pool) => pool.gate(given, container_workspace_dir).unwrap_or_else(|fault| {
                given.read()?;
                Ok(Gated::denied(denied(&fault)))
            }),
            Self::Native(native) => native.gate(given, container_workspace_dir),
        }
    }

    pub(super) fn explain(&self, given: Given<'_>) -> Result<Value, CallError> {
        match self {
            #[cfg(feature = "component")]
            Self::Component(pool) => pool
                .explain(given, Audience::Operator)
                .unwrap_or_else(|fault| Ok(unexplained(&given.read()?, &denied(&fault)))),
            Self::Native(native) => native.explain(given),
        }
    }

    pub(super) fn explain_gate(
        &self,
        given: Given<'_>,
        container_workspace_dir: Option<&str>,
    ) -> Result<Value, CallError> {
        match self {
            #[cfg(feature = "component")]
            Self::Component(pool) => pool
                .explain_gate(given, container_workspace_dir, Audience::Operator)
                .unwrap_or_else(|fault| Ok(unexplained(&given.read()?, &denied(&fault)))),
            Self::Native(native) => native.explain_gate(given, container_workspace_dir),
        }
    }
}

#[cfg(feature = "component")]
fn denied(fault: &EngineFault) -> Verdict {
    Verdict::engine_fault(&fault.to_string())
}

impl Native {
    fn evaluate(&self, given: Given<'_>) -> Result<Verdict, CallError> {
        let call = given.read()?;
        let judged = guarded(|| Verdict::from(self.engine.evaluate(&call, self.host.as_ref())));
        Ok(judged.unwrap_or_else(panicked))
    }

    fn gate(&self, given: Given<'_>, container_workspace_dir: Option<&str>) -> Result<Gated, CallError> {
        let call = given.read()?;
        let judged = guarded(|| {
            let gated = self
                .engine
                .gate(&call, container_workspace_dir, self.host.as_ref());
            Gated {
                args_for_transport: gated.arguments(),
                verdict: gated.verdict.into(),
            }
        });
        Ok(judged.unwrap_or_else(|| Gated::denied(panicked())))
    }

    fn explain(&self, given: Given<'_>) -> Result<Value, CallError> {
        let call = given.read()?;
        let explained = guarded(|| serde_json::to_value(self.engine.explain(&call, self.host.as_ref())));
        Ok(explanation(&call, explained))
    }

    fn explain_gate(
        &self,
        given: Given<'_>,
        container_workspace_dir: Option<&str>,
    ) -> Result<Value, CallError> {
        let call = given.read()?;
        let explained = guarded(|| {
            let host = self.host.as_ref();
            serde_json::to_value(self.engine.explain_gate(&call, container_workspace_dir, host))
        });
        Ok(explanation(&call, explained))
    }
}

/// The value, unless a panic of the host, or one that should not be in the engine, got in its way.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn panicked() -> Verdict {
    Verdict::engine_fault("The engine or its host failed")
}

/// An explanation, or that of a denial where there is none.
fn explanation(call: &Call<'_>, explained: Option<serde_json::Result<Value>>) -> Value {
    match explained {
        Some(Ok(explanation)) => explanation,
        Some(Err(_)) | None => unexplained(call, &panicked()),
    }
}

fn unexplained(call: &Call<'_>, verdict: &Verdict) -> Value {
    json!({
        "verdict": verdict,
        "serverName": call.server(),
        "toolName": call.tool(),
        "values": [],
        "checks": [],
        "roles": [],
        "stepsLeftOut": 0,
        "recording": callgate_core::Recording::default(),
    })
}
