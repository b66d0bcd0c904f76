//! Approvals turn escalations into permission, as far as they were offered, and touch nothing else.

use callgate_engine::approval::{Approvals, Moment};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::{Audience, Request as Asked};
use callgate_engine::host::Recording;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{build, document, host, sent_on, text};
use crate::common::cases::{Case, Request, case, case_of_values, config};
use crate::common::engines::rule;

/// When every call is made.
const NOW: i64 = 1_772_366_400_000;

/// The cases, with a last rule that escalates more often than theirs.
fn escalating() -> impl Strategy<Value = Case> {
    (prop_oneof![case(), case_of_values()], any::<bool>()).prop_map(|(mut case, is_asked)| {
        if is_asked {
            let policy = document(&case, DocumentKind::Policy).expect("there is a policy");
            let mut policy = policy.clone();
            let rules = policy["rules"].as_array_mut().expect("rules are an array");
            rules.pop_if(|rule| rule["if"] == json!({}));
            rules.push(rule("r-ask", json!({}), "escalate"));
            case.documents = case.documents.with(DocumentKind::Policy, policy);
        }
        case
    })
}

/// The request, and requests like it: with each text continued, and with each text replaced by those of another request.
fn similar(request: &Request, others: &[Request]) -> Vec<Request> {
    let mut all = vec![request.clone()];
    for ending in ["/more", "/../more", ".test", "x"] {
        all.push(changed(request, |text| format!("{text}{ending}")));
    }
    for other in others.iter().filter_map(|other| other.arguments.as_object()) {
        let mut texts = other
            .values()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .cycle();
        all.push(changed(request, |text| {
            texts.next().unwrap_or_else(|| text.to_owned())
        }));
    }
    all
}

fn changed(request: &Request, mut change: impl FnMut(&str) -> String) -> Request {
    let mut request = request.clone();
    for value in request
        .arguments
        .as_object_mut()
        .into_iter()
        .flat_map(|members| members.values_mut())
    {
        match value {
            Value::String(text) => *text = change(text),
            Value::Array(items) => {
                for item in items {
                    if let Value::String(text) = item {
                        *text = change(text);
                    }
                }
            }
            _ => {}
        }
    }
    request
}

