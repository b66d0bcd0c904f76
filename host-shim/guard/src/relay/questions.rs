//! Calls that a person is asked about, from the question to what becomes of them.

use callgate_engine::judge::StructuralRule;
use std::sync::Arc;

use callgate_engine::approval::{Approvals, Offer};
use callgate_engine::judge::Decision;
use callgate_jsontext::Members;
use callgate_jsontext::push_string;
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::continuing::{ANSWERS, STATE, as_server_sees_it};
use super::{Delivery, Disposition, Judgement, Relay, approved, denied};
use crate::asking::{
    self, Approved, CallBinding, CallSummary, OpenQuestion, QUESTION, Questioner, ReturningCall, touched,
};
use crate::digest::digest;
use crate::message::{Id, Message, Request, ToolCall, text_of};
use crate::queue::{Answer, Answerer, Question};
use crate::record::{Outcome, Record};
use crate::reply::{self, Era, revision_of};

/// Calls that wait for a person, and how the client of this relay is asked.
#[derive(Default)]
pub(super) struct Questions {
    /// They have not been sent.
    pending: Vec<Pending>,
    /// The client has said in `initialize` that it has forms.
    has_forms: bool,
    /// Approved until the session ends; `None` for a request that belongs to no session.
    approved: Option<Approvals>,
    /// The name of a client with a session.
    client: Option<String>,
    /// The beginning of the ids of the guard's own requests, and the number of the last. No server knows it.
    prefix: String,
    count: u64,
}

/// A call that waits.
struct Pending {
    open: OpenQuestion,
    /// The whole message, which is read and judged again when there is an answer.
    message: String,
    id: Id,
    era: Era,
    rule: String,
    /// The digest of the arguments that the person was shown.
    arguments: String,
    /// The id of the request that has the client show a form, while it has not answered that.
    form: Option<Id>,
}

impl Questions {
    pub(super) fn new(asked: Option<&Questioner>, session: &str, has_session: bool) -> Self {
        let prefix = asked.map(|asked| format!("callgate-{}-", asked.secret(session)));
        Self {
            prefix: prefix.unwrap_or_default(),
            approved: has_session.then(Approvals::default),
            client: asked.filter(|_| has_session).map(Questioner::next_client),
            ..Self::default()
        }
    }

    /// Approved for the session.
    pub(super) fn approved(&self) -> Option<&Approvals> {
        self.approved.as_ref()
    }

    fn approve(&mut self, question: &Question) {
        if let (Some(approved), Some(offer)) = (&mut self.approved, &question.offer) {
            let offer = Offer {
                created_at: Some(Timestamp::now().to_string()),
                source_escalation_id: Some(question.id.clone()),
                original_reason: Some(question.reason.clone()),
                ..offer.clone()
            };
            // A call whose approval cannot be added is asked about again.
            let _ = approved.add(&offer);
        }
    }

    /// Returns `true` if the id of a request or an answer is one of the guard's own.
    pub(super) fn owns(&self, id: &Id) -> bool {
        !self.prefix.is_empty() && id.text.starts_with(&self.prefix)
    }

    /// Notes what the client says in `initialize`.
    pub(super) fn initialized(&mut self, request: &Request<'_>) {
        let params = request.members.get("params");
        let params: Option<Value> = params.and_then(|params| serde_json::from_str(params.get()).ok());
        self.has_forms = asking::has_forms(params.as_ref().and_then(|params| params.get("capabilities")));
    }

    /// The message of the call that waits since now.
    pub(super) fn keep(&mut self, message: String) {
        if let Some(pending) = self.pending.last_mut() {
            pending.message = message;
        }
    }

    fn form_id(&mut self) -> Id {
        self.count += 1;
        let text = format!("{}{}", self.prefix, self.count);
        let mut json = String::new();
        push_string(&mut json, &text);
        Id { json, text }
    }
}

