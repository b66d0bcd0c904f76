//! No call refutes a statement that is proven, and the call that is given refutes one that is refuted.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::arbitrary::{self, DIRECTORIES, DOMAINS, Documents, ENTRIES, ROLES};
use super::calls::{self, Random};
use super::division::shown;
use super::worlds;
use crate::imagined::Imagined;
use crate::tests::properties::config;
use crate::{Outcome, asked, check_invariants, slots};
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use callgate_engine::glob::NamePattern;
use callgate_engine::net::{DomainSet, Location, PathEnding, UrlKind};
use callgate_engine::path::{expand_tilde, lexical};
use callgate_engine::policy::{Calls, Invariant};
use callgate_engine::program::{Program, readable_addresses};
use callgate_engine::role::{RoleId, RoleSet};
use callgate_engine::text::is_at_or_below;

/// Counts of the statements that were compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    proven: usize,
    refuted: usize,
    unknown: usize,
    /// Calls that a proven statement is about.
    calls: usize,
}

fn statement() -> impl Strategy<Value = Value> {
    let tools = calls::all_tools().map(|(server, tool, _)| (server, tool));
    let parts = (
        subsequence(vec!["allow", "escalate", "deny"], 1..3),
        any::<bool>(),
        prop::option::weighted(0.8, select(tools.collect::<Vec<_>>())),
        prop::option::weighted(0.4, subsequence(ROLES.to_vec(), 1..4)),
        prop::option::weighted(0.3, select(DIRECTORIES)),
        prop::option::weighted(0.25, subsequence(DOMAINS.to_vec(), 1..3)),
        prop::option::weighted(0.25, subsequence(ENTRIES.to_vec(), 1..3)),
    );
    parts.prop_map(|(decision, is_never, tool, roles, within, domains, values)| {
        let mut calls = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                calls.insert(key.to_owned(), value);
            }
        };
        set("decision", Some(json!(decision)));
        set("server", tool.map(|(server, _)| json!(server)));
        set("tool", tool.map(|(_, tool)| json!(tool)));
        set("roles", roles.map(|roles| json!(roles)));
        set("within", within.map(|within| json!(within)));
        set("domains", domains.map(|domains| json!(domains)));
        set("values", values.map(|values| json!(values)));
        match is_never {
            true => json!({"never": calls}),
            false => json!({"always": calls}),
        }
    })
}

/// Rules that refuse a call because its arguments are not what the tool has.
const FORM: &[&str] = &[
    "structural-limit",
    "structural-unreadable-argument",
    "structural-unresolvable-value",
];

/// Returns `true` if both name the same, however it is spelled.
fn is_same(program: &Program, roles: RoleSet, value: &str, text: &str) -> bool {
    let form = |role: RoleId, text: &str| match role {
        RoleId::BRANCH_NAME => {
            let name = text.strip_prefix('+').unwrap_or(text);
            let name = name.split_once(':').map_or(name, |(_, destination)| destination);
            name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
        }
        _ => program.registry.get(role).canonicalize.apply(text).into_owned(),
    };
    let is_address = |address: &String| readable_addresses(text).contains(address);
    let names = roles.contains(RoleId::EMAIL_ADDRESS) && readable_addresses(value).iter().any(is_address);
    value == text || names || roles.iter().any(|role| form(role, value) == form(role, text))
}

