//! Policies as people write them: answers about them are known, and hide no call.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use crate::{Analysis, Bounds, Comparison, Outcome, Target, check_invariants};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;

fn documents(rules: Value, tools: Value, more: &[(DocumentKind, Value)]) -> Documents {
    let mut parts = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, json!({"servers": tools})),
    ];
    parts.extend_from_slice(more);
    parts
}

fn engine(documents: &Documents) -> Engine {
    arbitrary::engine(documents).expect("the documents are valid")
}

fn rule(name: &str, condition: Value, effect: &str) -> Value {
    json!({"name": name, "if": condition, "then": effect, "reason": ""})
}

fn tool(server: &str, name: &str, args: Value) -> Value {
    json!({server: {"tools": [{"toolName": name, "args": args}]}})
}

#[test]
fn calls_of_which_no_argument_tells_are_judged_as_their_annotation_says() {
    let documents = |unjudged: &str| {
        let status = json!({"tool": "run", "args": [{"arg": "command", "equals": "git status"}]});
        let rules = json!([
            rule("status", status, "allow"),
            rule("all", json!({"server": "sh"}), "allow"),
        ]);
        let tools = json!({"sh": {"unjudged": unjudged, "tools": [
            {"toolName": "run", "kind": "execute", "args": {"command": "none"}},
        ]}});
        documents(rules, tools, &[])
    };
    let asking = engine(&documents("ask"));
    let analysis = Analysis::new(&asking);
    let regions = analysis.tool("sh", "run").unwrap();
    let found = regions.parts.iter().flat_map(|part| &part.regions);
    let found: BTreeSet<_> = found.map(|one| (one.decision, &*one.rule)).collect();
    // What the other rule allows it does not decide about, since it names no tool.
    let expected = [("allow", "status"), ("escalate", "structural-opaque-tool")];
    assert_eq!(found, BTreeSet::from(expected));
    assert_eq!(
        regions.inexact,
        ["arguments that no annotation names, at which a rule that allows has to look"]
    );
    assert!(!analysis.denies_every_call("sh", "run"));
    let denying = engine(&documents("deny"));
    let allowing = engine(&documents("allow"));
    assert!(!allowing.denies_every_call("sh", "run"));
    for (old, new, is_looser, is_stricter) in [
        (&asking, &denying, false, true),
        (&denying, &allowing, true, false),
        (&asking, &allowing, true, false),
    ] {
        let changes = Comparison::new(old, new).tool("sh", "run").unwrap();
        assert_eq!(!changes.looser.is_empty(), is_looser, "{changes:?}");
        assert_eq!(!changes.stricter.is_empty(), is_stricter, "{changes:?}");
    }
}

/// The rules of the recipe that protects branches.
fn pushes(branches: &[&str], hosts: &[&str]) -> Documents {
    let listed = json!([{"roles": "branch-name", "allowed": branches, "matchType": "identifiers"}]);
    let forced =
        json!({"tool": "push", "roles": "git-remote-url", "args": [{"arg": "force", "is": "truthy"}]});
    let known = json!({"tool": "push", "domains": {"roles": "git-remote-url", "allowed": hosts}});
    let rules = json!([
        rule("protected", json!({"tool": "push", "lists": listed}), "deny"),
        rule("forced", forced, "deny"),
        rule("known", known, "allow"),
    ]);
    let args =
        json!({"repo": "read-path", "remote": "git-remote-url", "branch": "branch-name", "force": "none"});
    let more = [
        (DocumentKind::Sandbox, json!("/srv/app")),
        (
            DocumentKind::ProtectedPaths,
            json!(["**/.git", "/srv/app/callgate.json"]),
        ),
    ];
    documents(rules, tool("git", "push", args), &more)
}

#[test]
fn what_changes_about_pushes_is_known() {
    let old = engine(&pushes(&["main", "release"], &["github.com/acme/*"]));
    for (branches, hosts, expected) in [
        (
            &["main", "release", "stable"][..],
            &["github.com/acme/*"][..],
            [0, 1],
        ),
        (&["main"], &["github.com/acme/*"], [1, 0]),
        (
            &["main", "release"],
            &["github.com/acme/*", "gitlab.com/acme/*"],
            [1, 0],
        ),
        (&["main", "release"], &["github.com/acme/app"], [0, 1]),
        (&["main", "release"], &["github.com/acme/*"], [0, 0]),
    ] {
        let new = engine(&pushes(branches, hosts));
        let changes = Comparison::new(&old, &new).tool("git", "push").unwrap();
        let found = [&changes.looser, &changes.stricter].map(|all| usize::from(!all.is_empty()));
        assert_eq!(
            (found, changes.unknown.as_slice()),
            (expected, &[] as &[String]),
            "{branches:?} {hosts:?}"
        );
    }
}

