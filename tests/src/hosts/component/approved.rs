//! Calls with approvals, judged by the engine as a component.

use callgate_engine::approval::Approvals;
use callgate_host::{Audience, CallText, Gate, Request};
use serde_json::{Value, json};

use super::super::session::{Refusal, refusal, value};
use super::world::gated;
use crate::subject::{ApprovedCall, ApprovedQuestion};

pub(super) fn answer(asked: &ApprovedCall, gate: &Gate) -> Result<Value, Refusal> {
    let container = asked.container_workspace_dir.as_deref();
    let mut approvals = match &asked.approvals {
        Some(text) => Approvals::from_json(text).map_err(refusal)?,
        None => Approvals::default(),
    };
    if let Some(text) = &asked.offered_for {
        let offer = gate
            .offer(&Request::gate(read(text, asked)).in_container(container))
            .map_err(refusal)?;
        if let Some(offer) = offer {
            approvals.add(&offer).map_err(refusal)?;
        }
    }
    let call = read(&asked.request, asked);
    let request = match asked.ask {
        ApprovedQuestion::Gate | ApprovedQuestion::ExplainGate | ApprovedQuestion::Offer => {
            Request::gate(call).in_container(container)
        }
        ApprovedQuestion::Evaluate => Request::prepared(call),
    };
    // An explanation says of a call that escalates whether approvals were looked at.
    let request = match asked.ask {
        ApprovedQuestion::ExplainGate if approvals.list().is_empty() => request,
        _ => request.approved(&approvals, asked.now()?),
    };
    let judge = |request: &Request<'_>| gate.judge(request).map_err(refusal);
    match asked.ask {
        ApprovedQuestion::Offer => value(&gate.offer(&request).map_err(refusal)?),
        ApprovedQuestion::Gate => {
            let mut answer = gated(judge(&request)?)?;
            answer["explanation"] = json!(judge(&request.explained(Audience::Agent))?.explanation);
            Ok(answer)
        }
        ApprovedQuestion::Evaluate | ApprovedQuestion::ExplainGate => Ok(json!({
            "verdict": judge(&request)?.verdict,
            "explanation": judge(&request.explained(Audience::Operator))?.explanation,
        })),
    }
}

fn read<'c>(text: &'c str, asked: &'c ApprovedCall) -> CallText<'c> {
    let call = CallText::from(text);
    match &asked.context {
        Some(context) => call.within(context),
        None => call,
    }
}
