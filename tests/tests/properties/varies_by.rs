//! Calls that have the same key in a cache: what must always hold of their verdicts.

use callgate_core::{Call, Context, Engine, Part, Recording, Value as Given, VariesBy};
use callgate_host::VirtualHost;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::{build, text};
use crate::common::cases::{condition, config, world};
use crate::common::engines::{Documents, rule, tool};

const NAMES: [&str; 3] = ["a", "b", "c"];
const ROLES: [&str; 7] = [
    "fetch-url",
    "github-owner",
    "branch-name",
    "email-address",
    "none",
    "git-remote-url",
    "read-path",
];
/// Roles whose values are most often plain.
const PLAIN: usize = 5;
const WORDS: [&str; 11] = [
    "acme",
    "ACME",
    "evil",
    "evil.test",
    "main",
    "eve@evil.test",
    "a b",
    "x",
    "-x",
    ".x",
    "",
];
const ORIGINS: [&str; 9] = [
    "https://good.test",
    "http://good.test",
    "https://evil.test",
    "https://api.good.test",
    "http://127.0.0.1",
    "https://127.1",
    "https://a..b",
    "https://u@good.test",
    "HTTPS://good.test",
];
const TAILS: [&str; 9] = [
    "",
    "/",
    "/x",
    "/@evil.test",
    "/\\evil.test",
    "?https://evil.test",
    "#x",
    "/ x",
    "/ https://evil.test/",
];

/// The roles of the tool's arguments, by name.
fn arguments() -> impl Strategy<Value = Vec<(&'static str, Vec<&'static str>)>> {
    let roles = prop_oneof![
        12 => select(&ROLES[..=PLAIN]).prop_map(|role| vec![role]),
        2 => subsequence(ROLES[..PLAIN].to_vec(), 2),
        1 => subsequence(ROLES.to_vec(), 1..3),
    ];
    (
        subsequence(NAMES.to_vec(), 1..=3),
        prop::collection::vec(roles, 3),
    )
        .prop_map(|(names, roles)| names.into_iter().zip(roles).collect())
}

fn settings() -> impl Strategy<Value = Vec<(Part, Value)>> {
    let allowlist = prop::option::weighted(
        0.4,
        subsequence(vec!["good.test", "*.good.test", "127.0.0.1", "*"], 1..3),
    );
    let unknown = select(vec!["ignore", "escalate"]);
    (allowlist, unknown, any::<bool>()).prop_map(|(allowlist, unknown, bounded)| {
        let limits = if bounded {
            json!({"value_bytes": 30})
        } else {
            json!({})
        };
        let options = json!({"unknownArguments": unknown, "limits": limits});
        let mut parts = vec![
            (Part::Options, options),
            (Part::ProtectedPaths, json!(["/secret"])),
        ];
        parts.extend(allowlist.map(|patterns| (Part::ServerDomainAllowlists, json!({"fetch": patterns}))));
        parts
    })
}

fn documents(
    arguments: &[(&str, Vec<&str>)],
    rules: Vec<(Value, &str)>,
    settings: Vec<(Part, Value)>,
) -> Documents {
    let args: Map<String, Value> = arguments
        .iter()
        .map(|(name, roles)| ((*name).to_owned(), json!(roles)))
        .collect();
    let rules = rules.into_iter().enumerate();
    let rules = rules
        .map(|(at, (condition, effect))| rule(&format!("r{at}"), condition, effect))
        .collect();
    let documents = Documents::new(rules, &[tool("fetch/t0", Value::Object(args))]);
    settings
        .into_iter()
        .fold(documents, |documents, (part, value)| documents.with(part, value))
}

/// A condition on what the tool's arguments hold, or on none of it.
fn condition_on_values() -> impl Strategy<Value = Value> {
    let domains = || subsequence(vec!["good.test", "evil.test", "127.0.0.1", "acme"], 1..3);
    let of_urls = || {
        select(vec![
            json!(["fetch-url"]),
            json!(["git-remote-url"]),
            json!(["fetch-url", "github-owner"]),
        ])
    };
    prop_oneof![
        Just(json!({})),
        Just(json!({"roles": ["fetch-url", "github-owner"]})),
        (of_urls(), domains()).prop_map(|(roles, allowed)| json!({"domains": {"roles": roles, "allowed": allowed}})),
        (of_urls(), domains()).prop_map(|(roles, allowed)| json!({"lists": [{"roles": roles, "allowed": allowed, "matchType": "domains"}]})),
        (select(ROLES[..PLAIN].to_vec()), subsequence([&WORDS[..], &["https://evil.test/x", "https://good.test/"]].concat(), 1..4))
            .prop_map(|(role, allowed)| json!({"lists": [{"roles": [role], "allowed": allowed, "matchType": "identifiers"}]})),
        condition(),
    ]
}

