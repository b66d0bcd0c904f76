//! Contexts of calls: what is said of them, and calls that carry them.

use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use super::worlds;
use crate::{Analysis, Comparison, Coverage, Outcome, Region, Target, asked, check_invariants, lint_policy};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;

/// A world in which `dev` writes below `in`, if these conditions hold.
fn documents(when: &[&str]) -> Documents {
    let reading = json!({"commands": [["read", "get"]], "when": []});
    let writing = json!({"commands": [["write", "put"]], "when": when});
    let row = |mode: &str, below: Option<&str>, rules: Value| json!({"mode": mode, "root": "game", "subdirectory": below, "rules": rules});
    let visible = |mode: &str| json!({"mode": mode, "root": "game", "subdirectory": null, "when": []});
    vec![
        (
            DocumentKind::Policy,
            json!({"rules": [{"name": "all", "if": {"server": "s"}, "then": "allow", "reason": "r"}]}),
        ),
        (
            DocumentKind::Annotations,
            json!({"servers": {"s": {"tools": [
                {"toolName": "read", "args": {"at": "address"}},
                {"toolName": "write", "args": {"at": "address", "from": "read-path"}},
                {"toolName": "list", "args": {"path": "read-path"}},
            ]}}}),
        ),
        (
            DocumentKind::World,
            json!({
                "roots": {"game": "/srv/game"}, "mounts": {"dragons": "/srv/game/in/dragons"},
                "visibility": [visible("play"), visible("dev")],
                "operations": [
                    row("play", None, json!([reading])),
                    row("dev", None, json!([reading])),
                    row("dev", Some("in"), json!([writing])),
                ],
            }),
        ),
    ]
}

fn engine(when: &[&str]) -> Engine {
    arbitrary::engine(&documents(when)).unwrap()
}

/// Each row of a tool's map that is not about the form of calls: `decision: argument is; argument is`.
fn rows(engine: &Engine, tool: &str) -> Vec<String> {
    let regions = Analysis::new(engine).tool("s", tool).unwrap();
    assert_eq!(regions.inexact, Vec::<String>::new());
    let rows = regions.rows().into_iter().filter(|row| !row.is_about_form());
    let shown = rows.map(|row| {
        let verdict = Analysis::new(engine)
            .imagined
            .judge(&asked::call("s", tool, &row.arguments, row.context.as_ref()))
            .decision
            .as_str();
        assert_eq!(verdict, row.decision, "{row:?}");
        let places = row
            .places
            .iter()
            .map(|one| format!("{} {}", one.argument, one.is.join(" | ")));
        format!("{}: {}", row.decision, places.collect::<Vec<_>>().join("; "))
    });
    shown.collect()
}

#[test]
fn a_map_says_in_which_contexts_a_place_may_be_reached() {
    let engine = engine(&["has_contract"]);
    let allowed: Vec<String> = rows(&engine, "write")
        .into_iter()
        .filter(|row| row.starts_with("allow: at under"))
        .collect();
    let writing = "in mode `dev`, for the command `put`, with a contract";
    let both = format!("{writing}, in a session with the mod | {writing}, in a session without the mod");
    let places = "under root:game/in but not root:game/in/dragons | under root:game/in/dragons";
    assert_eq!(
        allowed,
        [
            format!("allow: at under mod:dragons; the context {writing}, in a session with the mod"),
            format!("allow: at {places}; the context {both}"),
        ]
    );
    // What a context does not change is not multiplied by it.
    let list = Analysis::new(&engine).tool("s", "list").unwrap();
    assert!(
        list.calls < 10
            && list
                .parts
                .iter()
                .flat_map(|part| &part.regions)
                .all(|one| one.context.is_none())
    );
}

#[test]
fn a_path_is_reached_by_its_addresses() {
    let engine = engine(&["has_contract"]);
    let reached = |path: &str| {
        let analysis = Analysis::new(&engine).reaching(Target::parse(path));
        let parts = analysis.tool("s", "write").unwrap().parts;
        let regions = parts.into_iter().flat_map(|part| part.regions);
        let is_about = |one: &Region| one.places.iter().any(|place| place.argument == "at");
        let allowed = regions.filter(|one| one.decision == "allow" && is_about(one));
        let addresses = allowed.filter_map(|one| {
            let address = one.arguments["at"].as_str()?;
            Some(address.to_owned())
        });
        let mut found: Vec<String> = addresses.collect();
        found.dedup();
        found
    };
    assert_eq!(
        reached("/srv/game/in/dragons/x"),
        ["mod:dragons/x", "root:game/in/dragons/x"]
    );
    assert_eq!(reached("/srv/game/out"), [] as [&str; 0]);
    assert_eq!(reached("/etc"), [] as [&str; 0]);
}

