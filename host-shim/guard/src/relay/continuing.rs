//! Calls that a person approved, and for which the server wants more from its client before it answers.

use callgate_engine::judge::Decision;
use callgate_jsontext::Members;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Delivery, Judgement, Relay, approved};
use crate::asking::{Approved, Continuation};
use crate::message::{Message, Request, ToolCall, check_names, text_of};
use crate::reply;
use crate::tools::write_with;

/// The members of a call's params with which a client of the modern era answers.
pub(super) const STATE: &str = "requestState";
pub(super) const ANSWERS: &str = "inputResponses";

/// Bytes of the longest state of a server that is kept.
const LONGEST_STATE: usize = 1024 * 1024;

impl Relay {
    /// Continues an approved call that the server asked its client about, and that comes again with the client's answer.
    pub(super) fn continued(
        &mut self,
        request: &Request<'_>,
        call: &ToolCall<'_>,
        mut judgement: Judgement,
        Continuation {
            approved: given,
            state,
        }: Continuation,
    ) -> Delivery {
        let answers = call.params.get(ANSWERS).map(|answers| answers.get().to_owned());
        let message = as_server_sees_it(request, call, &[state, answers]);
        // It was read before.
        let again = match Message::read(&message) {
            Ok(Message::Request(again)) => ToolCall::read(&again).ok().map(|call| (again, call)),
            Ok(Message::Notification { .. } | Message::Response { .. }) | Err(_) => None,
        };
        let Some((request, call)) = again else {
            return self.refuse(
                Some(&request.id.json),
                reply::INTERNAL_ERROR,
                "the call cannot be read again",
            );
        };
        if let Decision::Escalate(_) = judgement.response.verdict.decision {
            judgement.response.verdict = approved(
                "A person approved this call, and the server asked for more",
                &given.question,
            );
            judgement.approved = Some(given);
        }
        let next = self.decided(&message, &request, &call, judgement);
        self.follow(next, message)
    }

    /// Remembers an approved call that the server does not finish before its client has answered it. Gives the answer with the
    /// state by which the client is known again.
    pub(super) fn remember_unfinished(&self, approved: Approved, answer: &Members<'_>) -> Option<String> {
        let result: Members<'_> = serde_json::from_str(answer.get("result")?.get()).ok()?;
        check_names(&result, &["resultType", STATE]).ok()?;
        // Other results that are not complete ask for nothing: the call is the server's from then on.
        if text_of(result.get("resultType"))? != "input_required" {
            return None;
        }
        let state = match result.get(STATE) {
            Some(state) if state.get().len() <= LONGEST_STATE => {
                Some(text_of(Some(state)).map(|_| state.get().to_owned())?)
            }
            // A person is asked again.
            Some(_) => return None,
            None => None,
        };
        let asked = self.guard.asked.as_ref()?;
        let state = asked.remember_unfinished(&self.guard.server, Continuation { approved, state })?;
        let result = write_with(&result, STATE, &Value::String(state).to_string());
        Some(write_with(answer, "result", &result))
    }
}

/// The request without what is between the guard and the client, and with what is between the server and the client.
pub(super) fn as_server_sees_it(
    request: &Request<'_>,
    call: &ToolCall<'_>,
    of_server: &[Option<String>; 2],
) -> String {
    let mut params = Members(Vec::with_capacity(call.params.0.len()));
    for (name, value) in &call.params.0 {
        if ![STATE, ANSWERS].contains(&name.as_str()) {
            params.0.push((name.clone(), value));
        }
    }
    for (name, value) in [STATE, ANSWERS].into_iter().zip(of_server) {
        let value: Option<&RawValue> = value.as_deref().and_then(|text| serde_json::from_str(text).ok());
        params.0.extend(value.map(|value| (name.to_owned(), value)));
    }
    write_with(&request.members, "params", &written(&params))
}

fn written(members: &Members<'_>) -> String {
    let mut text = String::new();
    members.write(&mut text);
    text
}