/// Two values for each argument, often with the same key: a word, and a URL.
fn values() -> impl Strategy<Value = Vec<[(String, String); 2]>> {
    let word = || prop_oneof![6 => select(&WORDS[..8]), 1 => select(WORDS.to_vec())];
    let origins = || {
        let origin = || select(ORIGINS.to_vec());
        prop_oneof![origin().prop_map(|origin| [origin, origin]), [origin(), origin()]]
    };
    let one = || {
        let tails = [select(TAILS.to_vec()), select(TAILS.to_vec())];
        ([word(), word()], origins(), tails).prop_map(|(words, origins, tails)| {
            [0, 1].map(|call| {
                (
                    words[call].to_owned(),
                    format!("{}{}", origins[call], tails[call]),
                )
            })
        })
    };
    prop::collection::vec(one(), 3)
}

/// The values of a call as a face hands them over: what no judgement may look at stays unread.
fn handed_over<'v>(engine: &Engine, given: &[(&str, &'v str)]) -> Vec<Given<'v>> {
    let interest = engine.interest("fetch", "t0");
    let heeds = |name: &str| {
        let member = interest.members.iter().find(|(known, _)| *known == name);
        member.map_or(interest.others, |(_, matters)| *matters)
    };
    let values = given.iter().map(|(name, value)| {
        if heeds(name) || value.starts_with(['/', '.', '~']) {
            Given::Text((*value).into())
        } else {
            Given::Unread
        }
    });
    values.collect()
}

/// The verdict, unless the host was asked.
fn judged(engine: &Engine, call: &Call<'_>) -> Option<String> {
    // It answers nothing, so that whatever is asked makes the call a denial.
    let silent = Recording::new("/home/u", "/srv/app", Vec::new());
    let verdict = engine.evaluate(call, &silent);
    (verdict.rule != "structural-host-error").then(|| text(&verdict))
}

/// What verdicts vary by in the engine of one tool with these arguments and of one rule.
fn varies_by(arguments: Value, condition: Value, settings: &[(Part, Value)]) -> VariesBy {
    let names = arguments
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    let documents = Documents::new(
        json!([rule("r", condition, "allow")]),
        &[tool("fetch/t0", arguments)],
    );
    let documents = settings.iter().fold(documents, |documents, (part, value)| {
        documents.with(*part, value.clone())
    });
    let silent = Recording::new("/home/u", "/srv/app", Vec::new());
    let engine = build(&documents, &silent);
    let layout = engine.layout("fetch", "t0", names);
    layout.expect("the tool is annotated").varies_by()
}

#[test]
fn verdicts_vary_by_what_is_looked_at() {
    let owner = json!({"a": ["github-owner"], "b": ["none"]});
    let url = json!({"a": ["none"], "b": ["fetch-url"]});
    let names = json!({"server": ["fetch"], "tool": ["t0"], "roles": ["github-owner", "fetch-url"]});
    let domains = json!({"domains": {"roles": ["fetch-url"], "allowed": ["good.test"]}});
    let listed = |role: &str, kind: &str| json!({"lists": [{"roles": [role], "allowed": ["x.test"], "matchType": kind}]});
    let conditional = json!({"a": {"default": ["github-owner"], "when": [
        {"condition": {"arg": "b", "equals": "x"}, "roles": ["none"]}]}, "b": ["none"]});
    for (arguments, condition, expected) in [
        (&owner, &names, VariesBy::Nothing),
        (&owner, &domains, VariesBy::Nothing),
        (&owner, &listed("email-address", "emails"), VariesBy::Nothing),
        (&owner, &listed("github-owner", "identifiers"), VariesBy::Values),
        (&url, &names, VariesBy::Origin(1)),
        (&url, &domains, VariesBy::Origin(1)),
        (&url, &listed("fetch-url", "domains"), VariesBy::Origin(1)),
        (&url, &listed("fetch-url", "identifiers"), VariesBy::Values),
        (
            &json!({"a": ["fetch-url"], "b": ["fetch-url"]}),
            &names,
            VariesBy::Values,
        ),
        (&json!({"a": ["read-path"]}), &names, VariesBy::Values),
        (&json!({"a": ["git-remote-url"]}), &names, VariesBy::Values),
        (&json!({"/a/b": ["github-owner"]}), &names, VariesBy::Values),
        (&conditional, &names, VariesBy::Values),
        (
            &owner,
            &json!({"paths": {"roles": ["read-path"], "within": "/box"}}),
            VariesBy::Values,
        ),
    ] {
        let found = varies_by(arguments.clone(), condition.clone(), &[]);
        assert_eq!(found, expected, "{arguments} {condition}");
    }
    for setting in [
        (Part::Options, json!({"limits": {"value_bytes": 1023}})),
        (Part::Ceiling, json!({"tool_arg_constraints": []})),
    ] {
        let found = varies_by(owner.clone(), names.clone(), std::slice::from_ref(&setting));
        assert_eq!(found, VariesBy::Values, "{setting:?}");
    }
}

