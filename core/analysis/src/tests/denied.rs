//! Every call of a tool that analysis reports as always denied is denied.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use super::calls::{self, Random, TOOLS};
use super::division::shown;
use crate::Analysis;
use crate::tests::properties::config;
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::judge::Decision;

/// How many tools have calls that are all denied, as the engine tells alone, and as the analysis tells.
#[derive(Default)]
struct Tally {
    alone: usize,
    analysed: usize,
}

fn hold(documents: &Documents, seed: u64, calls: usize, tally: &mut Tally) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let analysis = Analysis::new(&engine);
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in TOOLS.iter().enumerate() {
        let alone = engine.denies_every_call(server, tool);
        let analysed = analysis.denies_every_call(server, tool);
        tally.alone += usize::from(alone);
        tally.analysed += usize::from(analysed);
        if !analysed {
            continue;
        }
        let regions = analysis.tool(server, tool).unwrap();
        let regions = regions.parts.iter().flat_map(|part| &part.regions);
        if let Some(region) = regions.into_iter().find(|region| region.decision != "deny") {
            return Err(format!("{server}/{tool}: {region:?}\n{}", shown(documents)));
        }
        for _ in 0..calls {
            let arguments = calls::arguments(at, &mut random);
            let call = Call::from_value(server, tool, &arguments);
            let verdict = analysis.imagined.judge(&call);
            if verdict.decision.strictness() < 2 {
                return Err(format!(
                    "{server}/{tool} {arguments}: {verdict:?}\n{}",
                    shown(documents)
                ));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(25))]

    #[test]
    fn no_call_of_a_tool_is_allowed_that_is_said_to_be_denied(
        documents in arbitrary::documents(), seed in any::<u64>()
    ) {
        if let Err(why) = hold(&documents, seed, 20, &mut Tally::default()) {
            return Err(TestCaseError::fail(why));
        }
    }
}

#[test]
fn the_analysis_tells_more_than_the_engine_alone() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut tally = Tally::default();
    for seed in 1..80_u64 {
        let documents = arbitrary::documents().new_tree(&mut runner).unwrap().current();
        let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
        hold(&documents, seed, 2, &mut tally).unwrap();
    }
    assert!(tally.alone > 20, "{} by the engine alone", tally.alone);
    assert!(
        tally.analysed > tally.alone,
        "{} by the analysis, {} by the engine alone",
        tally.analysed,
        tally.alone
    );
}

/// The tools whose every call the engine says to be denied, and those of which only the analysis says so.
#[track_caller]
fn check(rules: Value, more: &[(DocumentKind, Value)], alone: &[&str], analysed: &[&str]) {
    let named = |rule: &Value, at: usize| {
        let mut rule = rule.clone();
        rule["name"] = format!("r{at}").into();
        rule["reason"] = "".into();
        rule
    };
    let rules = rules.as_array().unwrap().iter().zip(0..);
    let rules: Vec<Value> = rules.map(|(rule, at)| named(rule, at)).collect();
    let mut documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
    ];
    documents.extend(more.iter().cloned());
    let engine = arbitrary::engine(&documents).unwrap();
    let analysis = Analysis::new(&engine);
    let (mut by_engine, mut by_analysis) = (Vec::new(), Vec::new());
    for (server, tool) in analysis.tools() {
        if engine.denies_every_call(server, tool) {
            by_engine.push(tool);
        } else if analysis.denies_every_call(server, tool) {
            by_analysis.push(tool);
        }
    }
    assert_eq!((&*by_engine, &*by_analysis), (alone, analysed));
}