#[test]
fn what_is_not_looked_at_is_not_called_empty() {
    let rules = json!([
        rule(
            "hosts",
            json!({"domains": {"roles": "git-remote-url", "allowed": ["evil.test", "*", "good.test/x/*"]}}),
            "allow"
        ),
        rule(
            "branches",
            json!({"lists": [{"roles": "branch-name", "allowed": ["x", "y"], "matchType": "identifiers"}]}),
            "escalate"
        ),
    ]);
    let args = json!({"path": "write-history", "remote": "git-remote-url", "branch": "branch-name"});
    let always = json!([{"always": {"decision": ["allow", "escalate"], "within": "/srv"}}]);
    let all = documents(
        rules,
        tool("git", "push", args),
        &[(DocumentKind::Invariants, always)],
    );
    let engine = engine(&all);
    let found = check_invariants(&engine, None, &|_| {});
    assert!(
        matches!(found[0].outcome, Outcome::Refuted { decision: "deny", .. }),
        "{found:?}"
    );
    // Nothing at all is looked at.
    let few = Bounds {
        calls: 0,
        ..Bounds::default()
    };
    let regions = Analysis::new(&engine).within(few).tool("git", "push").unwrap();
    assert!(!regions.inexact.is_empty(), "{regions:?}");
}

#[test]
fn a_directory_that_is_no_repository_is_not_forgotten() {
    let listed = json!([{"roles": "branch-name", "allowed": ["main"], "matchType": "identifiers"}]);
    let rules = json!([
        rule("main", json!({"lists": listed}), "escalate"),
        rule("look", json!({"tool": "show"}), "allow"),
    ]);
    let args = json!({"repo": "read-path", "branch": "branch-name"});
    for (server, is_known) in [("git", false), ("forge", true)] {
        let statements = json!([{"never": {"decision": "deny", "tool": "show"}}, {"never": {"decision": "allow", "roles": "branch-name", "values": "main"}}]);
        let more = [(DocumentKind::Invariants, statements)];
        let engine = engine(&documents(
            rules.clone(),
            tool(server, "show", args.clone()),
            &more,
        ));
        let found = check_invariants(&engine, None, &|_| {});
        let (first, second) = (&found[0].outcome, &found[1].outcome);
        // A person may approve what escalates.
        let is_proven = matches!(
            second,
            Outcome::Proven {
                but_for_approvals: true,
                ..
            }
        );
        assert!(is_proven, "{server}: {second:?}");
        match first {
            Outcome::Unknown { because } => {
                let is_said = because.iter().any(|why| why.contains("outside of a repository"));
                assert!(is_said && !is_known, "{server}: {because:?}");
            }
            Outcome::Proven { .. } => assert!(is_known, "{server}"),
            other => panic!("{server}: {other:?}"),
        }
    }
}

#[test]
fn what_reaches_a_place_is_shown_where_conditions_look_at_the_argument() {
    let present = json!([{"arg": "url", "is": "present"}]);
    let host = json!({"args": present, "domains": {"roles": "fetch-url", "allowed": ["good.test"]}});
    let path = json!({"args": [{"arg": "to", "in": ["/srv/x"]}], "roles": "write-path"});
    let rules = json!([
        rule("hosts", host, "allow"),
        rule("paths", path, "deny"),
        rule("others", json!({"roles": "write-path"}), "escalate"),
    ]);
    let args = json!({"url": "fetch-url", "mode": "none"});
    let hosts = engine(&documents(rules.clone(), tool("fetch", "get", args), &[]));
    let paths = engine(&documents(
        rules,
        tool("fetch", "get", json!({"to": "write-path"})),
        &[],
    ));
    for (engine, text, expected) in [
        (&hosts, "https://good.test/a", "allow"),
        (&hosts, "https://evil.test/", "deny"),
        (&paths, "/srv/y", "escalate"),
        (&paths, "/srv/x", "deny"),
    ] {
        let analysis = Analysis::new(engine).reaching(Target::parse(text));
        let rows = analysis.tool("fetch", "get").unwrap().rows();
        let all_alike = rows.iter().all(|row| row.decision == expected);
        assert!(!rows.is_empty() && all_alike, "{text}: {rows:?}");
    }
}

