//! A scenario reaches the regions that its values lie in, and the calls for regions that none reaches reach them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use super::calls::{self, Random, TOOLS};
use super::division::shown;
use crate::imagined::Imagined;
use crate::tests::properties::config;
use crate::{Analysis, Bounds, Coverage, CoverageReport};
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;

/// Adds a call with the engine's verdict.
fn add(
    coverage: &mut Coverage<'_, '_>,
    engine: &Engine,
    at: &Analysis<'_>,
    (server, tool): (&str, &str),
    arguments: &Value,
) -> (String, String) {
    let call = Call::from_value(server, tool, arguments);
    let imagined = Imagined::new(engine, None);
    let verdict = imagined.judge(&call);
    coverage.add(at, server, tool, [(&call, &verdict)]);
    (verdict.decision.as_str().to_owned(), verdict.rule.to_string())
}

fn hold(documents: &Documents, seed: u64) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let bounds = Bounds {
        calls: 300,
        ..Bounds::default()
    };
    let analysis = Analysis::new(&engine).within(bounds);
    let mut coverage = Coverage::new(&analysis);
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in TOOLS.iter().enumerate() {
        for _ in 0..4 {
            add(
                &mut coverage,
                &engine,
                &analysis,
                (server, tool),
                &calls::arguments(at, &mut random),
            );
        }
    }
    let first = coverage.report();
    for one in &first.unreached {
        let tool = (&*one.server_name, &*one.tool_name);
        let (decision, rule) = add(&mut coverage, &engine, &analysis, tool, &one.arguments);
        if (&*decision, &rule) != (one.decision, &one.rule) {
            return Err(format!("{one:?} is decided otherwise: {decision} by {rule}"));
        }
    }
    let second = coverage.report();
    let (rules, all) = second.rules_covered();
    match second.unreached.is_empty() && second.regions == first.regions && rules == all {
        true => Ok(()),
        false => Err(format!("{:?} is still not reached", second.unreached)),
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn missing_calls_reach_the_regions_that_are_missing(documents in arbitrary::documents(), seed in any::<u64>()) {
        if let Err(why) = hold(&documents, seed) {
            return Err(TestCaseError::fail(format!("{why}\n{}", shown(&documents))));
        }
    }
}

/// The regions that calls of one tool reach, as `decision rule: what the arguments are`, and the report.
fn reached(
    documents: &Documents,
    (server, tool): (&str, &str),
    calls: &[Value],
) -> (Vec<String>, CoverageReport) {
    let engine = arbitrary::engine(documents).unwrap();
    let analysis = Analysis::new(&engine);
    let before = Coverage::new(&analysis).report().unreached;
    let mut coverage = Coverage::new(&analysis);
    for arguments in calls {
        add(&mut coverage, &engine, &analysis, (server, tool), arguments);
    }
    let report = coverage.report();
    let found = before.into_iter().filter(|one| !report.unreached.contains(one));
    let shown = found.map(|one| {
        let places = one.when.iter().chain(&one.places).map(|place| &*place.is);
        format!(
            "{} {}: {}",
            one.decision,
            one.rule,
            places.collect::<Vec<_>>().join(" + ")
        )
    });
    (shown.collect(), report)
}

fn documents(rules: Value, protected: Value) -> Documents {
    vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
        (DocumentKind::ProtectedPaths, protected),
    ]
}

fn rule(name: &str, conditions: Value, effect: &str) -> Value {
    json!({"name": name, "if": conditions, "then": effect, "reason": ""})
}

#[track_caller]
fn check(documents: &Documents, tool: (&str, &str), calls: &[Value], expected: &[&str]) {
    let (found, report) = reached(documents, tool, calls);
    assert_eq!(found, expected);
    assert_eq!(report.outside, 0);
}

#[test]
fn a_path_lies_where_it_leads() {
    let within = |directory: &str| json!({"paths": {"roles": "read-path", "within": directory}});
    let rules = json!([
        rule("no-key", within("/srv/app/key"), "deny"),
        rule("app", within("/srv/app"), "allow"),
        rule("library", within("/srv/library"), "allow"),
    ]);
    let documents = documents(rules, json!(["~/.ssh", "**/.env"]));
    let read = ("filesystem", "read");
    let to = |path: &str| json!({"path": path});
    check(
        &documents,
        read,
        &[to("app/../app/a"), to("/srv/app/b")],
        &["allow app: under /srv/app but not /srv/app/key"],
    );
    check(
        &documents,
        read,
        &[to("/srv/app/x/../key")],
        &["deny no-key: under /srv/app/key"],
    );
    check(
        &documents,
        read,
        &[to("~/.ssh/id")],
        &["deny structural-protected-path: under ~/.ssh"],
    );
    check(
        &documents,
        read,
        &[to("/x/.env/y")],
        &["deny structural-protected-path: under /, matching `**/.env`"],
    );
    check(&documents, read, &[json!({})], &["deny default-deny: absent"]);
    // The verdict about several is that of the strictest, and shows no other region.
    check(
        &documents,
        read,
        &[
            json!({"path": ["/srv/app/a", "/srv/library/b"]}),
            json!({"path": ["/srv/app/a", "/srv/app/key"]}),
        ],
        &[
            "allow app: under /srv/app but not /srv/app/key",
            "deny no-key: under /srv/app/key",
        ],
    );
    // What is refused for its form is not a region of the policy, and a number names as little as an absent argument.
    check(&documents, read, &[json!({"path": "\u{0}"})], &[]);
    check(
        &documents,
        read,
        &[json!({"path": 5})],
        &["deny default-deny: absent"],
    );
}