#[test]
fn what_denies_every_call() {
    let sandbox = (DocumentKind::Sandbox, json!("/srv/app"));
    let deny = |conditions: Value| json!([{"if": conditions, "then": "deny"}, {"if": {}, "then": "allow"}]);
    check(json!([{"if": {}, "then": "allow"}]), &[], &[], &[]);
    // No rule is about the others. What lies in the sandbox is allowed.
    let fetch = json!([{"if": {"server": "fetch"}, "then": "escalate"}]);
    let rest = ["push", "open", "attach", "send", "put"];
    check(
        fetch.clone(),
        &[],
        &[&["copy", "move", "read", "add"], &rest[..]].concat(),
        &[],
    );
    check(fetch, std::slice::from_ref(&sandbox), &rest, &[]);
    let files = deny(json!({"server": "filesystem"}));
    check(files.clone(), &[], &["copy", "move", "read"], &[]);
    // A deny rule is heard in the sandbox too, unless other roles are judged in its place.
    check(
        files.clone(),
        std::slice::from_ref(&sandbox),
        &["read"],
        &["copy", "move"],
    );
    let late = (DocumentKind::Options, json!({"sandbox": "after-rules"}));
    check(files, &[sandbox, late], &["copy", "move", "read"], &[]);
    let reading = deny(json!({"roles": "read-path"}));
    check(reading, &[], &["copy", "move", "read", "add", "attach"], &[]);
    // The role of `put` depends on another argument.
    check(
        deny(json!({"roles": "write-path"})),
        &[],
        &["copy", "move", "add"],
        &[],
    );
    // Of `attach` the path is judged, and this rule is heard all the same.
    check(
        deny(json!({"roles": "email-address"})),
        &[],
        &["send"],
        &["attach"],
    );
    check(deny(json!({"tool": "g*"})), &[], &["get"], &[]);
    let gated = (DocumentKind::DomainAllowlists, json!({"fetch": ["good.test"]}));
    check(deny(json!({"tool": "get"})), &[gated], &["get"], &[]);
    let trusted = (DocumentKind::TrustedServers, json!(["fetch"]));
    check(deny(json!({"tool": "get"})), &[trusted], &[], &[]);
    let ceiling = (DocumentKind::Ceiling, json!({"tools": ["read", "get"]}));
    let above = ["copy", "move", "add", "push", "open", "attach", "send", "put"];
    check(json!([{"if": {}, "then": "allow"}]), &[ceiling], &above, &[]);
}

#[test]
fn what_only_a_look_at_values_shows() {
    let rules = json!([
        {"if": {"server": "filesystem", "paths": {"roles": ["read-path", "write-path", "delete-path"], "within": "/etc"}},
         "then": "allow"},
        {"if": {"server": "fetch", "domains": {"roles": "fetch-url", "allowed": ["good.test"]}}, "then": "allow"},
    ]);
    let protected = (DocumentKind::ProtectedPaths, json!(["/etc"]));
    let others = ["add", "push", "open", "attach", "send", "put"];
    check(rules.clone(), &[protected], &others, &["copy", "move", "read"]);
    // Where the division is not exact, nothing is said.
    let patterns = (DocumentKind::ProtectedPaths, json!(["/etc", "/srv/*/key"]));
    check(rules, &[patterns], &others, &[]);
}

/// Of two directories to search, each is denied, and the rule that allows the tool is heard where the call has neither.
#[test]
fn calls_without_any_path_are_looked_at() {
    let tool = json!({
        "toolName": "search",
        "args": {"include": "read-path", "exclude": "read-path"},
        "inputSchema": {"properties": {"include": {"type": "string"}, "exclude": {"type": "string"}}},
    });
    let rule = |name: &str, conditions: Value, effect: &str| json!({"name": name, "if": conditions, "then": effect, "reason": ""});
    let rules = json!([
        rule(
            "no-reading",
            json!({"paths": {"roles": "read-path", "within": "/"}}),
            "deny"
        ),
        rule("search", json!({"tool": "search"}), "allow"),
    ]);
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (
            DocumentKind::Annotations,
            json!({"servers": {"s": {"tools": [tool]}}}),
        ),
    ];
    let engine = arbitrary::engine(&documents).unwrap();
    let call = json!({});
    let analysis = Analysis::new(&engine);
    let verdict = analysis.imagined.judge(&Call::from_value("s", "search", &call));
    let is_denied = analysis.denies_every_call("s", "search");
    assert_eq!((verdict.decision, is_denied), (Decision::Allow, false));
}

/// The values that come first are refused whatever the others are, and yet calls are allowed.
#[test]
fn values_that_are_refused_hide_nothing_about_others() {
    // As entries of the rules themselves they would be errors.
    let unresolvable = ["@odd"];
    let list = json!({"values": ["a/b", "c/d"], "manualAdditions": [], "manualRemovals": []});
    let lists = (DocumentKind::Lists, json!({"lists": {"odd": list}}));
    let rules = json!([{"if": {"lists": [
        {"roles": "github-owner", "allowed": unresolvable, "matchType": "identifiers"},
        {"roles": "github-repo", "allowed": unresolvable, "matchType": "identifiers"},
    ]}, "then": "escalate"}, {"if": {"tool": ["open", "move"]}, "then": "allow"}]);
    let everything = (DocumentKind::ProtectedPaths, json!(["/etc", "/srv", "/home"]));
    let others = ["get", "copy", "read", "add", "push", "attach", "send", "put"];
    check(rules, &[everything, lists], &others, &[]);
}
