//! Properties that must always hold, on arbitrary engines, worlds and calls.

#[path = "properties/approvals.rs"]
mod approvals;
#[path = "properties/ceilings.rs"]
mod ceilings;
mod common;
#[path = "properties/robustness.rs"]
mod robustness;
#[path = "properties/sandbox.rs"]
mod sandbox;
#[path = "properties/sent.rs"]
mod sent;

use std::collections::BTreeMap;

use callgate_compat::{is_within_directory, resolve_real_path};
use callgate_engine::bind::{Call, View};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::{Engine, Request as Asked, Response};
use callgate_engine::host::Host;
use callgate_host::VirtualHost;
use common::cases::{Case, Request, case, case_of_values, condition, config, path, world};
use common::engines::{Documents, rule, tool};
use conformance::Explain;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::{Value, json};

fn host(case: &Case) -> VirtualHost {
    VirtualHost::new(case.world.clone()).expect("an arbitrary world is well-formed")
}

fn build(documents: &Documents, host: &dyn Host) -> Engine {
    documents.build(host).unwrap_or_else(|error| panic!("{error}"))
}

fn document(case: &Case, part: DocumentKind) -> Option<&Value> {
    case.documents
        .0
        .iter()
        .find(|(known, _)| *known == part)
        .map(|(_, value)| value)
}

impl Request {
    fn call(&self) -> Call<'_> {
        Call::from_value(&self.server, &self.tool, &self.arguments)
    }
}

/// The verdict as JSON text, with its strictness.
fn judged(engine: &Engine, request: &Request, host: &dyn Host) -> (String, u8) {
    let verdict = engine.evaluate(&request.call(), host);
    (text(&verdict), verdict.decision.strictness())
}

/// The arguments that a gate would forward.
fn sent_on(response: &Response<'_, '_>, given: &Value) -> Value {
    let prepared = response.prepared.as_ref().expect("the request was to gate");
    let text = prepared.apply_to_json(&given.to_string(), View::Transport);
    let sent = text.and_then(|text| serde_json::from_str(&text).ok());
    sent.unwrap_or_else(|| given.clone())
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("answers are JSON")
}

