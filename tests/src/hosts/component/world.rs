//! What the engine as a component says about its world.

use callgate_host::{Given, testing};
use serde_json::{Value, json};

use super::{Refusal, Session, refusal, value};
use crate::subject::{ReferenceStep, WorldQuestion};

pub(super) fn answer(session: &Session<'_>, question: &WorldQuestion) -> Result<Value, Refusal> {
    match question {
        WorldQuestion::Diagnostics => {
            let faults = match &session.gate {
                Ok(gate) => gate.warnings(),
                Err(unbuilt) => &unbuilt.faults,
            };
            let found = faults.iter().map(|fault| &fault.diagnostic);
            Ok(found
                .map(|one| json!({"code": one.code, "severity": one.severity, "path": one.path}))
                .collect())
        }
        WorldQuestion::Resolve {
            address,
            require_exists,
            context,
        } => testing::resolve(session.gate()?, address, *require_exists, context.as_deref()),
        WorldQuestion::Enforce {
            mode,
            tool,
            command,
            root,
            subdirectory,
            address,
            context,
        } => {
            let operation = testing::Operation {
                tool: tool.clone(),
                command: command.clone(),
                root: root.clone(),
                subdirectory: subdirectory.clone(),
                address: address.clone(),
            };
            testing::enforce(session.gate()?, mode.clone(), operation, context.as_deref())
        }
        WorldQuestion::Gate { request, context } => {
            let gate = session.gate()?;
            let given = given(request, context.as_deref());
            let gated = gate.gate(given, None).map_err(refusal)?;
            let mut answer = value(&gated)?;
            answer["explanation"] = testing::explain_to_agent(gate, given)?;
            Ok(answer)
        }
        WorldQuestion::Evaluate { request, context } => {
            let gate = session.gate()?;
            let given = given(request, context.as_deref());
            let verdict = value(&gate.evaluate(given).map_err(refusal)?)?;
            let explained = gate.explain(given).map_err(refusal)?;
            Ok(json!({"verdict": verdict, "explanation": explained}))
        }
        WorldQuestion::References { steps } => {
            let steps: Vec<testing::ReferenceStep> = steps.iter().map(step).collect();
            testing::references(session.gate()?, &steps)
        }
    }
}

fn given<'c>(request: &'c str, context: Option<&'c str>) -> Given<'c> {
    let given = Given::from(request);
    context.map_or(given, |context| given.within(context))
}

fn step(step: &ReferenceStep) -> testing::ReferenceStep {
    match step {
        ReferenceStep::Resolve(address, mode) => {
            testing::ReferenceStep::Resolve(address.clone(), mode.clone())
        }
        ReferenceStep::HostPath(at) => testing::ReferenceStep::HostPath(*at),
        ReferenceStep::Revoke(at) => testing::ReferenceStep::Revoke(*at),
        ReferenceStep::RevokeAll => testing::ReferenceStep::RevokeAll,
    }
}