#[test]
fn a_comparison_says_what_another_world_changes() {
    let (old, new) = (engine(&["has_contract"]), engine(&[]));
    for (before, after, is_looser) in [(&old, &new, true), (&new, &old, false)] {
        let comparison = Comparison::new(before, after);
        let changes = comparison.tool("s", "write").unwrap();
        assert_eq!(changes.unknown, Vec::<String>::new());
        assert_eq!(
            (changes.looser.is_empty(), changes.stricter.is_empty()),
            (!is_looser, is_looser)
        );
        let shown = changes.looser.iter().chain(&changes.stricter);
        for change in shown {
            let context = change.context.as_ref().unwrap();
            assert_eq!(
                (&context["mode"], context.get("has_contract")),
                (&json!("dev"), None),
                "{change:?}"
            );
            for (engine, said) in [(before, &change.before), (after, &change.after)] {
                let analysis = Analysis::new(engine);
                let call = asked::call("s", "write", &change.arguments, change.context.as_ref());
                assert_eq!(analysis.imagined.judge(&call).decision.as_str(), said.decision);
            }
        }
        let others = comparison.tool("s", "read").unwrap();
        assert!(others.is_empty(), "{others:?}");
    }
    let same = Comparison::new(&old, &old).tool("s", "write").unwrap();
    assert!(same.is_empty(), "{same:?}");
}

#[test]
fn a_comparison_divides_a_world_that_comes_or_goes() {
    let own = documents(&["has_contract"]);
    let plain = worlds::without_world(&own, "read-path");
    let (with, without) = (engine(&["has_contract"]), arbitrary::engine(&plain).unwrap());
    let changes = |before: &Engine, after: &Engine, tool: &str| {
        let changes = Comparison::new(before, after).tool("s", tool).unwrap();
        assert_eq!(changes.unknown, Vec::<String>::new());
        let all = [("looser", changes.looser), ("stricter", changes.stricter)];
        let all = all.map(|(how, all)| {
            all.into_iter().map(move |one| {
                let at = one.places.iter().find(|place| place.argument == "at");
                let at = at.map_or_else(String::new, |at| at.is.join(" | "));
                format!("{how}: {at}, {} to {}", one.before.rule, one.after.rule)
            })
        });
        all.into_iter().flatten().collect::<Vec<_>>()
    };
    let comes = changes(&without, &with, "write");
    let has = |found: &[String], begin: &str, end: &str| {
        let is_it = |one: &String| one.starts_with(begin) && one.ends_with(end);
        assert!(found.iter().any(is_it), "{begin} … {end} is not among {found:#?}");
    };
    has(
        &comes,
        "stricter: under mod:dragons",
        "all to structural-operation",
    );
    has(
        &comes,
        "stricter: no address of the world | elsewhere",
        "all to structural-visibility",
    );
    assert!(
        comes.iter().all(|one| one.starts_with("stricter: ")),
        "{comes:#?}"
    );
    let goes = changes(&with, &without, "write");
    has(
        &goes,
        "looser: no address of the world | elsewhere",
        "structural-visibility to all",
    );
    assert!(goes.iter().all(|one| one.starts_with("looser: ")), "{goes:#?}");
    // A tool without addresses is judged as before.
    assert_eq!(changes(&without, &with, "list"), [""; 0]);
    assert_eq!(changes(&with, &without, "list"), [""; 0]);
}