proptest! {
    #![proptest_config(config(600))]

    /// The canonical form of a canonical form is the same.
    #[test]
    fn a_canonical_path_is_its_own_canonical_path(world in world(), path in path()) {
        let host = VirtualHost::new(world).expect("an arbitrary world is well-formed");
        prop_assume!(is_within_directory(&path, "/", &host).expect("the host answers"));
        let once = resolve_real_path(&path, &host).expect("the host answers");
        let twice = resolve_real_path(&once, &host).expect("the host answers");
        prop_assert_eq!(once, twice);
    }

    /// A further deny rule, wherever it stands, never loosens a verdict.
    #[test]
    fn another_deny_rule_never_loosens(case in prop_oneof![case(), case_of_values()], condition in condition(), at in any::<prop::sample::Index>()) {
        let host = host(&case);
        let mut policy = document(&case, DocumentKind::Policy).expect("there is a policy").clone();
        let rules = policy["rules"].as_array_mut().expect("rules are an array");
        rules.insert(at.index(rules.len() + 1), rule("further", condition, "deny"));
        let before = build(&case.documents, &host);
        let after = build(&case.documents.clone().with(DocumentKind::Policy, policy), &host);
        for request in &case.calls {
            let (before, after) = (judged(&before, request, &host), judged(&after, request, &host));
            prop_assert!(after.1 >= before.1, "{} became {} for {:?}", before.0, after.0, request);
        }
    }

    /// Rules that never match do not change a verdict. There are so many of them that rules are looked up in the index,
    /// while the few rules of the case itself are tried one by one.
    #[test]
    fn rules_about_what_is_nowhere_change_nothing(case in prop_oneof![case(), case_of_values()], stride in 1_usize..50) {
        let host = host(&case);
        let mut policy = document(&case, DocumentKind::Policy).expect("there is a policy").clone();
        let rules = policy["rules"].as_array_mut().expect("rules are an array");
        for (at, condition) in (0..70).flat_map(about_nowhere).enumerate() {
            rules.insert(at * stride % (rules.len() + 1), rule(&format!("nowhere-{at}"), condition, "allow"));
        }
        // A role that a rule names is read more strictly, so the few name the same roles.
        let mut named = document(&case, DocumentKind::Policy).expect("there is a policy").clone();
        let rules = named["rules"].as_array_mut().expect("rules are an array");
        rules.extend(about_nowhere(0).into_iter().map(|condition| rule("nowhere", condition, "allow")));
        let few = build(&case.documents.clone().with(DocumentKind::Policy, named), &host);
        for directories in ["fresh", "pinned"] {
            let options = document(&case, DocumentKind::Options).map_or_else(|| json!({}), Value::clone);
            let options = with(options, "directories", directories);
            let documents = case.documents.clone().with(DocumentKind::Policy, policy.clone()).with(DocumentKind::Options, options);
            let many = build(&documents, &host);
            for request in &case.calls {
                prop_assert_eq!(judged(&few, request, &host), judged(&many, request, &host), "{} {:?}", directories, request);
            }
        }
    }

    /// The index finds a rule by a few names, or by a pair of them; one with many names is always looked at.
    #[test]
    fn how_a_rule_is_found_changes_nothing(
        rules in prop::collection::vec((names("o"), names("r"), any::<bool>(), prop::sample::select(vec!["allow", "allow", "escalate", "deny"])), 1..5),
        calls in prop::collection::vec((names("o"), names("r")), 3),
    ) {
        let list = |role: &str, names: &[String], others: usize| {
            let others = (0..others).map(|at| format!("nobody-{at}"));
            let allowed: Vec<String> = names.iter().cloned().chain(others).collect();
            json!({"roles": [role], "allowed": allowed, "matchType": "identifiers"})
        };
        let policy = |others: usize| -> Value {
            let rules = rules.iter().enumerate().map(|(at, (owners, repositories, owner_first, effect))| {
                let mut lists = vec![list("github-repo", repositories, others)];
                if !owners.is_empty() {
                    lists.insert(usize::from(!owner_first), list("github-owner", owners, others));
                }
                rule(&format!("r{at}"), json!({"lists": lists}), effect)
            });
            rules.chain([rule("last", json!({}), "escalate")]).collect()
        };
        let tools = [tool("github/look", json!({"owner": ["github-owner"], "repo": ["github-repo"]}))];
        let host = VirtualHost::from_value(&json!({"home": "/home/u", "cwd": "/work"})).expect("a machine");
        let [few, many] = [0, 70].map(|others| build(&Documents::new(policy(others), &tools), &host));
        for (owners, repositories) in calls {
            let request = Request {
                server: "github".to_owned(),
                tool: "look".to_owned(),
                arguments: json!({"owner": owners, "repo": repositories}),
            };
            prop_assert_eq!(judged(&few, &request, &host), judged(&many, &request, &host), "{:?}", request);
        }
    }

    /// An explanation contains the same verdict, byte for byte, and its recording replays to the same explanation.
    #[test]
    fn an_explanation_is_that_of_the_verdict_and_replays(case in prop_oneof![case(), case_of_values()]) {
        let host = host(&case);
        let engine = build(&case.documents, &host);
        for request in &case.calls {
            let call = request.call();
            let explained = engine.explain(&call, &host);
            prop_assert_eq!(text(&explained.verdict), judged(&engine, request, &host).0, "{:?}", request);
            let gated = engine.explain_in(&call, "/work", &host);
            let verdict = engine.judge(&Asked::gate(&call).in_container("/work"), &host).verdict;
            prop_assert_eq!(text(&gated.verdict), text(&verdict), "{:?}", request);

            let kept: callgate_engine::host::Recording =
                serde_json::from_str(&text(&explained.recording)).expect("a recording is JSON");
            prop_assert_eq!(text(&engine.explain(&call, &kept)), text(&explained), "{:?}", request);
            let again = engine.explain_in(&call, "/work", &gated.recording);
            prop_assert_eq!(text(&again), text(&gated), "{:?}", request);
        }
    }

    /// A second gate does not change what the first one forwards, and allows what the first one allowed.
    #[test]
    fn what_a_gate_sends_on_passes_it_again(case in case()) {
        let host = host(&case);
        let engine = build(&case.documents, &host);
        for request in &case.calls {
            let call = request.call();
            let first = engine.gate(&call, &host);
            let arguments = sent_on(&first, &request.arguments);
            let sent = Request { arguments, ..request.clone() };
            let call = sent.call();
            let second = engine.gate(&call, &host);
            prop_assert_eq!(&sent_on(&second, &sent.arguments), &sent.arguments);
            if first.verdict.decision.strictness() == 0 {
                prop_assert_eq!(text(&second.verdict), text(&first.verdict), "{:?}", request);
            }
        }
    }

    /// The order of keys does not matter, except in the arguments of a tool, and nothing is kept from earlier questions.
    #[test]
    fn neither_the_order_of_keys_nor_earlier_questions_matter(case in case()) {
        let host = host(&case);
        let engine = build(&case.documents, &host);
        let other = Documents(case.documents.0.iter().map(|(part, value)| (*part, turned(value, true))).collect());
        let other = build(&other, &host);
        let first: Vec<String> = case.calls.iter().map(|request| judged(&engine, request, &host).0).collect();
        for (request, first) in case.calls.iter().zip(&first) {
            prop_assert_eq!(&judged(&engine, request, &host).0, first, "asked again: {:?}", request);
            prop_assert_eq!(&judged(&other, request, &host).0, first, "keys turned round: {:?}", request);
        }
    }

    /// Case-insensitive comparison never allows more.
    #[test]
    fn folding_never_loosens(case in case()) {
        let host = host(&case);
        let mut options = document(&case, DocumentKind::Options).expect("there are options").clone();
        let exact = build(&case.documents, &host);
        options["pathCase"] = json!("insensitive");
        let folded = build(&case.documents.clone().with(DocumentKind::Options, options), &host);
        for request in &case.calls {
            let (exact, folded) = (judged(&exact, request, &host), judged(&folded, request, &host));
            prop_assert!(folded.1 >= exact.1, "{} became {} for {:?}", exact.0, folded.0, request);
        }
    }
}