#[test]
fn who_asks_is_not_known_and_nothing_is_said_of_it() {
    let of = |subject: &str| {
        let context = json!({"tool": "deploy", "context": {"subject": subject}});
        let never = json!([{"never": {"decision": "allow", "tool": "deploy"}}]);
        engine(&documents(
            json!([rule("ann", context, "allow")]),
            tool("ops", "deploy", json!({})),
            &[(DocumentKind::Invariants, never)],
        ))
    };
    let (ann, bob) = (of("ann"), of("bob"));
    let analysis = Analysis::new(&ann);
    // Some caller may call it.
    assert!(!ann.denies_every_call("ops", "deploy") && !analysis.denies_every_call("ops", "deploy"));
    let unknown = "who asks, at which the rule `ann` looks";
    assert_eq!(analysis.tool("ops", "deploy").unwrap().inexact, [unknown]);
    let found = check_invariants(&ann, None, &|_| {});
    assert!(matches!(found[0].outcome, Outcome::Unknown { .. }), "{found:?}");
    let comparison = Comparison::new(&ann, &bob);
    assert_eq!(comparison.tool("ops", "deploy").unwrap().unknown, [unknown]);
    let same = Comparison::new(&ann, &ann);
    assert!(
        same.tool("ops", "deploy")
            .is_none_or(|changes| changes.is_empty())
    );
}

#[test]
fn what_was_counted_is_not_known_and_nothing_is_said_of_it() {
    let of = |seconds: u64, least: u64| {
        let conditions = json!({"tool": "deploy", "counts": {"deploys": {"atLeast": least}}});
        let rules = json!([
            rule("often", conditions, "deny"),
            rule("rest", json!({}), "allow")
        ]);
        let counters = json!([{"name": "deploys", "if": {"tool": "deploy"}, "seconds": seconds}]);
        let never = json!([{"never": {"decision": "allow", "tool": "deploy"}}]);
        let mut documents = documents(
            rules,
            tool("ops", "deploy", json!({})),
            &[(DocumentKind::Invariants, never)],
        );
        let policy = documents
            .iter_mut()
            .find(|(kind, _)| *kind == DocumentKind::Policy);
        policy.unwrap().1["counters"] = counters;
        engine(&documents)
    };
    let engine = of(60, 3);
    // Some call may be allowed, and some denied.
    assert!(!engine.denies_every_call("ops", "deploy"));
    let unknown = "how many calls were counted, at which the rule `often` looks";
    let analysis = Analysis::new(&engine);
    assert_eq!(analysis.tool("ops", "deploy").unwrap().inexact, [unknown]);
    let found = check_invariants(&engine, None, &|_| {});
    assert!(matches!(found[0].outcome, Outcome::Unknown { .. }), "{found:?}");
    for other in [of(61, 3), of(60, 4)] {
        let comparison = Comparison::new(&engine, &other);
        assert_eq!(comparison.tool("ops", "deploy").unwrap().unknown, [unknown]);
    }
    let again = of(60, 3);
    let same = Comparison::new(&engine, &again);
    assert!(
        same.tool("ops", "deploy")
            .is_none_or(|changes| changes.is_empty())
    );
}

#[test]
fn an_introspection_tool_is_given_arguments_too() {
    let tools = tool("filesystem", "list_allowed_directories", json!({}));
    let of = |effect: &str, more: &[(DocumentKind, Value)]| {
        engine(&documents(
            json!([rule("all", json!({}), effect)]),
            tools.clone(),
            more,
        ))
    };
    let always = json!([{"always": {"decision": "allow", "tool": "list_allowed_directories"}}]);
    let old = of("escalate", &[(DocumentKind::Invariants, always)]);
    let found = check_invariants(&old, None, &|_| {});
    assert!(matches!(found[0].outcome, Outcome::Refuted { .. }), "{found:?}");
    let new = of("allow", &[]);
    let changes = Comparison::new(&old, &new)
        .tool("filesystem", "list_allowed_directories")
        .unwrap();
    assert_eq!(
        (changes.looser.len(), changes.unknown.len()),
        (1, 0),
        "{changes:?}"
    );
}