proptest! {
    #![proptest_config(config(300))]

    /// An offer for a call allows exactly that call when it is gated again, and sends the same.
    #[test]
    fn an_offer_covers_its_own_call(case in escalating()) {
        let host = host(&case);
        let engine = build(&case.documents, &host);
        for request in &case.calls {
            let call = request.call();
            let asked = Asked::gate(&call);
            let before = engine.judge(&asked, &host);
            let Some(offer) = engine.offer(&asked, &host) else { continue };
            prop_assert_eq!(before.verdict.decision.as_str(), "escalate", "{:?}", request);
            let mut approvals = Approvals::default();
            let added = approvals.add(&offer).map(str::to_owned);
            let id = added.unwrap_or_else(|error| panic!("{error}: {offer:?}"));
            let after = engine.judge(&asked.approved(&approvals, None), &host);
            prop_assert_eq!(&after.verdict.rule, "structural-approval", "{:?} {:?}", offer, request);
            prop_assert_eq!(after.verdict.decision.as_str(), "allow");
            prop_assert_eq!(after.verdict.approval.as_deref(), Some(&*id));
            prop_assert_eq!(sent_on(&before, &request.arguments), sent_on(&after, &request.arguments));
            let read = Approvals::from_json(&approvals.to_json());
            prop_assert_eq!(read.as_ref(), Ok(&approvals));

            let mut ended = Approvals::default();
            let ending = callgate_engine::approval::Offer { expires_at: Some("2026-03-01T12:00:00Z".to_owned()), ..offer };
            prop_assert!(ended.add(&ending).is_ok());
            for (now, rule) in [
                (Some(NOW - 1), "structural-approval"),
                (Some(NOW), &*before.verdict.rule),
                (None, &*before.verdict.rule),
            ] {
                let verdict = engine.judge(&asked.approved(&ended, now.map(Moment::from_millis)), &host).verdict;
                prop_assert_eq!(&verdict.rule, rule, "{:?}", now);
            }
        }
    }

    /// Whatever is approved, a verdict that does not escalate stays as it is, and one that escalates stays or becomes an
    /// approval. The explanation has the same verdict, and replays without the host.
    #[test]
    fn approvals_change_nothing_but_escalations(case in escalating()) {
        let host = host(&case);
        let engine = build(&case.documents, &host);
        let mut approvals = Approvals::default();
        for request in &case.calls {
            let call = request.call();
            if let Some(mut offer) = engine.offer(&Asked::gate(&call), &host) {
                // Wider than what is offered: any rule.
                offer.rules = None;
                prop_assert!(approvals.add(&offer).is_ok());
            }
        }
        let ungated = case.documents.clone().with(DocumentKind::DomainAllowlists, json!({}));
        let ungated = build(&ungated, &host);
        for request in case.calls.iter().flat_map(|request| similar(request, &case.calls)) {
            let call = request.call();
            for asked in [Asked::gate(&call).in_container("/work"), Asked::prepared(&call)] {
                let before = engine.judge(&asked, &host).verdict;
                let approved = asked.approved(&approvals, Some(Moment::from_millis(NOW)));
                let after = engine.judge(&approved, &host).verdict;
                if before.decision.as_str() != "escalate" || after.approval.is_none() {
                    prop_assert_eq!(text(&before), text(&after), "{:?}", request);
                } else {
                    prop_assert_eq!(&after.rule, "structural-approval");
                    // The allowlist leaves the rules unasked, but an approval does not lead around them.
                    let without = ungated.judge(&asked, &host).verdict;
                    prop_assert_ne!(without.decision.as_str(), "deny", "{:?} {:?}", request, approvals);
                }
                let explained = engine.judge(&approved.explained(Audience::Operator), &host).explanation;
                let explained = explained.expect("the request asks for it");
                prop_assert_eq!(text(&explained.verdict), text(&after));
                let kept: Recording = serde_json::from_str(&text(&explained.recording)).expect("a recording is JSON");
                let again = engine.judge(&approved.explained(Audience::Operator), &kept).explanation;
                prop_assert_eq!(text(&again), text(&explained));
            }
        }
    }
}

/// The cases offer something, and some of what they offer covers other calls.
#[test]
fn the_offers_are_worth_trying() {
    use proptest::strategy::ValueTree as _;

    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let (mut offered, mut refused, mut covered, mut gated) = (0, 0, 0, 0);
    for _ in 0..1000 {
        let tree = escalating().new_tree(&mut runner);
        let case = tree.expect("cases are not filtered").current();
        let host = host(&case);
        let engine = build(&case.documents, &host);
        let mut approvals = Approvals::default();
        for request in &case.calls {
            let call = request.call();
            let asked = Asked::gate(&call);
            if engine.judge(&asked, &host).verdict.decision.as_str() != "escalate" {
                continue;
            }
            match engine.offer(&asked, &host) {
                Some(offer) => {
                    offered += 1;
                    gated += usize::from(document(&case, DocumentKind::DomainAllowlists).is_some());
                    approvals.add(&offer).expect("an offer can be added");
                }
                None => refused += 1,
            }
        }
        for request in case
            .calls
            .iter()
            .flat_map(|request| similar(request, &case.calls).into_iter().skip(1))
        {
            let call = request.call();
            let asked = Asked::gate(&call).approved(&approvals, None);
            covered += usize::from(engine.judge(&asked, &host).verdict.approval.is_some());
        }
    }
    for count in [offered, refused, covered, gated] {
        assert!(
            count >= 20,
            "{offered} offered, {refused} refused, {covered} covered, {gated} gated"
        );
    }
}
