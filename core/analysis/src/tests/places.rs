//! Values that are read in more than one way: places under other names, addresses in other forms, texts in arrays.

use serde_json::{Value, json};

use super::arbitrary;
use crate::{Analysis, ToolRegions};
use callgate_engine::config::DocumentKind;

/// The regions of a tool, as `decision rule: what the argument is`.
fn regions(
    rules: Value,
    more: &[(DocumentKind, Value)],
    server: &str,
    tool: &str,
) -> (Vec<String>, ToolRegions) {
    let mut documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
    ];
    documents.extend(more.iter().cloned());
    let engine = arbitrary::engine(&documents).unwrap();
    let found = Analysis::new(&engine).tool(server, tool).unwrap();
    let parts = found.parts.iter();
    let shown = parts.flat_map(|part| {
        part.regions.iter().map(|region| {
            let when = part.when.iter().map(|place| &place.is);
            let places = region.places.iter().map(|place| &place.is);
            let all: Vec<&str> = when.chain(places).map(String::as_str).collect();
            format!("{} {}: {}", region.decision, region.rule, all.join(" + "))
        })
    });
    (shown.collect(), found)
}

fn rule(name: &str, conditions: Value, effect: &str) -> Value {
    json!({"name": name, "if": conditions, "then": effect, "reason": ""})
}

#[track_caller]
fn holds(found: &[String], expected: &[&str]) {
    for one in expected {
        assert!(
            found.iter().any(|known| known == one),
            "{one} is not among {found:#?}"
        );
    }
}

#[test]
fn a_server_has_names_for_some_places() {
    let read = |within: &str| json!({"paths": {"roles": "read-path", "within": within}});
    let shared = |names: Value| {
        (
            DocumentKind::Options,
            json!({"serverPaths": {"filesystem": names}}),
        )
    };
    // Nothing else names the directory in which reading is allowed.
    let rules = json!([rule("home", read("/home"), "allow")]);
    let (found, regions) = regions(
        rules.clone(),
        &[shared(json!({"/home/u/app": "/work"}))],
        "filesystem",
        "read",
    );
    holds(
        &found,
        &[
            "allow home: under /home/u/app",
            "deny structural-unresolvable-value: under /home but not /home/u/app",
        ],
    );
    assert!(regions.inexact.is_empty());
    // What the server calls `/work/in` is another place.
    let names = shared(json!({"/home/u/app": "/work", "/etc": "/work/in"}));
    let (found, _) = self::regions(rules, std::slice::from_ref(&names), "filesystem", "read");
    holds(
        &found,
        &[
            "allow home: under /home/u/app but not /home/u/app/in",
            "deny structural-unresolvable-value: under /home/u/app/in",
        ],
    );
    // Of two arguments, both must be where the server has names.
    let (found, _) = self::regions(
        json!([rule("all", json!({}), "allow")]),
        std::slice::from_ref(&names),
        "filesystem",
        "move",
    );
    holds(
        &found,
        &[
            "allow all: under /etc",
            "deny structural-unresolvable-value: elsewhere: not under /etc or /home/u/app",
        ],
    );
    // A protected pattern matches there.
    let protected = (DocumentKind::ProtectedPaths, json!(["**/.env"]));
    let (found, _) = self::regions(json!([]), &[names, protected], "filesystem", "read");
    holds(
        &found,
        &["deny structural-protected-path: under /etc, matching `**/.env`"],
    );
}

#[test]
fn addresses_are_written_in_several_ways() {
    let hosts = |allowed: Value| json!({"domains": {"roles": "fetch-url", "allowed": allowed}});
    let rules = json!([
        rule("metadata", hosts(json!(["169.254.169.254", "::1"])), "deny"),
        rule("local", hosts(json!(["[::1]", "192.0.2.1"])), "allow"),
        rule("rest", json!({"roles": "fetch-url"}), "escalate"),
    ]);
    let (found, regions) = regions(rules, &[], "fetch", "get");
    holds(
        &found,
        &[
            "deny metadata: `169.254.169.254`",
            "deny metadata: an IPv6 address that carries 169.254.169.254",
            "deny metadata: `::1`",
            "allow local: `192.0.2.1`",
            "escalate rest: an IPv6 address that carries 192.0.2.1",
            "escalate rest: an IP address that nothing names",
        ],
    );
    let all = regions.parts.iter().flat_map(|part| &part.regions);
    let is_broken = |region: &&crate::Region| {
        let url = region.arguments.get("url").and_then(Value::as_str);
        url.is_some_and(|url| url.contains("//::1"))
    };
    assert_eq!(all.into_iter().find(is_broken), None);
    // One address may carry two others, of which a rule wants both.
    let both = json!({
        "domains": {"roles": "fetch-url", "allowed": ["127.0.0.1"]},
        "lists": [{"roles": "fetch-url", "allowed": ["192.0.2.1"], "matchType": "domains"}],
    });
    let (_, regions) = self::regions(json!([rule("both", both, "deny")]), &[], "fetch", "get");
    assert_eq!(
        regions.inexact,
        ["IPv6 addresses that carry several IPv4 addresses which the rule `both` names"]
    );
}

#[test]
fn a_restriction_sees_the_items_of_an_array() {
    let rules = json!([
        rule(
            "never-main",
            json!({"args": [{"arg": "branch", "equals": "main"}]}),
            "deny"
        ),
        rule(
            "listed",
            json!({"lists": [{"roles": "branch-name", "allowed": ["main"], "matchType": "identifiers"}]}),
            "allow"
        ),
        rule(
            "any-repository",
            json!({"roles": ["github-owner", "github-repo"]}),
            "allow"
        ),
    ]);
    let (found, regions) = regions(rules, &[], "github", "open");
    let denied = found
        .iter()
        .any(|one| one.starts_with("deny never-main: `main` + "));
    assert!(denied, "{found:#?}");
    // A condition on an argument compares the text: another spelling of the branch is another one there.
    let allows_main = |one: &String| one.starts_with("allow ") && one.contains("`main`");
    assert!(!found.iter().any(allows_main), "{found:#?}");
    assert_eq!(regions.inexact, Vec::<String>::new());
}