/// Returns `true` if the statement is about the call: one of its values is meant.
fn is_about(imagined: &Imagined<'_>, calls: &Calls, call: &Call<'_>, arguments: &Value) -> bool {
    let holds = |patterns: &Option<Vec<NamePattern>>, name: &str| {
        let patterns = patterns.as_ref();
        patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(name)))
    };
    if !holds(&calls.server, call.server()) || !holds(&calls.tool, call.tool()) {
        return false;
    }
    let is_any = calls.within.is_none() && calls.domains.is_none() && calls.values.is_none();
    if is_any && calls.roles.is_none() {
        return true;
    }
    let program = imagined.program();
    let Some(tool) = program.tool(call.server(), call.tool()) else {
        return false;
    };
    let base_directory = program
        .sandbox
        .first()
        .map_or(&*program.current, |first| &**first);
    let absolute = |path: &str, base: &str| lexical(&expand_tilde(path, &program.home), base).into_owned();
    let is_meant = |roles: RoleSet, text: &str, base: &str| {
        let wanted = calls.roles.as_ref();
        let wanted = wanted.is_none_or(|wanted| wanted.iter().any(|role| roles.contains(*role)));
        let within = calls.within.as_ref().is_none_or(|within| {
            let within = absolute(within, &program.current);
            let world = program
                .world
                .as_ref()
                .filter(|_| roles.intersects(program.address_roles));
            let place = world.and_then(|world| world.lexical_path(text));
            roles.intersects(program.path_roles) && is_at_or_below(&absolute(text, base), &within)
                || place.is_some_and(|place| is_at_or_below(&place, &within))
        });
        let domains = calls.domains.as_ref().is_none_or(|domains| {
            let set = DomainSet::new(domains.iter().map(|one| &**one), PathEnding::Below);
            let kind = match roles.contains(RoleId::GIT_REMOTE_URL) {
                true => UrlKind::GitRemote,
                false => UrlKind::Fetch,
            };
            roles.intersects(program.url_roles) && set.restricts(&Location::new(text, kind)).is_some()
        });
        let values = calls.values.as_ref();
        let values = values.is_none_or(|values| values.iter().any(|one| is_same(program, roles, one, text)));
        wanted && within && domains && values
    };
    let roles = slots::roles(program, tool, arguments);
    tool.arguments.iter().zip(roles).any(|(argument, roles)| {
        let roles: RoleSet = roles.into_iter().collect();
        let name = argument.name.to_string();
        let value = match name.strip_prefix('/') {
            Some(_) => arguments.pointer(&name.replace('*', "0")),
            None => arguments.get(&name),
        };
        // A relative path starts from the argument that it is relative to.
        let base = argument
            .relative_to
            .as_deref()
            .and_then(|name| arguments.get(name)?.as_str());
        let base = base.map_or_else(
            || base_directory.to_owned(),
            |text| absolute(text, base_directory),
        );
        let is_meant = |roles: RoleSet, text: &str| is_meant(roles, text, &base);
        match value {
            Some(Value::String(text)) => is_meant(roles, text),
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(Value::as_str)
                .any(|text| is_meant(roles, text)),
            _ => false,
        }
    })
}

fn is_excluded(invariant: &Invariant, decision: &str) -> bool {
    let mut decisions = invariant.decisions.iter();
    decisions.any(|effect| effect.as_str() == decision) == invariant.is_never
}

