//! Questions about the world of the engine as a component.

use callgate_engine::engine::{Existence, Operation};
use callgate_host::{Audience, CallText, References, Request, Resolution, Response};
use serde_json::{Value, json};

use super::super::session::{Refusal, places, refusal, value};
use super::Session;
use crate::subject::{ReferenceStep, WorldQuestion};

pub(super) fn answer(session: &Session<'_>, question: &WorldQuestion) -> Result<Value, Refusal> {
    match question {
        WorldQuestion::Diagnostics => Ok(match &session.gate {
            Ok(gate) => places(gate.warnings().iter().map(|fault| &fault.diagnostic)),
            Err(unbuilt) => places(&unbuilt.diagnostics),
        }),
        WorldQuestion::Resolve {
            address,
            require_exists,
            context,
        } => {
            let mut table = session.gate()?.references().map_err(refusal)?;
            let existence = if *require_exists {
                Existence::Required
            } else {
                Existence::NotRequired
            };
            let found = table.resolve(address, existence, context.as_deref());
            let Resolution { reply, reference } = found.map_err(refusal)?;
            let path = match reference {
                Some(reference) => table.host_path(reference).map_err(refusal)?,
                None => None,
            };
            Ok(json!({"reply": reply, "hostPath": path}))
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
            let gate = session.gate()?;
            let reply = gate.enforce(mode.as_deref(), &operation, context.as_deref());
            value(&reply.map_err(refusal)?)
        }
        WorldQuestion::Gate { request, context } => {
            let request = Request::gate(call(request, context.as_deref()));
            let response = session.gate()?.judge(&request.explained(Audience::Agent));
            let mut response = response.map_err(refusal)?;
            let explanation = response.explanation.take();
            let mut answer = gated(response)?;
            answer["explanation"] = json!(explanation);
            Ok(answer)
        }
        WorldQuestion::Evaluate { request, context } => {
            let gate = session.gate()?;
            let call = call(request, context.as_deref());
            let verdict = value(&gate.evaluate(call).map_err(refusal)?)?;
            let explained = gate.explain(call).map_err(refusal)?;
            Ok(json!({"verdict": verdict, "explanation": explained}))
        }
        WorldQuestion::References { steps } => {
            let mut table = session.gate()?.references().map_err(refusal)?;
            let mut given = Vec::new();
            let answers = steps.iter().map(|step| take(step, &mut table, &mut given));
            answers.collect()
        }
    }
}

/// `{verdict, argsForTransport}`.
pub(super) fn gated(response: Response) -> Result<Value, Refusal> {
    let arguments = response.arguments.as_deref();
    let arguments: Option<Value> = arguments.map(serde_json::from_str).transpose().map_err(refusal)?;
    Ok(json!({"verdict": response.verdict, "argsForTransport": arguments}))
}

fn call<'c>(request: &'c str, context: Option<&'c str>) -> CallText<'c> {
    let call = CallText::from(request);
    context.map_or(call, |context| call.within(context))
}

fn take(step: &ReferenceStep, table: &mut References, given: &mut Vec<u64>) -> Result<Value, Refusal> {
    Ok(match step {
        ReferenceStep::Resolve(address, mode) => {
            let context = json!({"mode": mode}).to_string();
            let found = table.resolve(address, Existence::Required, Some(&context));
            let Resolution { reply, reference } = found.map_err(refusal)?;
            given.extend(reference);
            json!(reply.code)
        }
        ReferenceStep::HostPath(at) => match given.get(*at) {
            Some(number) => json!(table.host_path(*number).map_err(refusal)?),
            None => Value::Null,
        },
        ReferenceStep::Revoke(at) => match given.get(*at) {
            Some(number) => json!(table.revoke(*number).map_err(refusal)?),
            None => json!(false),
        },
        ReferenceStep::RevokeAll => {
            table.revoke_all().map_err(refusal)?;
            Value::Null
        }
    })
}