impl Relay {
    /// Asks a person about a call. If nobody can be asked it is what to tell the model.
    pub(super) fn ask(
        &mut self,
        request: &Request<'_>,
        call: &ToolCall<'_>,
        (question, judgement): (&str, &Judgement),
        era: Era,
    ) -> Result<Disposition, String> {
        let guard = Arc::clone(&self.guard);
        // A proxy waits for nobody.
        let asked = guard.asked.as_ref().filter(|_| !self.is_proxied);
        let (Some(asked), Some(arguments)) = (asked, &judgement.response.arguments) else {
            return Err(". A person has to approve it, and nobody can be asked here.".to_owned());
        };
        let client = self.questions.client.clone().unwrap_or_else(|| client_of(call));
        if !asked.has_room(&client, self.questions.pending.len()) {
            return Err(". A person has to approve it, and too many calls wait for one already.".to_owned());
        }
        let Judgement {
            response,
            offer,
            policy,
            ..
        } = judgement;
        let verdict = &response.verdict;
        let shown = serde_json::from_str(arguments).ok();
        let shown = shown.and_then(|arguments| touched(response.explanation.as_ref(), &arguments));
        let values = shown
            .ok_or(". A person has to approve it, and it has more values than a person can be shown.")?;
        let about = CallSummary {
            id: question,
            server: &guard.server,
            tool: &call.name,
            rule: &verdict.rule,
            reason: &verdict.reason,
            values,
            offer: offer.clone(),
            has_session: self.questions.approved.is_some(),
            request: None,
        };
        let open = asked.ask(about, guard.warn).map_err(|error| {
            guard.warn(&format!("nobody can be asked: {error}"));
            ". A person has to approve it, and nobody can be asked: the question cannot be written."
                .to_owned()
        })?;
        guard.warn(&format!(
            "`{}` waits for a person: `callgate approvals` shows, allows and denies it",
            call.name
        ));
        let form = asked.form(&open.question);
        let arguments = digest(arguments.as_bytes());
        let rule = verdict.rule.clone().into_owned();
        if let (Era::Modern, Some(form)) = (era, form.as_ref().filter(|_| client_has_forms(call))) {
            let bound = CallBinding {
                server: &guard.server,
                tool: &call.name,
                arguments: &arguments,
                policy,
            };
            let of_server =
                [STATE, ANSWERS].map(|name| call.params.get(name).map(|raw| raw.get().to_owned()));
            let returning = ReturningCall {
                rule,
                open,
                client,
                of_server,
            };
            if let Some(result) = asked.input_required(returning, form, bound) {
                return Ok(Disposition::Deliver(Delivery::ToClient(reply::result(
                    &request.id,
                    &result,
                ))));
            }
            return Err(". A person has to approve it, and nobody can be asked here.".to_owned());
        }
        let form = form.filter(|_| era == Era::Handshake && self.questions.has_forms);
        let form = form.map(|form| (self.questions.form_id(), form));
        self.wait_for_person(Pending {
            open,
            // It comes once nothing reads it any more.
            message: String::new(),
            id: request.id.clone(),
            era,
            rule,
            arguments,
            form: form.as_ref().map(|(id, _)| id.clone()),
        });
        Ok(Disposition::Wait(match form {
            Some((id, params)) => Delivery::ToClient(reply::request(&id, "elicitation/create", &params)),
            None => Delivery::Nowhere,
        }))
    }

    fn wait_for_person(&mut self, pending: Pending) {
        self.wait(&pending.id, super::Kind::Call, None);
        self.questions.pending.push(pending);
    }

    /// A call that a client sends again after it has asked.
    pub(super) fn asked_again(
        &mut self,
        message: &str,
        request: &Request<'_>,
        call: &ToolCall<'_>,
        state: &str,
    ) -> Delivery {
        let guard = Arc::clone(&self.guard);
        let judgement = match self.judge(call) {
            Ok(judgement) => judgement,
            Err(reason) => return self.refuse(Some(&request.id.json), reply::INVALID_PARAMS, &reason),
        };
        let arguments = judgement.response.arguments.as_deref().unwrap_or_default();
        let arguments = digest(arguments.as_bytes());
        let bound = CallBinding {
            server: &guard.server,
            tool: &call.name,
            arguments: &arguments,
            policy: &judgement.policy,
        };
        let asked = guard.asked.as_ref();
        if let Some(continuation) = asked.and_then(|asked| asked.continued(state, bound)) {
            return self.continued(request, call, judgement, continuation);
        }
        let returning = asked.and_then(|asked| Some((asked, asked.returned_call(state, bound)?)));
        let Some((asked, returning)) = returning else {
            let reason = "The approval no longer applies: the call or the policy has changed, it was already answered, or it has expired";
            let judgement = Judgement {
                response: callgate_host::Response {
                    verdict: denied(StructuralRule::Approval, reason.to_owned()),
                    ..judgement.response
                },
                ..judgement
            };
            let next = self.decided(message, request, call, judgement);
            return self.follow(next, String::new());
        };
        let ReturningCall {
            rule,
            open,
            of_server,
            ..
        } = returning;
        let said = call.params.get(ANSWERS).and_then(|answers| {
            let answers: Members<'_> = serde_json::from_str(answers.get()).ok()?;
            serde_json::from_str::<Value>(answers.get(QUESTION)?.get()).ok()
        });
        if let Err(error) = asked.form_answered(&open, &said.unwrap_or_default()) {
            guard.warn(&format!("an answer cannot be written: {error}"));
        }
        let pending = Pending {
            open,
            message: as_server_sees_it(request, call, &of_server),
            id: request.id.clone(),
            era: Era::Modern,
            rule,
            arguments,
            form: None,
        };
        match asked.answer_to(&pending.open) {
            Some(answer) => self.settle(pending, answer),
            // It is still in the queue.
            None => {
                self.wait_for_person(pending);
                Delivery::Nowhere
            }
        }
    }

