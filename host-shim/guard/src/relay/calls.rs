//! Calls: judged, written to the log, and sent, answered or asked about.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use callgate_engine::engine::Audience;
use callgate_engine::judge::{Decision, StructuralRule};
use callgate_host::{CallText, Instant, Unoffered};

use super::questions::own_state;
use super::sending::ArgumentsPlace;
use super::{Delivery, Disposition, Judgement, Relay, Sent, denied};
use crate::asking;
use crate::counts::{Counting, said};
use crate::listed::Standing;
use crate::message::{Request, ToolCall};
use crate::method::Kind;
use crate::policy::Policy;
use crate::record::Judged;
use crate::reply::{self, Era};
use crate::rewritten::{is_as_given, judged_as, rewritten};
use crate::told::{reason_for_agent, what_to_send};

/// Said of every call once the signed bundle has expired.
const EXPIRED: &str =
    "A bundle that decides has expired or was replaced, and there is none in its place that can be used";

/// Said of a tool of which the policy cannot tell what it touches.
const UNANNOTATED: &str =
    ". No annotation names this tool, so every call of it is denied: `callgate annotate` writes one.";

impl Relay {
    pub(super) fn call(&mut self, message: &str, request: &Request<'_>) -> Disposition {
        let call = match ToolCall::read(request) {
            Ok(call) => call,
            Err(reason) => {
                return Disposition::Deliver(self.refuse(
                    Some(&request.id.json),
                    reply::INVALID_PARAMS,
                    &reason,
                ));
            }
        };
        match self.hold(request, &call) {
            Some(held) => held,
            None => self.called(message, request, &call),
        }
    }

    /// The same once the server has listed its tools, or will not.
    pub(super) fn call_now(&mut self, message: &str, request: &Request<'_>) -> Disposition {
        match ToolCall::read(request) {
            Ok(call) => self.called(message, request, &call),
            Err(reason) => {
                Disposition::Deliver(self.refuse(Some(&request.id.json), reply::INVALID_PARAMS, &reason))
            }
        }
    }

    fn called(&mut self, message: &str, request: &Request<'_>, call: &ToolCall<'_>) -> Disposition {
        // Who observes asks nobody, and who stops waits for nobody.
        let asks = !self.guard.observes && self.stopped.is_none();
        if let Some(state) = own_state(call).filter(|_| asks) {
            return Disposition::Deliver(self.asked_again(message, request, call, &state));
        }
        match self.judge(call) {
            Ok(judged) => self.decided(message, request, call, judged),
            Err(reason) => {
                Disposition::Deliver(self.refuse(Some(&request.id.json), reply::INVALID_PARAMS, &reason))
            }
        }
    }

    pub(super) fn follow(&mut self, next: Disposition, message: String) -> Delivery {
        match next {
            Disposition::Send(Some((arguments, place))) => Delivery::ToServer(place.put(message, &arguments)),
            Disposition::Send(None) => Delivery::ToServer(message),
            Disposition::Wait(step) => {
                self.questions.keep(message);
                step
            }
            Disposition::Hold(step) => {
                self.listing.keep(message);
                step
            }
            Disposition::Deliver(step) => step,
        }
    }

    /// Judges a call, by what a person has approved too.
    pub(super) fn judge(&self, call: &ToolCall<'_>) -> Result<Judgement, String> {
        let begun = Instant::now();
        let guard = &self.guard;
        let policy = guard.policy();
        let text = CallText::of(&guard.server, &call.name, call.arguments);
        let counting = self.begin_counting(&policy);
        let counted = counting.as_ref().map(Counting::counted);
        let context = said(self.context.clone(), counted.as_ref());
        let text = match &context {
            Some(context) => text.within(context),
            None => text,
        };
        let asked = callgate_host::Request::gate(text).in_container(guard.container_workspace_dir.as_deref());
        let counts = guard.counts.is_some() && !policy.counters.is_empty();
        let explains = guard.audit.is_some() || guard.asked.is_some() || counts;
        let asked = callgate_host::Request {
            explain: explains.then_some(Audience::Operator),
            ..asked
        };
        let judge =
            |asked: &callgate_host::Request<'_>| policy.gate.judge(asked).map_err(|error| error.message);
        let mut response = judge(&asked)?;
        let mut offer = None;
        let escalates = matches!(response.verdict.decision, Decision::Escalate(_));
        if let Some(asking) = guard.asked.as_ref().filter(|_| escalates) {
            match asking.approvals() {
                Ok(for_good) => {
                    for approvals in self.questions.approved().into_iter().chain([&for_good]) {
                        let approved = judge(&asked.approved(approvals, Some(asking::now())))?;
                        if approved.verdict.decision == Decision::Allow {
                            response = approved;
                            break;
                        }
                    }
                }
                Err(error) => guard.warn(&format!("the approvals cannot be read: {error}")),
            }
            match policy.gate.offer(&asked) {
                Ok(found) => offer = found,
                Err(Unoffered::Call(error)) => return Err(error.message),
                Err(Unoffered::Engine(fault)) => response.verdict = fault.verdict(),
            }
        }
        if let Some((rule, reason)) = self.refuses(&policy, &call.name)
            && response.verdict.decision != Decision::Deny
        {
            response.verdict = denied(rule, reason.to_owned());
        }
        let sent = response.arguments.as_deref();
        if self.is_exact
            && response.verdict.decision == Decision::Allow
            && !sent.is_some_and(|sent| is_as_given(call.arguments, sent))
        {
            let explanation = judge(&asked.explained(Audience::Operator))?.explanation;
            let others = rewritten(call.arguments, sent, explanation.as_ref());
            response.verdict = denied(StructuralRule::InexactCall, what_to_send(&others));
        }
        if response.verdict.decision != Decision::Allow && response.explanation.is_none() {
            response.explanation = judge(&asked.explained(Audience::Operator))?.explanation;
        }
        let is_sent = guard.observes || response.verdict.decision == Decision::Allow;
        Ok(Judgement {
            response,
            offer,
            answered_by: None,
            approved: None,
            counted,
            // Nobody else can count while a person is asked.
            counting: counting.filter(|_| is_sent),
            policy: policy.digest.clone(),
            begun,
        })
    }

