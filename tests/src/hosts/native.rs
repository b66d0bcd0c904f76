//! The engine as a Rust library, under test.

mod approved;
mod functions;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_engine::bind::{Arguments, Call, View};
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{BuildError, Engine, Request, Response};
use callgate_engine::host::Host;
use serde_json::{Value, json};

use super::batch_host::BatchHost;
use super::session::{Refusal, Unbuilt, documents, refusal, repeated, value, worded};
use crate::Explain;
use crate::doubles::{Honest, WithRealpath};
use crate::subject::{Batch, EngineParts, Need, Operation, Outcome, Subject, SubjectKind};

/// callgate-core in this process. A panic is an [`Outcome::Fault`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeSubject;

impl Subject for NativeSubject {
    fn name(&self) -> &str {
        "native"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Native
    }

    fn offers(&self, need: Need) -> bool {
        match need {
            Need::CaseInsensitive
            | Need::NormalizationInsensitive
            | Need::GitUrl
            | Need::GitDefaultRemote
            | Need::GitPush
            | Need::Script
            | Need::Functions => true,
            Need::IgnorableFolding | Need::Windows | Need::Free | Need::Fuel => false,
        }
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        let place = match BatchHost::of(&batch.surroundings) {
            Ok(place) => place,
            Err(message) => return batch.faults(&message),
        };
        let mut session = Session {
            place,
            engine: Err(Unbuilt::not_asked()),
        };
        if let Some(parts) = &batch.engine {
            session.build(parts);
        }
        batch
            .operations
            .iter()
            .map(|operation| session.guarded(operation))
            .collect()
    }
}

/// One batch's host and engine.
struct Session {
    place: BatchHost,
    engine: Result<Engine, Unbuilt>,
}

impl From<BuildError> for Unbuilt {
    fn from(error: BuildError) -> Self {
        Self {
            message: error.to_string(),
            diagnostics: error.diagnostics,
        }
    }
}

impl Session {
    fn build(&mut self, parts: &EngineParts) {
        let host = self.place.host.as_ref();
        let built = catch_unwind(AssertUnwindSafe(|| build(parts, host)));
        self.engine = built.unwrap_or_else(|_| Err(Unbuilt::from("building the engine panicked".to_owned())));
    }

