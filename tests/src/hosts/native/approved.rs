//! Calls with approvals, judged by the engine as a Rust library.

use callgate_engine::approval::Approvals;
use callgate_engine::bind::Call;
use callgate_engine::engine::{Audience, Engine, Request};
use callgate_engine::host::Host;
use serde_json::{Value, json};

use super::super::session::{Refusal, refusal, value};
use super::transported;
use crate::subject::{ApprovedCall, ApprovedQuestion};

pub(super) fn answer(asked: &ApprovedCall, engine: &Engine, host: &dyn Host) -> Result<Value, Refusal> {
    let container = asked.container_workspace_dir.as_deref();
    let mut approvals = match &asked.approvals {
        Some(text) => Approvals::from_json(text).map_err(refusal)?,
        None => Approvals::default(),
    };
    if let Some(text) = &asked.offered_for {
        let other = read(text, asked)?;
        if let Some(offer) = engine.offer(&Request::gate(&other).in_container(container), host) {
            approvals.add(&offer).map_err(refusal)?;
        }
    }
    let call = read(&asked.request, asked)?;
    let request = match asked.ask {
        ApprovedQuestion::Gate | ApprovedQuestion::ExplainGate | ApprovedQuestion::Offer => {
            Request::gate(&call).in_container(container)
        }
        ApprovedQuestion::Evaluate => Request::prepared(&call),
    };
    // An explanation says of a call that escalates whether approvals were looked at.
    let request = match asked.ask {
        ApprovedQuestion::ExplainGate if approvals.list().is_empty() => request,
        _ => request.approved(&approvals, asked.now()?),
    };
    let judge = |audience| engine.judge(&request.explained(audience), host);
    match asked.ask {
        ApprovedQuestion::Offer => value(&engine.offer(&request, host)),
        ApprovedQuestion::Gate => {
            let gated = engine.judge(&request, host);
            Ok(json!({
                "verdict": gated.verdict,
                "argsForTransport": transported(&asked.request, &gated)?,
                "explanation": judge(Audience::Agent).explanation,
            }))
        }
        ApprovedQuestion::Evaluate | ApprovedQuestion::ExplainGate => Ok(json!({
            "verdict": engine.judge(&request, host).verdict,
            "explanation": judge(Audience::Operator).explanation,
        })),
    }
}

fn read<'c>(text: &'c str, asked: &ApprovedCall) -> Result<Call<'c>, Refusal> {
    let call = Call::from_json(text).map_err(refusal)?;
    match &asked.context {
        Some(context) => call.within_json(context).map_err(refusal),
        None => Ok(call),
    }
}