    /// The standing of a tool: it may be called, or not until a person has accepted it.
    pub(super) fn standing(&self, policy: &Policy, tool: &str) -> Standing {
        self.listed.standing(policy.pins.as_ref(), tool)
    }

    /// Why no call of the tool is sent, whatever the policy says: the rule and the reason.
    fn refuses(&self, policy: &Policy, tool: &str) -> Option<(StructuralRule, &'static str)> {
        if let Some(reason) = self.stopped {
            return Some((StructuralRule::Stopped, reason));
        }
        if policy.has_expired.load(Ordering::Relaxed) {
            return Some((StructuralRule::ExpiredBundle, EXPIRED));
        }
        let held_back = match self.standing(policy, tool) {
            Standing::Accepted => None,
            Standing::HeldBack(reason) => Some(reason),
            // Who observes asks the server for nothing.
            Standing::Unknown => (!self.guard.observes).then(|| self.listing.failure()),
        };
        held_back.map(|reason| (StructuralRule::UnpinnedTool, reason))
    }

    /// Writes the decision to the log, by its number and with what is sent.
    pub(super) fn note_judged(
        &self,
        request: &Request<'_>,
        call: &ToolCall<'_>,
        judgement: &Judgement,
        (number, sent): (&str, Option<&str>),
    ) -> io::Result<()> {
        let verdict = &judgement.response.verdict;
        self.guard.tally.count(&verdict.decision);
        let judged = Judged {
            id: number,
            tool: &call.name,
            verdict,
            arguments: call.arguments,
            caller: &self.caller,
            counted: judgement.counted.as_ref(),
            explanation: judgement.response.explanation.as_ref(),
            sent,
            policy: &judgement.policy,
            answered_by: judgement.answered_by,
            took: judgement.begun.elapsed(),
        };
        self.guard.note_decision(&judged.record(), request)
    }

    /// Writes the decision to the log, and does what it says.
    pub(super) fn decided(
        &mut self,
        message: &str,
        request: &Request<'_>,
        call: &ToolCall<'_>,
        judgement: Judgement,
    ) -> Disposition {
        let guard = Arc::clone(&self.guard);
        let judgement = self.counted(judgement);
        let response = &judgement.response;
        let place = ArgumentsPlace::find(message, request, call);
        let arguments = match (&response.verdict.decision, &response.arguments, &place) {
            (_, _, _) if guard.observes => Some(call.arguments.map_or("{}", |given| given.get())),
            (Decision::Allow, Some(judged), Some(_)) => Some(judged.as_str()),
            (_, _, _) => None,
        };
        let number = guard.number();
        let era = Era::of(request.members.get("params"));
        if let Err(error) = self.note_judged(request, call, &judgement, (&number, arguments)) {
            let reason = format!(
                "The log of decisions cannot be written, so nothing is allowed: {}",
                error.kind()
            );
            guard.warn(&format!("the log cannot be written: {error}"));
            if !guard.observes {
                let verdict = denied(StructuralRule::Audit, reason);
                return Disposition::Deliver(Delivery::ToClient(reply::denial(
                    &request.id,
                    era,
                    &verdict,
                    "",
                )));
            }
        }
        if arguments.is_some() {
            let (given, explanation) = (call.arguments, response.explanation.as_ref());
            let sent = Sent {
                at: Instant::now(),
                rewritten: rewritten(given, arguments, explanation),
                number,
                approved: judgement.approved,
            };
            self.wait(&request.id, Kind::Call, Some(sent));
            let judged = judgement.response.arguments.filter(|_| !guard.observes);
            return Disposition::Send(judged.zip(place));
        }
        let advice = match &response.verdict.decision {
            Decision::Escalate(_) => match self.ask(request, call, (&number, &judgement), era) {
                Ok(next) => return next,
                Err(advice) => advice,
            },
            Decision::Deny if response.verdict.rule == StructuralRule::UnknownTool.as_str() => {
                UNANNOTATED.to_owned()
            }
            Decision::Allow | Decision::Deny => String::new(),
        };
        let (sent, explanation) = (response.arguments.as_deref(), response.explanation.as_ref());
        // Agents are not told where a world has its files, nor where another machine has them.
        let judged = match guard.has_context || self.is_proxied {
            true => String::new(),
            false => judged_as(&rewritten(call.arguments, sent, explanation)),
        };
        let mut verdict = response.verdict.clone();
        if self.is_proxied {
            let given = call.arguments.map_or("", |given| given.get());
            verdict.reason = reason_for_agent(&verdict, given).into();
        }
        let (verdict, advice) = (&verdict, format!("{judged}{advice}"));
        Disposition::Deliver(Delivery::ToClient(reply::denial(
            &request.id,
            era,
            verdict,
            &advice,
        )))
    }
}
