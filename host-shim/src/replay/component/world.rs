//! What the engine as a component says about its world.

use serde_json::{Value, json};

use super::{Refusal, Session, refusal, value};
use crate::component::{Audience, Enforced};
use crate::gate::Given;
use crate::replay::WorldQuestion;

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
        } => session
            .pool()?
            .resolve(address, *require_exists, context.as_deref()),
        WorldQuestion::Enforce {
            mode,
            tool,
            command,
            root,
            subdirectory,
            address,
            context,
        } => {
            let operation = Enforced {
                mode: mode.clone(),
                tool: tool.clone(),
                command: command.clone(),
                root: root.clone(),
                subdirectory: subdirectory.clone(),
                address: address.clone(),
            };
            session.pool()?.enforce(&operation, context.as_deref())
        }
        WorldQuestion::Gate { request, context } => {
            let gate = session.gate()?;
            let given = given(request, context.as_deref());
            let gated = gate.gate(given, None).map_err(refusal)?;
            let explained = session.pool()?.explain_gate(given, None, Audience::Agent);
            let explained = explained.map_err(refusal)?.map_err(refusal)?;
            let mut answer = value(&gated)?;
            answer["explanation"] = explained;
            Ok(answer)
        }
        WorldQuestion::Evaluate { request, context } => {
            let gate = session.gate()?;
            let given = given(request, context.as_deref());
            let verdict = value(&gate.evaluate(given).map_err(refusal)?)?;
            let explained = gate.explain(given).map_err(refusal)?;
            Ok(json!({"verdict": verdict, "explanation": explained}))
        }
        WorldQuestion::References { steps } => session.pool()?.references(steps),
    }
}

fn given<'c>(request: &'c str, context: Option<&'c str>) -> Given<'c> {
    let given = Given::from(request);
    context.map_or(given, |context| given.within(context))
}
