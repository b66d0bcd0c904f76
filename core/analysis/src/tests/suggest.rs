//! A suggested rule allows the call, and lets through what is said of it and nothing else.

use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::arbitrary::{self, Documents, Home};
use super::calls::{self, Random, TOOLS};
use super::division::shown;
use crate::imagined::Imagined;
use crate::{Advice, Suggestion, suggest_rules};
use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{Engine, Request};

fn parts(documents: &Documents) -> Vec<(DocumentKind, DocumentSource<'_>)> {
    let parts = documents.iter();
    parts
        .map(|(kind, value)| (*kind, DocumentSource::Value(value)))
        .collect()
}

fn with(documents: &Documents, suggestion: &Suggestion) -> Engine {
    let mut documents = documents.clone();
    for (kind, value) in &mut documents {
        if *kind == DocumentKind::Policy {
            let rules = value["rules"].as_array_mut().unwrap();
            let at = suggestion.at;
            rules.splice(at..at, suggestion.rules.iter().cloned());
        }
    }
    arbitrary::engine(&documents).unwrap()
}

#[derive(Debug, Default)]
struct Tally {
    rules: usize,
    none: usize,
    given_up: usize,
}

fn hold(documents: &Documents, seed: u64, calls: usize, tally: &mut Tally) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in TOOLS.iter().enumerate() {
        for _ in 0..calls {
            let arguments = calls::arguments(at, &mut random);
            let call = Call::from_value(server, tool, &arguments);
            let request = Request::gate(&call);
            let verdict = engine.judge(&request, &Home).verdict;
            let advice = suggest_rules(&parts(documents), &Home, &[request]).unwrap();
            let why = |what: &str| {
                Err(format!(
                    "{server}/{tool} {arguments} {verdict:?}: {what}: {advice:?}\n{}",
                    shown(documents)
                ))
            };
            match &advice {
                Advice::Allowed if verdict.decision.strictness() == 0 => {}
                Advice::Allowed => return why("is not allowed"),
                Advice::Annotation { .. } => return why("no annotation has a schema"),
                Advice::NoRule { rule, .. } => {
                    tally.none += 1;
                    tally.given_up += usize::from(!rule.starts_with("structural-"));
                }
                Advice::Rules(suggestion) => {
                    tally.rules += 1;
                    let new = with(documents, suggestion);
                    if new.judge(&request, &Home).verdict.decision.strictness() > 0 {
                        return why("does not work");
                    }
                    let (before, after) = (Imagined::new(&engine, None), Imagined::new(&new, None));
                    for change in suggestion.looser.iter().flat_map(|one| {
                        one.looser
                            .iter()
                            .map(|change| (&*one.server_name, &*one.tool_name, change))
                    }) {
                        let (server, tool, change) = change;
                        let call = Call::from_value(server, tool, &change.arguments);
                        let found = [&before, &after].map(|one| one.judge(&call).decision.as_str());
                        if found != [change.before.decision, change.after.decision] {
                            return why("a region is judged otherwise than it says");
                        }
                    }
                    for (at, (server, tool, _)) in TOOLS.iter().enumerate() {
                        let said = suggestion
                            .looser
                            .iter()
                            .any(|one| (&*one.server_name, &*one.tool_name) == (*server, *tool));
                        for _ in 0..2 {
                            let arguments = calls::arguments(at, &mut random);
                            let call = Call::from_value(server, tool, &arguments);
                            let strictness = |one: &Imagined<'_>| one.judge(&call).decision.strictness();
                            if strictness(&after) < strictness(&before) && !said {
                                return why("lets more through than it says");
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn what_is_suggested_works_and_says_what_it_lets_through() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut tally = Tally::default();
    for seed in 1..9_u64 {
        let documents = arbitrary::documents().new_tree(&mut runner).unwrap().current();
        let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
        if let Err(why) = hold(&documents, seed, 2, &mut tally) {
            panic!("{why}");
        }
    }
    assert!(tally.rules > 12, "{tally:?}");
    // No rule allows what is not http(s), say.
    assert!(tally.given_up < tally.rules, "{tally:?}");
}

/// More directories than have a rule each.
const MANY: [&str; 20] = [
    "/srv/many/a/x",
    "/srv/many/b/x",
    "/srv/many/c/x",
    "/srv/many/d/x",
    "/srv/many/e/x",
    "/srv/many/f/x",
    "/srv/many/g/x",
    "/srv/many/h/x",
    "/srv/many/i/x",
    "/srv/many/j/x",
    "/srv/many/k/x",
    "/srv/many/l/x",
    "/srv/many/m/x",
    "/srv/many/n/x",
    "/srv/many/o/x",
    "/srv/many/p/x",
    "/srv/many/q/x",
    "/srv/many/r/x",
    "/srv/many/s/x",
    "/srv/many/t/x",
];

/// The rules that are suggested for calls of one tool: each rule's conditions, and the rule before which they stand.
#[track_caller]
fn check(rules: &Value, calls: &[(&str, &str, Value)], expected: &[Value], before: Option<&str>) {
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": rules})),
        (DocumentKind::Annotations, arbitrary::annotations()),
        (DocumentKind::ProtectedPaths, json!(["/etc/shadow"])),
    ];
    let calls: Vec<Call<'_>> = calls
        .iter()
        .map(|(server, tool, arguments)| Call::from_value(server, tool, arguments))
        .collect();
    let requests: Vec<Request<'_>> = calls.iter().map(Request::gate).collect();
    let advice = suggest_rules(&parts(&documents), &Home, &requests).unwrap();
    let Advice::Rules(suggestion) = advice else {
        panic!("{advice:?}");
    };
    let mut found = suggestion.rules.clone();
    for rule in &mut found {
        assert_eq!(rule["then"], "allow");
        *rule = rule["if"].take();
        rule.as_object_mut().unwrap().shift_remove("server");
        rule.as_object_mut().unwrap().shift_remove("tool");
    }
    assert_eq!((&*found, suggestion.before.as_deref()), (expected, before));
}

#[test]
fn the_smallest_rule_is_about_what_the_call_names() {
    let rule = |name: &str, conditions: Value, effect: &str| json!({"name": name, "if": conditions, "then": effect, "reason": ""});
    let none = json!([]);
    let read = |path: &str| ("filesystem", "read", json!({"path": path}));
    let within = |path: &str| json!({"paths": {"roles": ["read-path"], "within": path}});
    check(&none, &[read("/srv/a/b.txt")], &[within("/srv/a/b.txt")], None);
    check(
        &none,
        &[read("/srv/a/b"), read("/srv/a/c/d")],
        &[within("/srv/a")],
        None,
    );
    // Of several places each has a rule: a directory for what lies in it.
    check(
        &none,
        &[
            read("/srv/a/b"),
            read("/var/log/x"),
            read("/srv/a/c"),
            read("/var/log/y/z"),
            read("/opt/k"),
        ],
        &[within("/opt/k"), within("/srv/a"), within("/var/log")],
        None,
    );
    let many: Vec<_> = (0..20).map(|at| read(MANY[at])).collect();
    check(&none, &many, &[within("/srv/many")], None);
    check(
        &none,
        &[(
            "filesystem",
            "move",
            json!({"source": "/srv/a", "destination": "/srv/b"}),
        )],
        &[
            json!({"paths": {"roles": ["read-path", "delete-path"], "within": "/srv/a"}}),
            json!({"paths": {"roles": ["write-path"], "within": "/srv/b"}}),
        ],
        None,
    );
    // What a rule allows already needs no other.
    let open = rule(
        "open",
        json!({"paths": {"roles": ["read-path", "delete-path"], "within": "/srv"}}),
        "allow",
    );
    let moved = (
        "filesystem",
        "move",
        json!({"source": "/srv/a", "destination": "/srv/b"}),
    );
    let written = json!({"paths": {"roles": ["write-path"], "within": "/srv/b"}});
    check(
        &json!([open]),
        std::slice::from_ref(&moved),
        std::slice::from_ref(&written),
        None,
    );
    // Before the rule that decides, and not before others.
    let rules = json!([
        open,
        rule("other", json!({"roles": "fetch-url"}), "deny"),
        rule(
            "closed",
            json!({"paths": {"roles": "write-path", "within": "/srv"}}),
            "deny"
        ),
        rule("ask", json!({"server": "filesystem"}), "escalate"),
    ]);
    check(&rules, &[moved], &[written], Some("closed"));
    let get = |url: &str| ("fetch", "get", json!({"url": url}));
    check(
        &none,
        &[get("https://a.test/x?y"), get("http://b.test/")],
        &[json!({"domains": {"roles": "fetch-url", "allowed": ["a.test", "b.test"]}})],
        None,
    );
    // A branch that a rule looks at is held to what it is.
    let main = rule(
        "main",
        json!({"lists": [{"roles": "branch-name", "allowed": ["main"], "matchType": "identifiers"}]}),
        "deny",
    );
    check(
        &json!([main]),
        &[(
            "github",
            "open",
            json!({"owner": "Acme", "repo": "w", "branch": "dev"}),
        )],
        &[
            json!({"lists": [{"roles": "github-owner", "allowed": ["Acme"], "matchType": "identifiers"}],
                   "args": [{"arg": "branch", "in": ["dev"]}]}),
            json!({"lists": [{"roles": "github-repo", "allowed": ["w"], "matchType": "identifiers"}],
                   "args": [{"arg": "branch", "in": ["dev"]}]}),
        ],
        None,
    );
    // A role without a value.
    check(
        &none,
        &[("mail", "attach", json!({"to": ["bob@good.test"]}))],
        &[json!({"roles": "read-path", "args": [{"arg": "path", "is": "absent"}]})],
        None,
    );
    let people = rule(
        "people",
        json!({"lists": [{"roles": "email-address", "allowed": ["eve@evil.test"], "matchType": "emails"}]}),
        "deny",
    );
    check(
        &json!([people]),
        &[("mail", "send", json!({"to": "bob@good.test"}))],
        &[
            json!({"lists": [{"roles": "email-address", "allowed": ["bob@good.test"], "matchType": "emails"}]}),
        ],
        None,
    );
}

#[test]
fn an_annotation_that_its_schema_contradicts_is_said_in_place_of_a_rule() {
    let check = |tool: Value, arguments: Value, expected: Option<(&str, &[&str], &[&str])>| {
        let name = tool["toolName"].as_str().unwrap().to_owned();
        let rules = json!([{"name": "look", "if": {"server": "s", "roles": "read-path"}, "then": "allow", "reason": ""},
            {"name": "ask", "if": {"roles": ["write-path", "delete-path"]}, "then": "escalate", "reason": ""}]);
        let documents: Documents = vec![
            (DocumentKind::Policy, json!({"rules": rules})),
            (
                DocumentKind::Annotations,
                json!({"servers": {"s": {"tools": [tool]}}}),
            ),
            (DocumentKind::ProtectedPaths, json!(["/srv/repo/.git"])),
        ];
        let call = Call::from_value("s", &name, &arguments);
        let advice = suggest_rules(&parts(&documents), &Home, &[Request::gate(&call)]).unwrap();
        let found = match &advice {
            Advice::Annotation {
                argument,
                roles,
                drafted,
                ..
            } => Some((argument.clone(), roles.clone(), drafted.clone())),
            _ => None,
        };
        let owned = |roles: &[&str]| roles.iter().map(|role| (*role).to_owned()).collect::<Vec<_>>();
        let expected =
            expected.map(|(argument, roles, drafted)| (argument.to_owned(), owned(roles), owned(drafted)));
        assert_eq!(found, expected, "{advice:?}");
    };
    let text = |names: &[&str]| {
        let properties = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})));
        json!({"properties": properties.collect::<serde_json::Map<_, _>>()})
    };
    let search = |roles: Value| {
        json!({"toolName": "start_search", "args": {"path": roles, "query": "text"},
            "inputSchema": text(&["path", "query"])})
    };
    let removes: &[&str] = &["read-path", "delete-path"];
    check(
        search(json!(removes)),
        json!({"path": "/srv/repo", "query": "x"}),
        Some(("path", removes, &["read-path"])),
    );
    // The draft would have another role.
    let writes = search(json!("write-path"));
    check(writes, json!({"path": "/etc/x", "query": "x"}), None);
    let forge = |file: &str| {
        json!({"toolName": "get_file_contents", "args": {"project_id": "none", "file_path": file, "ref": "none"},
            "inputSchema": text(&["project_id", "file_path", "ref"])})
    };
    let arguments = json!({"project_id": "acme/a", "file_path": "/x", "ref": "main"});
    check(
        forge("write-path"),
        arguments.clone(),
        Some(("file_path", &["write-path"], &["none"])),
    );
    check(forge("none"), arguments, None);
    // Nothing contradicts what has no schema.
    let bare = json!({"toolName": "start_search", "args": {"path": removes}});
    check(bare, json!({"path": "/srv/repo"}), None);
}

#[test]
fn what_no_rule_allows_is_said() {
    let documents = vec![
        (DocumentKind::Policy, json!({"rules": []})),
        (DocumentKind::Annotations, arbitrary::annotations()),
        (DocumentKind::ProtectedPaths, json!(["/etc/shadow"])),
        (DocumentKind::DomainAllowlists, json!({"fetch": ["good.test"]})),
        (DocumentKind::Ceiling, json!({"tools": ["read", "get"]})),
    ];
    for (server, tool, arguments, expected) in [
        (
            "filesystem",
            "read",
            json!({"path": "/etc/shadow"}),
            "structural-protected-path",
        ),
        (
            "filesystem",
            "read",
            json!({"path": {}}),
            "structural-unreadable-argument",
        ),
        (
            "filesystem",
            "no_such",
            json!({}),
            "structural-capability-ceiling",
        ),
        (
            "filesystem",
            "copy",
            json!({"from": "/a"}),
            "structural-capability-ceiling",
        ),
        (
            "fetch",
            "get",
            json!({"url": "https://evil.test/"}),
            "structural-domain-escalate",
        ),
    ] {
        let call = Call::from_value(server, tool, &arguments);
        let advice = suggest_rules(&parts(&documents), &Home, &[Request::gate(&call)]).unwrap();
        let Advice::NoRule { rule, .. } = &advice else {
            panic!("{arguments}: {advice:?}");
        };
        assert_eq!(rule, expected);
    }
}

#[test]
fn strict_documents_get_advice_too() {
    let rule = |name: &str, then: &str| json!({"name": name, "if": {"server": "filesystem", "tool": "read"}, "then": then, "reason": "r"});
    let documents: Documents = vec![
        (
            DocumentKind::Policy,
            json!({"rules": [rule("ask", "escalate")], "listDefinitions": []}),
        ),
        (
            DocumentKind::Annotations,
            json!({"servers": {"filesystem": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]}}}),
        ),
        (DocumentKind::Options, json!({"strict": true})),
    ];
    let arguments = json!({"path": "/srv/x"});
    let call = Call::from_value("filesystem", "read", &arguments);
    let advice = suggest_rules(&parts(&documents), &Home, &[Request::gate(&call)]).unwrap();
    let Advice::Rules(suggestion) = advice else {
        panic!("{advice:?}");
    };
    assert_eq!(suggestion.before.as_deref(), Some("ask"));
}
