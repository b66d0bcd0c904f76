//! Tools with roles, and rules about them.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use crate::common::engines::rule;

const PATH_ROLES: &[&str] = &["read-path", "write-path", "delete-path", "write-history"];
const ROLES: &[&str] = &[
    "read-path",
    "write-path",
    "delete-path",
    "fetch-url",
    "git-remote-url",
    "github-owner",
    "branch-name",
    "email-address",
    "none",
];
const SERVERS: &[&str] = &["filesystem", "git", "fetch", "notes"];
/// The servers of tools. `filesystem` and `git` are frequent because the engine treats them specially.
const HOMES: &[&str] = &["filesystem", "filesystem", "git", "git", "fetch", "notes"];
pub(super) const TOOLS: &[&str] = &["t0", "t1", "t2"];
/// Patterns of the names above.
const PATTERNS: &[&str] = &["file*", "*t*", "g*", "*"];
const NAMES: &[&str] = &["path", "a", "b", "c"];

/// A stored tool, with the roles that its arguments have by default.
pub(super) type Tool = (Value, Vec<(String, Vec<String>)>);

fn roles(from: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    subsequence(from, 1..=most).prop_map(|roles| roles.into_iter().map(str::to_owned).collect())
}

/// A tool of a server, with roles of its arguments, some of them conditional on `mode`.
pub(super) fn tool(name: &'static str) -> impl Strategy<Value = Tool> {
    let of = |from, most| {
        prop::collection::vec(
            (select(NAMES), roles(from, 2), prop::bool::weighted(0.15)),
            0..most,
        )
    };
    let arguments = prop_oneof![of(ROLES, 4), of(&PATH_ROLES[..2], 3)];
    (select(HOMES), arguments, any::<bool>()).prop_map(move |(server, arguments, listed)| {
        let (mut args, mut plain) = (Map::new(), Vec::new());
        for (argument, roles, conditional) in arguments {
            let stored = if conditional {
                let condition = json!({"arg": "mode", "equals": "safe"});
                json!({"default": roles, "when": [{"condition": condition, "roles": [roles[0]]}]})
            } else {
                json!(roles)
            };
            args.insert(argument.to_owned(), stored);
            plain.push((argument.to_owned(), roles));
        }
        args.entry("mode").or_insert_with(|| json!(["none"]));
        let mut tool = json!({"serverName": server, "toolName": name, "comment": "", "args": args});
        if listed {
            tool["inputSchema"] = json!({"type": "object", "properties": {"mode": {}, "path": {}}});
        }
        (tool, plain)
    })
}

pub(super) fn domains() -> impl Strategy<Value = Vec<&'static str>> {
    let patterns = vec![
        "good.test",
        "*.good.test",
        "evil.test",
        "github.com",
        "*",
        "Evil.Test.",
    ];
    prop::collection::vec(select(patterns), 1..3)
}

fn list() -> impl Strategy<Value = Value> {
    let entries = |from: Vec<&'static str>| prop::collection::vec(select(from), 1..3);
    prop_oneof![
        (roles(&["fetch-url", "git-remote-url"], 2), domains())
            .prop_map(|(roles, allowed)| json!({"roles": roles, "allowed": allowed, "matchType": "domains"})),
        (
            roles(&["email-address"], 1),
            entries(vec!["eve@evil.test", "bob@good.test", "x"])
        )
            .prop_map(|(roles, allowed)| json!({"roles": roles, "allowed": allowed, "matchType": "emails"})),
        (
            roles(&["github-owner", "branch-name"], 2),
            entries(vec!["acme", "Evil", "main", "x"])
        )
            .prop_map(
                |(roles, allowed)| json!({"roles": roles, "allowed": allowed, "matchType": "identifiers"})
            ),
    ]
}

/// Some of the names, and sometimes a pattern.
fn names(
    of: &'static [&'static str],
    patterns: &'static [&'static str],
) -> impl Strategy<Value = Vec<&'static str>> {
    let pattern = prop::option::weighted(0.3, select(patterns));
    (subsequence(of, 1..3), pattern).prop_map(|(mut names, pattern)| {
        names.extend(pattern);
        names
    })
}