#[test]
fn plain_calls_have_a_key() {
    let long = "x".repeat(1024);
    let silent = Recording::new("/home/u", "/srv/app", Vec::new());
    let arguments = json!({"a": ["github-owner"], "b": ["fetch-url"]});
    let condition =
        json!({"lists": [{"roles": ["github-owner"], "allowed": ["x"], "matchType": "identifiers"}]});
    let tools = [tool("fetch/t0", arguments.clone()), tool("fetch/t1", arguments)];
    let mut listed = rule("r", condition, "allow");
    listed["if"]["tool"] = json!(["t1"]);
    let engine = build(&Documents::new(json!([listed]), &tools), &silent);
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let [blind, looking] = ["t0", "t1"].map(|tool| engine.layout("fetch", tool, names()).expect("annotated"));
    for (text, word, origin) in [
        ("acme", Some(""), None),
        ("a b/c", Some(""), None),
        (&*long, Some(""), None),
        ("https://good.test/-x?y#z", Some(""), Some("https://good.test")),
        ("http://127.0.0.1", Some(""), Some("http://127.0.0.1")),
        ("https://good.test/ x", Some(""), None),
        ("https://u@good.test/", Some(""), None),
        ("https://good.test:443/", Some(""), None),
        ("https://good.test./", Some(""), None),
        ("https://127.1/", Some(""), None),
        ("https://good.test/\u{e9}", None, None),
        ("https://good.test/\n", None, None),
        (&*format!("{long}x"), None, None),
        ("", None, None),
        ("-x", None, None),
        (".x", None, None),
        ("/x", None, None),
        ("~x", None, None),
        ("a\0b", None, None),
    ] {
        let one = || Given::Text(text.into());
        let cache_key = |values: [Given<'_>; 2]| {
            let call = blind.call(values.into_iter()).expect("a value for each name");
            blind.cache_key(&call).map(str::to_owned)
        };
        assert_eq!(cache_key([one(), Given::Unread]).as_deref(), word, "{text:?}");
        assert_eq!(cache_key([Given::Unread, one()]).as_deref(), origin, "{text:?}");
        assert_eq!(cache_key([one(), one()]).as_deref(), word.and(origin), "{text:?}");
        let seen = looking
            .call([one(), Given::Unread].into_iter())
            .expect("a value for each name");
        assert_eq!(looking.cache_key(&seen), None, "{text:?}");
        assert_eq!(blind.cache_key(&seen), None, "another layout's");
    }
    for value in [
        Given::Null,
        Given::Bool(true),
        Given::Number(1.0),
        Given::IllFormed,
        Given::Array(vec![]),
    ] {
        let shown = format!("{value:?}");
        let call = blind
            .call([value, Given::Unread].into_iter())
            .expect("a value for each name");
        assert_eq!(blind.cache_key(&call), None, "{shown}");
    }
    let bare = || {
        blind
            .call([Given::Unread, Given::Unread].into_iter())
            .expect("a value for each name")
    };
    assert_eq!(blind.cache_key(&bare()), Some(""));
    assert_eq!(blind.cache_key(&bare().within(Context::default())), None);
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 200_000, ..config(8_000) })]

    /// Calls with the same key have one verdict, reason and all.
    #[test]
    fn calls_with_the_same_key_have_one_verdict(
        world in world(),
        arguments in arguments(),
        rules in prop::collection::vec((condition_on_values(), select(vec!["allow", "allow", "escalate", "deny"])), 0..4),
        settings in settings(),
        values in values(),
    ) {
        let host = VirtualHost::new(world).expect("an arbitrary world is well-formed");
        let engine = build(&documents(&arguments, rules, settings), &host);
        let given = |call: usize| -> Vec<(&str, &str)> {
            let members = arguments.iter().zip(&values);
            members.map(|((name, roles), values)| {
                let (word, url) = &values[call];
                (*name, if roles[0].ends_with("-url") { url.as_str() } else { word.as_str() })
            }).collect()
        };
        let (one, other) = (given(0), given(1));
        let names = one.iter().map(|(name, _)| (*name).to_owned()).collect();
        let layout = engine.layout("fetch", "t0", names).expect("the tool is annotated");
        let call = |given| layout.call(handed_over(&engine, given).into_iter()).expect("a value for each name");
        let calls = [call(&one), call(&other)];
        let [first, second] = [0, 1].map(|at| layout.cache_key(&calls[at]));
        prop_assume!(first.is_some() && first == second && one != other);
        if let (Some(first), Some(second)) = (judged(&engine, &calls[0]), judged(&engine, &calls[1])) {
            prop_assert_eq!(first, second, "{:?} and {:?}", one, other);
        }
    }
}