    /// A client's answer to a form.
    pub(super) fn form_answered(&mut self, id: &Id, members: &Members<'_>) -> Delivery {
        let guard = Arc::clone(&self.guard);
        let pending = &mut self.questions.pending;
        let is_its = |pending: &Pending| pending.form.as_ref() == Some(id);
        let (Some(at), Some(asked)) = (pending.iter().position(is_its), &guard.asked) else {
            // Its time is over, or somebody else has answered.
            return Delivery::Nowhere;
        };
        let mut pending = pending.swap_remove(at);
        pending.form = None;
        let result = members.get("result");
        let result: Option<Value> = result.and_then(|result| serde_json::from_str(result.get()).ok());
        if let Err(error) = asked.form_answered(&pending.open, &result.unwrap_or_default()) {
            guard.warn(&format!("an answer cannot be written: {error}"));
        }
        match asked.answer_to(&pending.open) {
            Some(answer) => match self.lists_before(&pending, answer.0) {
                Some(step) => {
                    self.questions.pending.push(pending);
                    step
                }
                None => self.settle(pending, answer),
            },
            None => {
                self.questions.pending.push(pending);
                Delivery::Nowhere
            }
        }
    }

    /// The step before a call that a person allowed is judged again, where the server has to list its tools first.
    fn lists_before(&mut self, pending: &Pending, answer: Answer) -> Option<Delivery> {
        if answer == Answer::Deny {
            return None;
        }
        let Ok(Message::Request(request)) = Message::read(&pending.message) else {
            return None;
        };
        let revision = revision_of(request.members.get("params"));
        self.lists_first(&pending.open.question.tool, revision)
    }

    /// Goes on with the calls for which there is an answer, or no time left.
    pub(super) fn settled(&mut self) -> Vec<Delivery> {
        let guard = Arc::clone(&self.guard);
        let Some(asked) = &guard.asked else {
            return Vec::new();
        };
        asked.forget_late();
        let mut steps = Vec::new();
        for pending in std::mem::take(&mut self.questions.pending) {
            let Some(answer) = asked.answer_to(&pending.open) else {
                self.questions.pending.push(pending);
                continue;
            };
            // The server may have said meanwhile that its tools have changed.
            if let Some(step) = self.lists_before(&pending, answer.0) {
                steps.push(step);
                self.questions.pending.push(pending);
                continue;
            }
            if let Some(form) = &pending.form {
                steps.push(Delivery::ToClient(reply::cancelled(form)));
            }
            steps.push(self.settle(pending, answer));
        }
        steps
    }

    /// Ends the question. A call that is not sent shows nothing of its server.
    fn settle(&mut self, pending: Pending, answer: (Answer, Option<Answerer>)) -> Delivery {
        let id = pending.id.text.clone();
        let step = self.end(pending, answer);
        if matches!(step, Delivery::ToClient(_)) {
            self.openings.remove(&id);
        }
        step
    }