#[test]
fn a_tool_that_goes_and_a_role_of_another_kind_are_changes() {
    let of =
        |tools: Value, effect: &str| engine(&documents(json!([rule("all", json!({}), effect)]), tools, &[]));
    let owner = || tool("github", "open", json!({"owner": "github-owner"}));
    let gone = Comparison::new(&of(owner(), "deny"), &of(json!({}), "deny")).tool("github", "open");
    assert!(!gone.unwrap().other_rule.is_empty());
    // An owner may be empty, and no path is.
    for role in ["write-path", "proxy-domain"] {
        let named = tool("github", "open", json!({"owner": role}));
        let (owner, named) = (of(owner(), "allow"), of(named, "allow"));
        let stricter = Comparison::new(&owner, &named).tool("github", "open").unwrap();
        let looser = Comparison::new(&named, &owner).tool("github", "open").unwrap();
        let is_path = role == "write-path";
        assert_eq!(!stricter.stricter.is_empty(), is_path, "{stricter:?}");
        assert_eq!(
            !looser.looser.is_empty(),
            is_path || !looser.unknown.is_empty(),
            "{looser:?}"
        );
    }
}

#[test]
fn an_argument_that_nobody_names_is_looked_at_where_it_escalates() {
    let of = |effect: &str| {
        let condition = json!({"args": [{"arg": "force", "is": "truthy"}]});
        let rules = json!([rule("forced", condition, effect), rule("all", json!({}), "allow")]);
        let options = (DocumentKind::Options, json!({"unknownArguments": "escalate"}));
        let never = json!([{"never": {"decision": "deny", "tool": "send"}}]);
        let more = [options, (DocumentKind::Invariants, never)];
        engine(&documents(
            rules,
            tool("mail", "send", json!({"to": "email-address"})),
            &more,
        ))
    };
    let (old, new) = (of("escalate"), of("deny"));
    let changes = Comparison::new(&old, &new).tool("mail", "send").unwrap();
    assert!(!changes.stricter.is_empty(), "{changes:?}");
    let found = check_invariants(&new, None, &|_| {});
    assert!(
        matches!(found[0].outcome, Outcome::Refuted { decision: "deny", .. }),
        "{found:?}"
    );
}

/// Where others are refused, a protected path may still be the text of an argument without a role.
#[test]
fn a_protected_path_in_an_argument_without_a_role_is_looked_at() {
    let known = json!({"to": "email-address", "text": "none"});
    let schema = json!({"properties": {"to": {"type": "string"}, "lines": {"type": "array", "items": {"type": "string"}}}});
    let described = json!({"toolName": "send", "args": {"to": "email-address"}, "inputSchema": schema});
    let named = json!({"toolName": "send", "args": known});
    let refusing = (DocumentKind::Options, json!({"unknownArguments": "deny"}));
    for (tool, options) in [(named, Some(refusing)), (described, None)] {
        let of = |protected: &str| {
            let rules = json!([rule("all", json!({}), "allow")]);
            let always =
                json!([{"always": {"decision": "allow", "tool": "send", "values": ["someone@example.com"]}}]);
            let mut more = vec![
                (DocumentKind::ProtectedPaths, json!([protected])),
                (DocumentKind::Invariants, always),
            ];
            more.extend(options.clone());
            engine(&documents(rules, json!({"mail": {"tools": [tool]}}), &more))
        };
        let (old, new) = (of("/etc/shadow"), of("/etc/passwd"));
        let shown = Analysis::new(&old).tool("mail", "send").unwrap();
        let mut regions = shown.parts.iter().flat_map(|part| &part.regions);
        let is_protected = regions.any(|region| region.rule == "structural-protected-path");
        assert!(is_protected, "{shown:?}");
        let changes = Comparison::new(&old, &new).tool("mail", "send").unwrap();
        let (looser, stricter) = (changes.looser.len(), changes.stricter.len());
        assert!(looser > 0 && stricter > 0, "{changes:?}");
        let found = check_invariants(&new, None, &|_| {});
        let is_refuted = matches!(found[0].outcome, Outcome::Refuted { decision: "deny", .. });
        assert!(is_refuted, "{found:?}");
    }
}