#[test]
fn a_host_and_a_name_lie_where_they_are_compared() {
    let rules = json!([
        rule(
            "docs",
            json!({"domains": {"roles": "fetch-url", "allowed": ["docs.rs", "*.good.test"]}}),
            "allow"
        ),
        rule(
            "main",
            json!({"lists": [{"roles": "branch-name", "allowed": ["main"], "matchType": "identifiers"}]}),
            "deny"
        ),
        rule(
            "acme",
            json!({"lists": [{"roles": "github-owner", "allowed": ["acme"], "matchType": "identifiers"}]}),
            "allow"
        ),
        rule("any-repository", json!({"roles": "github-repo"}), "allow"),
    ]);
    let documents = documents(rules, json!([]));
    let get = ("fetch", "get");
    let to = |url: &str| json!({"url": url});
    check(
        &documents,
        get,
        &[to("HTTPS://Docs.RS:443/x?y")],
        &["allow docs: `docs.rs`"],
    );
    check(
        &documents,
        get,
        &[to("https://a.b.good.test")],
        &["allow docs: a host below good.test"],
    );
    check(
        &documents,
        get,
        &[to("https://127.0.0.1/")],
        &["deny default-deny: an IP address that nothing names"],
    );
    check(
        &documents,
        get,
        &[to("http://localhost./")],
        &["deny default-deny: localhost"],
    );
    check(
        &documents,
        get,
        &[to("gopher://10.0.0.1/")],
        &["deny default-deny: by another protocol, at an IP address"],
    );
    let open = ("github", "open");
    check(
        &documents,
        open,
        &[json!({"owner": "acme", "repo": "w", "branch": "+refs/heads/main"})],
        &["deny main: `acme` + any other value + another spelling of main"],
    );
    check(
        &documents,
        open,
        &[json!({"owner": "acme", "repo": "w", "branch": "HEAD:main"})],
        &["deny main: `acme` + any other value + a refspec to main"],
    );
    check(
        &documents,
        open,
        &[json!({"owner": "acme", "repo": "w", "branch": "HEAD:next"})],
        &["allow acme: `acme` + any other value + a refspec to any other branch"],
    );
    check(
        &documents,
        open,
        &[json!({"owner": "acme", "repo": "w", "branch": "next"})],
        &["allow acme: `acme` + any other value + any other value"],
    );
}

#[test]
fn a_condition_tells_calls_apart() {
    let rules = json!([
        rule(
            "dry",
            json!({"args": [{"arg": "mode", "equals": "dry"}]}),
            "allow"
        ),
        rule("rest", json!({}), "escalate"),
    ]);
    let documents = documents(rules, json!([]));
    let (found, report) = reached(
        &documents,
        ("notes", "put"),
        &[json!({"path": "/x", "mode": "dry"})],
    );
    assert_eq!(
        found,
        ["allow dry: `dry` + anywhere", "allow dry: `dry` + absent"]
    );
    assert_eq!(report.outside, 0);
}

/// Where the regions are not exact, a call may lie in none of them.
#[test]
fn a_call_in_no_region_is_counted() {
    let listed = |allowed: &str| json!({"lists": [{"roles": "github-owner", "allowed": [allowed], "matchType": "identifiers"}]});
    let documents = documents(json!([rule("one", listed("one"), "allow")]), json!([]));
    let bounds = Bounds {
        values: 1,
        ..Bounds::default()
    };
    let engine = arbitrary::engine(&documents).unwrap();
    let analysis = Analysis::new(&engine).within(bounds);
    let mut coverage = Coverage::new(&analysis);
    for owner in ["one", "two"] {
        add(
            &mut coverage,
            &engine,
            &analysis,
            ("github", "open"),
            &json!({"owner": owner, "repo": "r"}),
        );
    }
    let report = coverage.report();
    assert_eq!(report.outside, 1);
    assert!(report.inexact > 0);
}