    /// Judges the call again: meanwhile the disk or the policy may have changed.
    fn end(&mut self, pending: Pending, (answer, by): (Answer, Option<Answerer>)) -> Delivery {
        let guard = Arc::clone(&self.guard);
        if let Some(asked) = &guard.asked {
            asked.withdraw(&pending.open);
            if answer == Answer::Session {
                self.questions.approve(&pending.open.question);
            }
        }
        self.waiting.remove(&pending.id.text);
        let refused = |reason: &str| {
            let verdict = denied(StructuralRule::Approval, reason.to_owned());
            Delivery::ToClient(reply::denial(&pending.id, pending.era, &verdict, ""))
        };
        // It was read before.
        let Ok(Message::Request(request)) = Message::read(&pending.message) else {
            return refused("The call cannot be read again");
        };
        let Ok(call) = ToolCall::read(&request) else {
            return refused("The call cannot be read again");
        };
        let mut judgement = match self.judge(&call) {
            Ok(judgement) => judgement,
            Err(reason) => return refused(&reason),
        };
        judgement.answered_by = by;
        let response = &mut judgement.response;
        let is_same = response.verdict.rule == pending.rule
            && response.arguments.as_deref().map(|text| digest(text.as_bytes()))
                == Some(pending.arguments.clone());
        let escalates = matches!(response.verdict.decision, Decision::Escalate(_));
        let denial = match (answer, by) {
            (Answer::Deny, Some(_)) => Some("A person denied the call"),
            (Answer::Deny, None) if escalates => Some("Nobody answered in time"),
            (Answer::Once | Answer::Session | Answer::Always, _) if escalates && !is_same => {
                Some("What the call would touch has changed since a person was asked")
            }
            (Answer::Deny | Answer::Once | Answer::Session | Answer::Always, _) => None,
        };
        if let Some(reason) = denial {
            response.verdict = denied(StructuralRule::Approval, reason.to_owned());
        } else if escalates {
            let question = &pending.open.question.id;
            response.verdict = approved("A person approved this call", question);
            let bound = CallBinding {
                server: &guard.server,
                tool: &call.name,
                arguments: &pending.arguments,
                policy: &judgement.policy,
            };
            judgement.approved = Some(Approved::new(bound, question));
        }
        let next = self.decided(&pending.message, &request, &call, judgement);
        self.follow(next, pending.message)
    }

    /// Takes back a call that waits for a person, if there is one of this id. Gives the answer to the client.
    pub(super) fn cancelled(&mut self, id: &str) -> Option<Delivery> {
        let at = self
            .questions
            .pending
            .iter()
            .position(|pending| pending.id.text == id)?;
        let pending = self.questions.pending.swap_remove(at);
        self.waiting.remove(&pending.id.text);
        self.openings.remove(&pending.id.text);
        self.given_up(&pending, Outcome::Cancelled);
        Some(match &pending.form {
            Some(form) => Delivery::ToClient(reply::cancelled(form)),
            None => Delivery::Nowhere,
        })
    }

    /// Nobody waits for an answer any more: the calls are judged once more, and denied.
    pub(super) fn end_questions(&mut self) -> Vec<Delivery> {
        let mut steps = Vec::new();
        for pending in std::mem::take(&mut self.questions.pending) {
            if let Some(form) = &pending.form {
                steps.push(Delivery::ToClient(reply::cancelled(form)));
            }
            steps.push(self.settle(pending, (Answer::Deny, None)));
        }
        steps
    }

    /// The server will not answer this request. If a person is asked about it, nobody waits for what they say.
    pub(super) fn lose_question(&mut self, id: &str) {
        let pending = &mut self.questions.pending;
        let Some(at) = pending.iter().position(|pending| pending.id.text == id) else {
            return;
        };
        let pending = pending.swap_remove(at);
        self.given_up(&pending, Outcome::NoAnswer);
    }

    fn given_up(&self, pending: &Pending, outcome: Outcome) {
        if let Some(asked) = &self.guard.asked {
            asked.withdraw(&pending.open);
        }
        self.guard.note_or_warn(&Record::Outcome {
            id: &pending.open.question.id,
            outcome,
            code: None,
            rewritten: &[],
            micros: pending.open.at.elapsed().as_micros(),
        });
    }
}

/// The state with which a client answers a question of a guard, if the call has one.
pub(super) fn own_state(call: &ToolCall<'_>) -> Option<String> {
    text_of(call.params.get(STATE)).filter(|state| asking::is_own(state))
}

/// The digest of what a client without a session says that it is.
fn client_of(call: &ToolCall<'_>) -> String {
    let meta = call.params.get("_meta");
    let meta: Option<Members<'_>> = meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
    let info = meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientInfo"));
    digest(info.map(RawValue::get).unwrap_or_default().as_bytes())
}

/// Returns `true` if a request of the modern era says that its client has forms.
fn client_has_forms(call: &ToolCall<'_>) -> bool {
    let meta = call.params.get("_meta");
    let meta: Option<Value> = meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
    let meta = meta.as_ref();
    asking::has_forms(meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities")))
}
