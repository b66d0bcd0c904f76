//! Questions about the world of the engine as a Rust library.

use callgate_engine::bind::Call;
use callgate_engine::engine::{Engine, Existence, Operation, Places};
use callgate_engine::host::Host;
use callgate_engine::world::{Context, References, VisibilityRef};
use serde_json::{Value, json};

use super::super::session::{Refusal, Unbuilt, places as places_of, refusal, value};
use super::transported;
use crate::Explain;
use crate::subject::{ReferenceStep, WorldQuestion};

pub(super) fn answer(
    question: &WorldQuestion,
    engine: Result<&Engine, &Unbuilt>,
    host: &dyn Host,
) -> Result<Value, Refusal> {
    if let WorldQuestion::Diagnostics = question {
        return Ok(places_of(match engine {
            Ok(engine) => engine.warnings(),
            Err(unbuilt) => &unbuilt.diagnostics,
        }));
    }
    let engine = engine.map_err(|unbuilt| unbuilt.message.clone())?;
    let places = || engine.places().ok_or("the engine has no world");
    match question {
        WorldQuestion::Resolve {
            address,
            require_exists,
            context,
        } => {
            let places = places()?;
            let mut references = places.references();
            let existence = if *require_exists {
                Existence::Required
            } else {
                Existence::NotRequired
            };
            let context = read(context.as_deref())?;
            let (reply, reference) = places.resolve(address, existence, &context, &mut references, host);
            let path = reference.and_then(|one| references.host_path(&one).map(str::to_owned));
            Ok(json!({"reply": value(&reply)?, "hostPath": path}))
        }
        WorldQuestion::Enforce {
            mode,
            tool,
            command,
            root,
            subdirectory,
            address,
            context,
        } => {
            let operation = Operation {
                tool,
                command,
                root,
                subdirectory: subdirectory.as_deref(),
                address: address.as_deref(),
            };
            let context = read(context.as_deref())?;
            value(&places()?.enforce(mode.as_deref(), &operation, &context, host))
        }
        WorldQuestion::Gate { request, context } => {
            let mut call = Call::from_json(request).map_err(refusal)?;
            if context.is_some() {
                call = call.within(read(context.as_deref())?);
            }
            let gated = engine.gate(&call, host);
            Ok(json!({
                "verdict": gated.verdict,
                "argsForTransport": transported(request, &gated)?,
                "explanation": engine.explain_gate(&call, host).for_agent(),
            }))
        }
        WorldQuestion::Evaluate { request, context } => {
            let call = Call::from_json(request).map_err(refusal)?;
            let call = call.within(read(context.as_deref())?);
            Ok(json!({"verdict": engine.evaluate(&call, host), "explanation": engine.explain(&call, host)}))
        }
        WorldQuestion::References { steps } => {
            let places = places()?;
            let mut table = Table {
                references: places.references(),
                given: Vec::new(),
            };
            Ok(steps.iter().map(|step| table.step(step, &places, host)).collect())
        }
        WorldQuestion::Diagnostics => Ok(Value::Null),
    }
}

struct Table {
    references: References,
    given: Vec<VisibilityRef>,
}

impl Table {
    fn step(&mut self, step: &ReferenceStep, places: &Places<'_>, host: &dyn Host) -> Value {
        match step {
            ReferenceStep::Resolve(address, mode) => {
                let context = Context::from_value(&json!({"mode": mode}));
                let table = &mut self.references;
                let (reply, reference) = places.resolve(address, Existence::Required, &context, table, host);
                self.given.extend(reference);
                json!(reply.code)
            }
            ReferenceStep::HostPath(at) => {
                let path = self.given.get(*at).and_then(|one| self.references.host_path(one));
                json!(path)
            }
            ReferenceStep::Revoke(at) => {
                let revoked = self.given.get(*at).is_some_and(|one| self.references.revoke(one));
                json!(revoked)
            }
            ReferenceStep::RevokeAll => {
                self.references.revoke_all();
                Value::Null
            }
        }
    }
}

fn read(context: Option<&str>) -> Result<Context, Refusal> {
    context.map_or_else(|| Ok(Context::default()), Context::from_json)
}
