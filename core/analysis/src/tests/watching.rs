//! Whoever waits for an analysis is told of everything that is looked at.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::arbitrary::{self, Home};
use crate::{Analysis, Comparison, Coverage, Watcher, check_invariants, lint_policy};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;

fn documents() -> Vec<(DocumentKind, Value)> {
    let tools = json!([{"toolName": "get", "args": {"url": "fetch-url"}}, {"toolName": "put", "args": {"url": "fetch-url"}}]);
    let rule = |name: &str, host: &str| json!({"name": name, "if": {"domains": {"roles": "fetch-url", "allowed": [host]}}, "then": "allow", "reason": ""});
    let statement =
        |name: &str, tool: &str| json!({"name": name, "never": {"decision": "allow", "tool": tool}});
    vec![
        (
            DocumentKind::Policy,
            json!({"rules": [rule("a", "a.test"), rule("b", "b.test")]}),
        ),
        (
            DocumentKind::Annotations,
            json!({"servers": {"web": {"tools": tools}}}),
        ),
        (
            DocumentKind::Invariants,
            json!([statement("one", "*"), statement("two", "put")]),
        ),
    ]
}

fn engine() -> Engine {
    arbitrary::engine(&documents()).unwrap()
}

/// The messages to a watcher, as a person reads them.
fn told(run: impl FnOnce(Watcher<'_>)) -> Vec<String> {
    let lines = RefCell::new(Vec::new());
    run(&|progress| lines.borrow_mut().push(progress.to_string()));
    lines.into_inner()
}

const TOOLS: [&str; 2] = ["tool 1 of 2: web/get", "tool 2 of 2: web/put"];

#[test]
fn every_tool_is_told_of() {
    let engine = engine();
    let map = told(|watcher| {
        let analysis = Analysis::new(&engine).watched(watcher);
        for (server, name) in analysis.tools() {
            analysis.tool(server, name).unwrap();
        }
        assert!(analysis.tool("web", "none").is_none());
    });
    assert_eq!(map, TOOLS);
    let coverage = told(|watcher| {
        let analysis = Analysis::new(&engine).watched(watcher);
        Coverage::new(&analysis).report();
    });
    assert_eq!(coverage, TOOLS);
    let diff = told(|watcher| {
        let comparison = Comparison::new(&engine, &engine).watched(watcher);
        for (server, name) in comparison.tools() {
            comparison.tool(server, name).unwrap();
        }
        assert!(comparison.tool("web", "none").is_none());
    });
    assert_eq!(diff, TOOLS);
}

#[test]
fn lint_tells_of_rules_too() {
    let documents = documents();
    let parts: Vec<_> = documents
        .iter()
        .map(|(kind, value)| (*kind, value.into()))
        .collect();
    let found = told(|watcher| {
        lint_policy(&parts, &Home, None, watcher).unwrap();
    });
    assert_eq!(found, [TOOLS[0], TOOLS[1], "rule 1 of 2: a", "rule 2 of 2: b"]);
}

#[test]
fn a_tool_that_is_looked_at_for_a_statement_is_told_of_with_it() {
    let engine = engine();
    let found = told(|watcher| {
        check_invariants(&engine, None, watcher);
    });
    assert_eq!(
        found,
        [
            "statement 1 of 2: one, tool 1 of 2: web/get",
            "statement 2 of 2: two, tool 2 of 2: web/put",
        ]
    );
}
