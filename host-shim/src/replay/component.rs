//! The engine as a component in wasmtime, under test.

mod functions;
mod world;

use std::cell::Cell;
use std::sync::{Arc, OnceLock, Weak};

use callgate_core::{Host, Part, Recording};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::native::{refusal, value};
use super::reentrant::Reentrant;
use super::subject::{Batch, EngineParts, Need, Operation, Outcome, Subject, SubjectKind, Surroundings};
use crate::component::{Artifact, Bare, COMPONENT, InstanceLimits, Pool, Unusable, default_folder};
use crate::{Fault, Gate, GateError, VirtualHost};
use functions::Functions;

/// The component that this crate carries, in wasmtime. What ends an instance is a denial, as for every
/// [`Gate`](crate::Gate).
pub struct ComponentSubject {
    artifact: Artifact,
    /// The same, for operations whose fuel is limited.
    burning: Artifact,
}

impl ComponentSubject {
    /// Compiles the component, or finds it compiled where gates keep theirs.
    ///
    /// # Errors
    /// When this machine cannot run it.
    pub fn new() -> Result<Self, Unusable> {
        let folder = default_folder();
        Ok(Self {
            artifact: Artifact::new(COMPONENT, false, folder.as_deref())?,
            burning: Artifact::new(COMPONENT, true, folder.as_deref())?,
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
            Need::IgnorableFolding | Need::Windows | Need::Free => false,
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        let (host, reentrant) = match place(&batch.surroundings) {
            Ok(place) => place,
            Err(message) => {
                let fault = Outcome::Fault(message);
                return batch.operations.iter().map(|_| fault.clone()).collect();
            }
        };
        let mut session = Session {
            subject: self,
            host,
            reentrant,
            parts: batch.engine.clone(),
            fuel: None,
            gate: Err(Unbuilt::from("no engine was asked for".to_owned())),
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

type SharedHost = Arc<dyn Host + Send + Sync>;

/// The host, and the call that it makes whenever it is asked for a real path.
fn place(surroundings: &Surroundings) -> Result<(SharedHost, Option<String>), String> {
    match surroundings {
        Surroundings::World(world) => {
            let host = VirtualHost::from_world(world).map_err(refusal)?;
            let reentrant = host.reentrant_request().map(Value::to_string);
            Ok((Arc::new(host), reentrant))
        }
        Surroundings::Recording(recording) => {
            let recording = Recording::deserialize(recording).map_err(refusal)?;
            Ok((Arc::new(recording), None))
        }
    }
}

/// Why an operation has no answer, when nothing is broken.
type Refusal = String;

/// Why there is no gate.
struct Unbuilt {
    message: String,
    faults: Vec<Fault>,
}

impl From<String> for Unbuilt {
    fn from(message: String) -> Self {
        Self {
            message,
            faults: Vec::new(),
        }
    }
}

impl From<GateError> for Unbuilt {
    fn from(error: GateError) -> Self {
        let message = error.to_string();
        match error {
            GateError::Refused(faults) => Self { message, faults },
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
        let (artifact, limits) = match self.fuel {
            None => (&self.subject.artifact, InstanceLimits::default()),
            Some(_) => (
                &self.subject.burning,
                InstanceLimits {
                    fuel: self.fuel,
                    ..InstanceLimits::default()
                },
            ),
        };
        let mut builder = Gate::builder()
            .host(host)
            .artifact(artifact.clone())
            .limits(limits);
        for (name, text) in parts.iter() {
            let part = Part::from_key(name).ok_or_else(|| format!("an engine has no part `{name}`"))?;
            builder = builder.part(part, text);
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
                let gated = self.gate()?.gate(request, container_workspace_dir.as_deref());
                value(&gated.map_err(refusal)?)
            }
            Operation::Explain { request } => self.gate()?.explain(request).map_err(refusal),
            Operation::GetAnnotation { server, tool, args } => {
                let roles = self.pool()?.annotation(&call(server, tool, args))?;
                Ok(roles.map_or(Value::Null, |roles| json!({"args": roles})))
            }
            Operation::PrepareToolArgs {
                server,
                tool,
                args,
                allowed_directory,
                container_workspace_dir,
            } => {
                let call = call(server, tool, args);
                let (allowed, container) = (allowed_directory.as_deref(), container_workspace_dir.as_deref());
                let (transport, policy) = self.pool()?.prepare(&call, allowed, container)?;
                let parsed = |text: &str| serde_json::from_str::<Value>(text).map_err(refusal);
                Ok(json!({"argsForTransport": parsed(&transport)?, "argsForPolicy": parsed(&policy)?}))
            }
            Operation::Semantics { server, tool } => self.pool()?.semantics(server, tool),
            Operation::Diagnostics => {
                let warnings = self.gate()?.warnings().iter();
                Ok(warnings.map(|fault| fault.diagnostic.to_string()).collect())
            }
            Operation::World(question) => world::answer(self, question),
            Operation::Function { name, args } => self.functions()?.call(name, args),
            Operation::Whitelist(script) => self.functions()?.whitelist(script),
            Operation::EvaluateJs { .. } => Err("no JavaScript runs here".to_owned()),
            Operation::Free => Err("a gate is not freed by hand".to_owned()),
        }
    }

    fn gate(&self) -> Result<&Gate, Refusal> {
        self.gate.as_deref().map_err(|unbuilt| unbuilt.message.clone())
    }

    fn pool(&self) -> Result<&Pool, Refusal> {
        let pool = self.gate()?.pool();
        pool.ok_or_else(|| "the engine is no component".to_owned())
    }

    fn functions(&self) -> Result<Functions, Refusal> {
        let bare = Bare::new(self.subject.artifact.clone(), Arc::clone(&self.host));
        bare.map(Functions).map_err(refusal)
    }

    fn evaluate(&self, request: &str, times: u32) -> Result<Value, Refusal> {
        let gate = self.gate()?;
        let first = value(&gate.evaluate(request).map_err(refusal)?)?;
        for _ in 1..times {
            let again = value(&gate.evaluate(request).map_err(refusal)?)?;
            if again != first {
                return Ok(again);
            }
        }
        Ok(first)
    }
}

fn call(server: &str, tool: &str, args: &str) -> String {
    format!(
        r#"{{"serverName":{},"toolName":{},"arguments":{args}}}"#,
        Value::from(server),
        Value::from(tool)
    )
}

/// The host, which has the gate judge another call whenever it is asked for a real path.
fn calling_back(host: &SharedHost, call: &str, judge: &Arc<OnceLock<Weak<Gate>>>) -> SharedHost {
    thread_local! {
        static INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    let (call, judge) = (call.to_owned(), Arc::clone(judge));
    let first = move || {
        // The inner call asks for real paths too.
        if let Some(gate) = judge.get().and_then(Weak::upgrade)
            && !INSIDE.replace(true)
        {
            drop(gate.evaluate(&call));
            INSIDE.set(false);
        }
    };
    Arc::new(Reentrant::new(Arc::clone(host), first))
}
