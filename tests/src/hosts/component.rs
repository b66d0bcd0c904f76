//! The engine as a component in wasmtime, under test.

mod approved;
mod world;

use std::cell::Cell;
use std::sync::{Arc, OnceLock, Weak};

use callgate_host::{Compiled, Gate, GateError, InstanceLimits, Request, Unusable};
use serde_json::Value;

use super::batch_host::{BatchHost, SharedHost};
use super::session::{Refusal, Unbuilt, documents, refusal, repeated, value, worded};
use crate::doubles::{Honest, WithRealpath};
use crate::subject::{Batch, EngineParts, Need, Operation, Outcome, Subject, SubjectKind};

/// The component that `callgate-host` carries, in wasmtime. A failure that ends an instance is a denial, as for every
/// [`Gate`].
pub struct ComponentSubject {
    component: Compiled,
    /// The same, for operations whose fuel is limited.
    burning: Compiled,
}

impl ComponentSubject {
    /// Compiles the component, or takes it from the cache of gates.
    ///
    /// # Errors
    /// This machine cannot run it.
    pub fn new() -> Result<Self, Unusable> {
        Ok(Self {
            component: Compiled::new(false)?,
            burning: Compiled::new(true)?,
        })
    }
}

impl Subject for ComponentSubject {
    fn name(&self) -> &str {
        "wasmtime"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Wasmtime
    }

    fn offers(&self, need: Need) -> bool {
        match need {
            Need::CaseInsensitive
            | Need::NormalizationInsensitive
            | Need::GitUrl
            | Need::GitDefaultRemote
            | Need::GitPush
            | Need::Script
            | Need::Fuel => true,
            Need::IgnorableFolding | Need::Windows | Need::Free | Need::Functions => false,
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        let BatchHost { host, reentrant } = match BatchHost::of(&batch.surroundings) {
            Ok(place) => place,
            Err(message) => return batch.faults(&message),
        };
        let mut session = Session {
            subject: self,
            host,
            reentrant: reentrant.map(|call| call.to_string()),
            parts: batch.engine.clone(),
            fuel: None,
            gate: Err(Unbuilt::not_asked()),
        };
        session.build();
        let operations = batch.operations.iter();
        operations
            .map(|operation| match session.answer(operation) {
                Ok(value) => Outcome::Answer(value),
                Err(refusal) => Outcome::Refused(refusal),
            })
            .collect()
    }
}

impl From<GateError> for Unbuilt {
    fn from(error: GateError) -> Self {
        let message = error.to_string();
        match error {
            GateError::Refused(faults) => Self {
                message,
                diagnostics: faults.into_iter().map(|fault| fault.diagnostic).collect(),
            },
            _ => Self::from(message),
        }
    }
}

/// One batch's host and engine.
struct Session<'s> {
    subject: &'s ComponentSubject,
    host: SharedHost,
    reentrant: Option<String>,
    parts: Option<EngineParts>,
    fuel: Option<u64>,
    gate: Result<Arc<Gate>, Unbuilt>,
}

impl Session<'_> {
    fn build(&mut self) {
        let Some(parts) = &self.parts else { return };
        self.gate = self.built(parts);
    }

    fn built(&self, parts: &EngineParts) -> Result<Arc<Gate>, Unbuilt> {
        let judge = Arc::new(OnceLock::new());
        let host = match &self.reentrant {
            Some(call) => calling_back(&self.host, call, &judge),
            None => Arc::clone(&self.host),
        };
        let (component, limits) = match self.fuel {
            None => (&self.subject.component, InstanceLimits::default()),
            Some(_) => (
                &self.subject.burning,
                InstanceLimits {
                    fuel: self.fuel,
                    ..InstanceLimits::default()
                },
            ),
        };
        let mut builder = Gate::builder().compiled(component).host(host).limits(limits);
        for (kind, text) in documents(parts)? {
            builder = builder.part(kind, text);
        }
        let gate = Arc::new(builder.build()?);
        judge.get_or_init(|| Arc::downgrade(&gate));
        Ok(gate)
    }

    fn answer(&mut self, operation: &Operation) -> Result<Value, Refusal> {
        match operation {
            Operation::Construct => self.gate().map(|_| Value::Null),
            Operation::Replace { engine } => {
                self.parts = Some(engine.clone());
                self.build();
                self.gate().map(|_| Value::Null)
            }
            Operation::Fuel { value } => {
                self.fuel = *value;
                self.build();
                Ok(Value::Null)
            }
            Operation::Evaluate { request, times } => self.evaluate(request, *times),
            Operation::EvaluateText { text } => self.evaluate(text, 1),
            Operation::Gate {
                request,
                container_workspace_dir,
            } => {
                let asked = Request::gate(request).in_container(container_workspace_dir.as_deref());
                let response = self.gate()?.judge(&asked);
                world::gated(response.map_err(refusal)?)
            }
            Operation::Explain { request } => self.gate()?.explain(request).map_err(refusal),
            Operation::Semantics { server, tool } => {
                let found = self.gate()?.semantics(server, tool).map_err(refusal)?;
                found.map_or(Ok(Value::Null), |found| value(&found.described()))
            }
            Operation::Diagnostics => {
                let warnings = self.gate()?.warnings().iter();
                Ok(warnings.map(|fault| worded(&fault.diagnostic)).collect())
            }
            Operation::World(question) => world::answer(self, question),
            Operation::Approved(call) => approved::answer(call, self.gate()?),
            Operation::Function { .. }
            | Operation::Whitelist(_)
            | Operation::GetAnnotation { .. }
            | Operation::PrepareToolArgs { .. } => Err("a component has no plain functions".to_owned()),
            Operation::EvaluateJs { .. } => Err("no JavaScript runs here".to_owned()),
            Operation::Free => Err("a gate is not freed by hand".to_owned()),
        }
    }

    fn gate(&self) -> Result<&Gate, Refusal> {
        self.gate.as_deref().map_err(|unbuilt| unbuilt.message.clone())
    }

    fn evaluate(&self, request: &str, times: u32) -> Result<Value, Refusal> {
        let gate = self.gate()?;
        repeated(times, || value(&gate.evaluate(request).map_err(refusal)?))
    }
}

/// The host. Whenever it is asked for a real path, it has the gate judge another call.
fn calling_back(host: &SharedHost, call: &str, judge: &Arc<OnceLock<Weak<Gate>>>) -> SharedHost {
    thread_local! {
        static INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    let (call, judge) = (call.to_owned(), Arc::clone(judge));
    let realpath = move |_: &str, honest: Honest<'_>| {
        // The inner call asks for real paths too.
        if let Some(gate) = judge.get().and_then(Weak::upgrade)
            && !INSIDE.replace(true)
        {
            drop(gate.evaluate(&call));
            INSIDE.set(false);
        }
        honest()
    };
    Arc::new(WithRealpath::new(Arc::clone(host), realpath))
}