/// A condition on an argument, whatever its roles.
fn argument_condition() -> impl Strategy<Value = Value> {
    let values = vec![
        json!("safe"),
        json!("/box/in/f"),
        json!("main"),
        json!(1),
        json!(true),
        json!(null),
    ];
    let test = prop_oneof![
        select(vec!["present", "absent", "truthy", "falsy"]).prop_map(|word| ("is", json!(word))),
        select(values.clone()).prop_map(|value| ("equals", value)),
        subsequence(values, 1..3).prop_map(|values| ("in", json!(values))),
    ];
    (select(vec!["mode", "path", "a", "b", "c"]), test).prop_map(|(argument, (word, value))| {
        let mut condition = json!({"arg": argument});
        condition[word] = value;
        condition
    })
}

/// The conditions of a rule.
pub(crate) fn condition() -> impl Strategy<Value = Value> {
    let maybe = |weight: f64| prop::bool::weighted(weight);
    let parts = (
        prop::option::weighted(0.3, roles(ROLES, 3)),
        prop::option::weighted(0.3, names(SERVERS, PATTERNS)),
        prop::option::weighted(0.1, names(TOOLS, &["t*", "*1", "t2*"])),
        prop::option::weighted(0.4, (roles(PATH_ROLES, 3), path_of_rule())),
        prop::option::weighted(0.25, (roles(&["fetch-url", "git-remote-url"], 2), domains())),
        prop::collection::vec(list(), 0..3),
        maybe(0.6),
        prop::option::weighted(0.15, prop::collection::vec(argument_condition(), 1..3)),
    );
    parts.prop_map(|(roles, server, tool, paths, domains, lists, unlisted, args)| {
        let mut condition = Map::new();
        let mut set =
            |key: &str, value: Option<Value>| value.map(|value| condition.insert(key.to_owned(), value));
        set("roles", roles.map(|roles| json!(roles)));
        set("server", server.map(|server| json!(server)));
        set("tool", tool.map(|tool| json!(tool)));
        set(
            "paths",
            paths.map(|(roles, within)| json!({"roles": roles, "within": within})),
        );
        set(
            "domains",
            domains.map(|(roles, allowed)| json!({"roles": roles, "allowed": allowed})),
        );
        set("lists", (!lists.is_empty() && !unlisted).then(|| json!(lists)));
        set("args", args.map(|args| json!(args)));
        Value::Object(condition)
    })
}

/// Conditions on values only, often on values of several roles.
fn condition_on_values() -> impl Strategy<Value = Value> {
    let parts = (
        prop::collection::vec(list(), 0..3),
        prop::option::weighted(0.3, (roles(&["fetch-url", "git-remote-url"], 2), domains())),
    );
    parts.prop_map(|(lists, domains)| {
        let mut condition = json!({"lists": lists});
        if let Some((roles, allowed)) = domains {
            condition["domains"] = json!({"roles": roles, "allowed": allowed});
        }
        condition
    })
}

fn path_of_rule() -> impl Strategy<Value = &'static str> {
    select(vec![
        "/", "/box", "/box/in", "/box/l", "/secret", "/out", "/home/u", "~", "~/.ssh", "/out/l", "/none",
    ])
}

/// Rules of any kind, rarely with a last one for all other calls.
pub(super) fn rules() -> impl Strategy<Value = Value> {
    let last = prop::option::of(select(vec!["allow", "allow", "escalate"]));
    (prop::collection::vec((condition(), effect()), 0..7), last).prop_map(|(rules, last)| named(rules, last))
}

/// Rules about values, and a last one that allows all other calls.
pub(super) fn rules_on_values() -> impl Strategy<Value = Value> {
    prop::collection::vec((condition_on_values(), effect()), 1..4)
        .prop_map(|rules| named(rules, Some("allow")))
}

fn effect() -> impl Strategy<Value = &'static str> {
    select(vec!["allow", "allow", "escalate", "deny"])
}

fn named(rules: Vec<(Value, &str)>, last: Option<&str>) -> Value {
    let last = last.map(|effect| (json!({}), effect));
    let rules = rules.into_iter().chain(last).enumerate();
    rules
        .map(|(at, (condition, effect))| rule(&format!("r{at}"), condition, effect))
        .collect()
}