#[test]
fn a_statement_is_about_every_context() {
    let mut parts = documents(&["has_contract"]);
    parts.push((
        DocumentKind::Invariants,
        json!([
            {"never": {"decision": "allow", "tool": "write", "roles": ["address"], "within": "/srv/game/in"}},
            {"never": {"decision": "allow", "tool": "write", "roles": ["address"], "within": "/srv/game/out"}},
        ]),
    ));
    let engine = arbitrary::engine(&parts).unwrap();
    let found = check_invariants(&engine, None, &|_| {});
    let [refuted, proven] = [&found[0].outcome, &found[1].outcome];
    match refuted {
        Outcome::Refuted { call, .. } => {
            assert_eq!(
                call["context"],
                json!({"mode": "dev", "command": "put", "has_contract": true})
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(proven, Outcome::Proven { .. }), "{proven:?}");
}

#[test]
fn scenarios_reach_the_contexts_in_which_they_are_judged() {
    let engine = engine(&["has_contract"]);
    let analysis = Analysis::new(&engine);
    let missing = |coverage: &Coverage<'_, '_>| {
        let unreached = coverage.report().unreached;
        let own = unreached.into_iter().filter(|one| one.tool_name == "read");
        own.collect::<Vec<_>>()
    };
    let mut coverage = Coverage::new(&analysis);
    let first = missing(&coverage);
    assert!(
        first
            .iter()
            .any(|one| one.decision == "allow" && one.context.is_some())
    );
    for one in &first {
        let call = asked::call("s", "read", &one.arguments, one.context.as_ref());
        let verdict = analysis.imagined.judge(&call);
        assert_eq!(
            (verdict.decision.as_str(), &*verdict.rule),
            (one.decision, &*one.rule)
        );
        coverage.add(&analysis, "s", "read", [(&call, &verdict)]);
    }
    assert_eq!(missing(&coverage), []);
    assert_eq!(coverage.report().outside, 0);
}

#[test]
fn a_rule_that_only_some_contexts_reach_decides_something() {
    let found = |tools: [&str; 2]| {
        let mut parts = documents(&["has_contract"]);
        let rules = json!([
            {"name": "one", "if": {"roles": "address", "tool": [tools[0], "read"]}, "then": "allow", "reason": "r"},
            {"name": "two", "if": {"roles": "address", "tool": tools[1]}, "then": "escalate", "reason": "r"},
            {"name": "three", "if": {"roles": "read-path"}, "then": "allow", "reason": "r"},
        ]);
        parts[0].1 = json!({"rules": rules});
        let sources: Vec<(DocumentKind, DocumentSource<'_>)> = parts
            .iter()
            .map(|(kind, value)| (*kind, DocumentSource::Value(value)))
            .collect();
        let found = lint_policy(&sources, &arbitrary::Home, None, &|_| {}).unwrap();
        let places = found.into_iter().map(|one| one.diagnostic.path);
        places
            .filter(|place| place.starts_with("policy.rules"))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(["write", "write"]), ["policy.rules[1]"]);
    assert_eq!(found(["read", "write"]), [] as [&str; 0]);
}

#[test]
fn a_rule_that_a_world_leaves_nothing_to_is_said_to_be_so() {
    let mut parts = documents(&["has_contract"]);
    let rules = json!([
        {"name": "reads", "if": {"roles": "address", "tool": "read"}, "then": "allow", "reason": "r"},
        {"name": "keys", "if": {"paths": {"roles": ["read-path"], "within": "/srv/keys"}}, "then": "allow", "reason": "r"},
        {"name": "orders", "if": {"roles": "address", "tool": "order"}, "then": "allow", "reason": "r"},
    ]);
    parts[0].1 = json!({"rules": rules});
    let tools = parts[1].1["servers"]["s"]["tools"].as_array_mut().unwrap();
    tools.push(json!({
        "toolName": "order", "args": {"at": "address"},
        "inputSchema": {"properties": {"at": {"type": "string"}}, "required": ["at"]},
    }));
    parts.push((DocumentKind::ProtectedPaths, json!(["/srv/keys"])));
    let sources: Vec<(DocumentKind, DocumentSource<'_>)> = parts
        .iter()
        .map(|(kind, value)| (*kind, DocumentSource::Value(value)))
        .collect();
    let found = lint_policy(&sources, &arbitrary::Home, None, &|_| {}).unwrap();
    let found = found
        .iter()
        .filter(|one| one.diagnostic.path.starts_with("policy.rules"));
    let found: Vec<(&str, bool)> = found
        .map(|one| (&*one.diagnostic.message, one.call.is_some()))
        .collect();
    assert_eq!(
        found,
        [
            (
                "the rule `keys` decides nothing: what it matches is decided by `structural-protected-path`",
                true
            ),
            (
                "the rule `orders` decides nothing: what it matches is decided by `structural-operation` and \
                 `structural-visibility`",
                true
            ),
        ]
    );
}