/// Conditions that no call meets, one for each kind of role.
fn about_nowhere(number: usize) -> [Value; 4] {
    let paths = ["read-path", "write-path", "delete-path", "write-history"];
    [
        json!({"paths": {"roles": paths, "within": format!("/nowhere/{number}")}}),
        json!({"domains": {"roles": ["fetch-url", "git-remote-url"], "allowed": [format!("{number}.nowhere.test")]}}),
        json!({"lists": [{"roles": ["github-owner", "branch-name"], "allowed": [format!("nobody-{number}")], "matchType": "identifiers"}]}),
        json!({"lists": [{"roles": ["email-address"], "allowed": [format!("nobody@{number}.test")], "matchType": "emails"}]}),
    ]
}

fn names(begin: &'static str) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec((0..3).prop_map(move |at| format!("{begin}{at}")), 0..3)
}

/// The object with one value replaced.
fn with(mut object: Value, key: &str, value: &str) -> Value {
    object[key] = json!(value);
    object
}

/// The value with the members of every object except `args` in reverse order.
fn turned(value: &Value, turn: bool) -> Value {
    match value {
        Value::Object(members) => {
            let inner = members
                .iter()
                .map(|(name, value)| (name.clone(), turned(value, name != "args")));
            let mut inner: Vec<(String, Value)> = inner.collect();
            if turn {
                inner.reverse();
            }
            Value::Object(inner.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(|item| turned(item, true)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #![proptest_config(config(2000))]

    /// A call is never judged looser than with any one of its values alone (SPEC §8.4): one string of an array
    /// under a url, identifier or listed role.
    ///
    /// A domain outside the server's allowlist escalates before any rule is tried (§8.3.8), even if a rule would deny
    /// another value. With an allowlist it therefore only holds that a call is not allowed if a value alone is not.
    #[test]
    fn company_never_loosens(case in prop_oneof![case(), case_of_values()]) {
        let host = host(&case);
        let engine = build(&case.documents, &host);
        let ungated = document(&case, DocumentKind::DomainAllowlists).is_none();
        for request in &case.calls {
            let whole = judged(&engine, request, &host);
            for alone in alone(&engine, request) {
                let alone_judged = judged(&engine, &alone, &host);
                let holds = if ungated { whole.1 >= alone_judged.1 } else { whole.1 > 0 || alone_judged.1 == 0 };
                prop_assert!(holds, "{} is looser than {} for {:?}", whole.0, alone_judged.0, alone);
            }
        }
    }
}

/// The request with one array, which has no path role, replaced by one of its items.
fn alone(engine: &Engine, request: &Request) -> Vec<Request> {
    let mut found = Vec::new();
    for (name, roles) in engine.annotation(&request.call()).unwrap_or_default() {
        let Some(items) = request.arguments[&name]
            .as_array()
            .filter(|items| items.len() > 1)
        else {
            continue;
        };
        if roles
            .iter()
            .any(|role| role.contains("path") || role.contains("history"))
        {
            continue;
        }
        for item in items {
            let mut arguments = request.arguments.clone();
            arguments[&name] = json!([item]);
            found.push(Request {
                arguments,
                ..request.clone()
            });
        }
    }
    found
}

/// The cases reach every structural rule, the rules of the policy, and several values of one role.
#[test]
fn the_cases_are_worth_trying() {
    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..1000 {
        let case = case()
            .new_tree(&mut runner)
            .expect("cases are not filtered")
            .current();
        let host = host(&case);
        let engine = build(&case.documents, &host);
        for request in &case.calls {
            let verdict = engine.evaluate(&request.call(), &host);
            let of_policy = verdict.rule.starts_with('r');
            let rule = if of_policy {
                verdict.decision.as_str()
            } else {
                &*verdict.rule
            };
            *counts.entry(rule.to_owned()).or_default() += 1;
            *counts.entry("alone".to_owned()).or_default() += alone(&engine, request).len();
        }
    }
    for rule in [
        "allow",
        "escalate",
        "deny",
        "alone",
        "default-deny",
        "structural-domain-escalate",
        "structural-protected-path",
        "structural-sandbox-allow",
        "structural-unknown-argument",
        "structural-unknown-tool",
        "structural-unreadable-argument",
        "structural-unresolvable-value",
    ] {
        let count = counts.get(rule).copied().unwrap_or_default();
        // An allowlist asks only where the rules would let the call pass.
        let least = if rule == "structural-domain-escalate" {
            5
        } else {
            20
        };
        assert!(count >= least, "{rule}: {counts:#?}");
    }
}