    fn guarded(&mut self, operation: &Operation) -> Outcome {
        match catch_unwind(AssertUnwindSafe(|| self.answer(operation))) {
            Ok(Ok(value)) => Outcome::Answer(value),
            Ok(Err(refusal)) => Outcome::Refused(refusal),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied());
                Outcome::Fault(format!("panic: {}", text.unwrap_or("without words")))
            }
        }
    }

    fn answer(&mut self, operation: &Operation) -> Result<Value, Refusal> {
        match operation {
            Operation::Construct => self.engine().map(|_| Value::Null),
            Operation::Replace { engine } => {
                self.build(engine);
                self.engine().map(|_| Value::Null)
            }
            Operation::Evaluate { request, times } => self.evaluate(request, *times),
            Operation::EvaluateText { text } => self.evaluate(text, 1),
            Operation::Gate {
                request,
                container_workspace_dir,
            } => {
                let engine = self.engine()?;
                let call = Call::from_json(request).map_err(refusal)?;
                let host = self.calling_back(engine);
                let gated = engine.judge(
                    &Request::gate(&call).in_container(container_workspace_dir.as_deref()),
                    &host,
                );
                let transport = transported(request, &gated)?;
                Ok(json!({"verdict": gated.verdict, "argsForTransport": transport}))
            }
            Operation::Explain { request } => {
                let engine = self.engine()?;
                let call = Call::from_json(request).map_err(refusal)?;
                value(&engine.explain(&call, self.place.host.as_ref()))
            }
            Operation::Semantics { server, tool } => {
                let semantics = self.engine()?.semantics(server, tool);
                semantics.map_or(Ok(Value::Null), |semantics| value(&semantics.described()))
            }
            Operation::Diagnostics => {
                let warnings = self.engine()?.warnings().iter();
                Ok(warnings.map(worded).collect())
            }
            Operation::GetAnnotation { server, tool, args } => {
                let call = Call::new(server.as_str(), tool.as_str(), Arguments::from_json(args));
                let resolved = self.engine()?.annotation(&call);
                Ok(resolved.map_or(Value::Null, |arguments| {
                    let arguments: serde_json::Map<String, Value> = arguments
                        .into_iter()
                        .map(|(name, roles)| (name, json!(roles)))
                        .collect();
                    json!({"args": arguments})
                }))
            }
            Operation::PrepareToolArgs {
                server,
                tool,
                args,
                allowed_directory,
                container_workspace_dir,
            } => {
                let (allowed, container) = (allowed_directory.as_deref(), container_workspace_dir.as_deref());
                let host = self.place.host.as_ref();
                let call = Call::new(server.as_str(), tool.as_str(), Arguments::from_json(args));
                let prepared = self
                    .engine()?
                    .prepare(&call, allowed, container, host)
                    .map_err(refusal)?;
                let seen = |view| {
                    let text = prepared.apply_to_json(args, view);
                    let read = serde_json::from_str::<Value>(text.as_deref().unwrap_or(args));
                    read.map_err(refusal)
                };
                Ok(json!({
                    "argsForTransport": seen(View::Transport)?,
                    "argsForPolicy": seen(View::Policy)?,
                }))
            }
            Operation::World(question) => {
                world::answer(question, self.engine.as_ref(), self.place.host.as_ref())
            }
            Operation::Approved(call) => approved::answer(call, self.engine()?, self.place.host.as_ref()),
            Operation::Function { name, args } => functions::call(name, args, self.place.host.as_ref()),
            Operation::Whitelist(script) => functions::whitelist(script, self.place.host.as_ref()),
            Operation::EvaluateJs { .. } => Err("no JavaScript runs here".to_owned()),
            Operation::Free => Err("a Rust engine is not freed by hand".to_owned()),
            Operation::Fuel { .. } => Err("a Rust engine burns no fuel".to_owned()),
        }
    }

    fn engine(&self) -> Result<&Engine, Refusal> {
        self.engine.as_ref().map_err(|unbuilt| unbuilt.message.clone())
    }

    /// The host. Whenever it is asked for a real path, it has the engine evaluate the reentrant call.
    fn calling_back<'s>(&'s self, engine: &'s Engine) -> impl Host {
        let host = self.place.host.as_ref();
        let call = self.place.reentrant.as_ref().map(|request| {
            let text = |key: &str| request[key].as_str().unwrap_or_default();
            Call::from_value(text("serverName"), text("toolName"), &request["arguments"])
        });
        WithRealpath::new(host, move |_: &str, honest: Honest<'_>| {
            if let Some(call) = &call {
                drop(engine.evaluate(call, host));
            }
            honest()
        })
    }

    fn evaluate(&self, request: &str, times: u32) -> Result<Value, Refusal> {
        let engine = self.engine()?;
        let call = Call::from_json(request).map_err(refusal)?;
        let host = self.calling_back(engine);
        repeated(times, || value(&engine.evaluate(&call, &host)))
    }
}

fn build(parts: &EngineParts, host: &dyn Host) -> Result<Engine, Unbuilt> {
    let mut builder = Engine::builder();
    for (kind, text) in documents(parts)? {
        builder = builder.part(kind, DocumentSource::Text(text));
    }
    Ok(builder.build(host)?)
}

/// The arguments that a gate would forward. Arguments that are not an object stay as they are.
pub(super) fn transported(request: &str, response: &Response<'_, '_>) -> Result<Value, Refusal> {
    if let Some(text) = response.arguments() {
        return serde_json::from_str(&text).map_err(refusal);
    }
    let mut request: Value = serde_json::from_str(request).map_err(refusal)?;
    Ok(request["arguments"].take())
}