/// Holds statements, and so many calls of each tool against what is said of them.
fn hold(
    documents: &Documents,
    statements: &[Value],
    seed: u64,
    calls: usize,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut parts = documents.clone();
    parts.push((DocumentKind::Invariants, json!(statements)));
    let Some(engine) = arbitrary::engine(&parts) else {
        return Ok(());
    };
    let imagined = Imagined::new(&engine, None);
    let mut random = Random(seed | 1);
    let judged = |call: &Call<'_>| {
        let verdict = imagined.judge(call);
        (verdict.decision.as_str(), verdict.rule.to_string())
    };
    for (invariant, found) in engine
        .invariants()
        .iter()
        .zip(check_invariants(&engine, None, &|_| {}))
    {
        let told = |why: String| format!("{found:?} of {invariant:?}, but {why}\n{}", shown(&parts));
        match &found.outcome {
            Outcome::Unknown { .. } | Outcome::Empty => tally.unknown += 1,
            Outcome::Refuted { call, decision, rule } => {
                tally.refuted += 1;
                refuted(&imagined, invariant, call, (decision, rule)).map_err(told)?;
            }
            Outcome::Proven { .. } => {
                tally.proven += 1;
                for (at, (server, tool, _)) in calls::all_tools().enumerate() {
                    for _ in 0..calls {
                        let arguments = calls::arguments(at, &mut random);
                        let context = worlds::context(&mut random);
                        let call = asked::call(server, tool, &arguments, context.as_ref());
                        if !is_about(&imagined, &invariant.calls, &call, &arguments) {
                            continue;
                        }
                        let (decision, rule) = judged(&call);
                        tally.calls += 1;
                        if is_excluded(invariant, decision) && !FORM.contains(&&*rule) {
                            return Err(told(format!(
                                "{server}/{tool} {arguments} in {context:?} is {decision} by {rule}"
                            )));
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

fn refuted(
    imagined: &Imagined<'_>,
    invariant: &Invariant,
    call: &Value,
    said: (&str, &str),
) -> Result<(), String> {
    let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
    let arguments = call.get("arguments").ok_or("no arguments")?;
    let context = call.get("context");
    let call = asked::call(text("serverName"), text("toolName"), arguments, context);
    let verdict = imagined.judge(&call);
    if (verdict.decision.as_str(), &*verdict.rule) != said {
        return Err(format!("{arguments} is judged {verdict:?}"));
    }
    if !is_excluded(invariant, said.0) {
        return Err(format!("{arguments} refutes nothing"));
    }
    match is_about(imagined, &invariant.calls, &call, arguments) {
        true => Ok(()),
        false => Err(format!("it is not about {arguments}")),
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn what_is_proven_is_refuted_by_no_call(
        documents in worlds::documents(),
        statements in prop::collection::vec(statement(), 1..6),
        seed in any::<u64>(),
    ) {
        if let Err(why) = hold(&documents, &statements, seed, 12, &mut Tally::default()) {
            return Err(TestCaseError::fail(why));
        }
    }
}

/// `cargo test --release -p callgate-analysis --lib -- --ignored proven_in_many`
#[test]
#[ignore = "takes minutes in a debug build"]
fn what_is_proven_in_many_policies_is_refuted_by_no_call() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut tally = Tally::default();
    for seed in 1..2_000_u64 {
        let documents = worlds::documents().new_tree(&mut runner).unwrap().current();
        let statements = prop::collection::vec(statement(), 12);
        let statements = statements.new_tree(&mut runner).unwrap().current();
        let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
        if let Err(why) = hold(&documents, &statements, seed, 20, &mut tally) {
            panic!("{why}");
        }
    }
    println!("{tally:?}");
}

/// An engine with these rules over one tool whose `url` may hold several values.
fn engine(rules: &Value, statement: &Value) -> Engine {
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (
            DocumentKind::Annotations,
            json!({"servers": {"web": {"tools": [{"toolName": "get", "args": {"url": "fetch-url"}}]}}}),
        ),
        (DocumentKind::Invariants, json!([statement])),
    ];
    arbitrary::engine(&documents).unwrap()
}

#[track_caller]
fn check(rules: &Value, statement: &Value, expected: Option<&Value>) {
    let found = check_invariants(&engine(rules, statement), None, &|_| {});
    let found = found.first().map(|one| &one.outcome);
    match (found, expected) {
        (Some(Outcome::Proven { .. }), None) => {}
        (Some(Outcome::Refuted { call, .. }), Some(expected)) => assert_eq!(&call["arguments"], expected),
        _ => panic!("{found:?}"),
    }
}

#[test]
fn tools_of_a_trusted_server_that_nobody_annotated_are_calls_too() {
    let known = |documents: &Value| {
        let mut parts = vec![
            (DocumentKind::Policy, json!({"rules": []})),
            (
                DocumentKind::Annotations,
                json!({"servers": {"ops": {"tools": []}}}),
            ),
            (DocumentKind::TrustedServers, json!(["ops"])),
        ];
        parts.push((DocumentKind::Invariants, json!([documents])));
        let found = check_invariants(&arbitrary::engine(&parts).unwrap(), None, &|_| {});
        serde_json::to_value(&found).unwrap()[0]["result"].clone()
    };
    for (calls, never, always) in [
        (json!({"decision": "allow"}), "refuted", "proven"),
        (json!({"decision": "allow", "server": "o*"}), "refuted", "proven"),
        (json!({"decision": "allow", "tool": "run-*"}), "refuted", "proven"),
        (json!({"decision": "allow", "server": "web"}), "empty", "empty"),
        (json!({"decision": "deny"}), "proven", "refuted"),
        // What its tools would do nobody says.
        (
            json!({"decision": "allow", "within": "/etc"}),
            "unknown",
            "proven",
        ),
        (
            json!({"decision": "deny", "roles": ["write-path"]}),
            "proven",
            "unknown",
        ),
    ] {
        assert_eq!(known(&json!({"never": calls})), never, "{calls}");
        assert_eq!(known(&json!({"always": calls})), always, "{calls}");
    }
}

#[test]
fn a_second_value_refutes_what_the_first_does_not() {
    let rule = |name: &str, domains: &[&str], effect: &str| json!({"name": name, "if": {"domains": {"roles": "fetch-url", "allowed": domains}}, "then": effect, "reason": "r"});
    let last = json!({"name": "ask", "if": {"server": "web"}, "then": "escalate", "reason": "r"});
    // One that is listed, and one that is not.
    let rules = json!([rule("good", &["good.test"], "allow"), last]);
    let statement = json!({"never": {"decision": "escalate", "values": ["https://good.test/"]}});
    let call = json!({"url": ["https://good.test/", "ftp://good.test/"]});
    check(&rules, &statement, Some(&call));
    // Each is allowed by a rule of its own, and no rule allows both.
    let rules = json!([
        rule("good", &["good.test"], "allow"),
        rule("fair", &["fair.test"], "allow")
    ]);
    let both = json!({"never": {"decision": "deny", "values": ["https://good.test/"], "tool": "get"}});
    let call = json!({"url": ["https://fair.test/", "https://good.test/"]});
    check(&rules, &both, Some(&call));
    // Another value never makes a call less strict.
    check(
        &rules,
        &json!({"never": {"decision": "allow", "domains": ["evil.test"]}}),
        None,
    );
}
