//! Properties of two capability ceilings and their intersection.

use callgate_engine::bind::Call;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_engine::policy::Ceiling;
use callgate_host::VirtualHost;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree as _;
use serde_json::{Map, Value, json};

use crate::common::cases::{config, path, world};
use crate::common::engines::{Documents, annotations, rule, tool};

/// Tools of every level, with and without capabilities and paths, and invalid values.
fn tools() -> Vec<Value> {
    let with = |name: &str, args: Value, more: Value| {
        let mut tool = tool(name, args);
        for (key, value) in more.as_object().expect("an object") {
            tool[key] = value.clone();
        }
        tool
    };
    let params = json!({"path_params": ["path"]});
    vec![
        with(
            "fs/read",
            json!({}),
            json!({"kind": "read", "side_effect_level": "read_only", "arg_schema": params, "capabilities": {"w": ["r"]}}),
        ),
        with(
            "fs/write",
            json!({}),
            json!({"kind": "edit", "side_effect_level": "workspace_write", "arg_schema": params,
                "capabilities": {"w": ["r", "d"]}}),
        ),
        with(
            "fs/remove",
            json!({}),
            json!({"kind": "delete", "side_effect_level": "workspace_write", "arg_schema": params,
                "capabilities": {"w": []}}),
        ),
        with(
            "vm/read",
            json!({"path": ["read-path"]}),
            json!({"arg_schema": params}),
        ),
        with(
            "vm/run",
            json!({"command": ["none"]}),
            json!({"kind": "execute", "side_effect_level": "process_exec", "capabilities": {"p": ["x"]}}),
        ),
        with("vm/think", json!({}), json!({"kind": "think"})),
    ]
}

fn field(values: &'static [&'static str], most: usize) -> impl Strategy<Value = Value> {
    subsequence(values.to_vec(), 0..=most).prop_map(|some| json!(some))
}

fn names() -> impl Strategy<Value = Value> {
    field(
        &[
            "read",
            "write",
            "think",
            "fs/read",
            "fs/remove",
            "vm/run",
            "vm/read",
            "vm/think",
            "other",
        ],
        4,
    )
}

fn capabilities() -> impl Strategy<Value = Value> {
    let operations = || prop::option::of(field(&["r", "d"], 2));
    (operations(), prop::option::of(field(&["x"], 1))).prop_map(|(w, p)| {
        let both = [("w", w), ("p", p)];
        let given = both
            .into_iter()
            .filter_map(|(name, list)| Some((name.to_owned(), list?)));
        Value::Object(given.collect::<Map<_, _>>())
    })
}

fn constraint() -> impl Strategy<Value = Value> {
    let tool = select(vec!["*", "read", "fs/*", "vm/{run,read}", "write"]);
    let patterns = field(&["in/*", "**", "/box/**", "/out/*", "~/**", "a", "git *"], 3);
    let key = select(vec![json!(null), json!("path"), json!("command"), json!("file")]);
    (tool, patterns, key).prop_map(
        |(tool, arg_patterns, key)| json!({"tool": tool, "arg_patterns": arg_patterns, "arg_key": key}),
    )
}

/// Each field by itself, so that two ceilings can be combined.
fn fields() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let level = select(vec![
        "none",
        "read_only",
        "workspace_write",
        "process_exec",
        "network",
        "what",
    ]);
    (
        prop_oneof![2 => Just(json!([])), 1 => names()],
        prop_oneof![2 => Just(json!({})), 1 => capabilities()],
        prop_oneof![1 => Just(json!([])), 1 => field(&["/box", "/box/in", "/out", "/", "~", "~/l"], 3)],
        prop_oneof![1 => Just(json!(null)), 1 => level.prop_map(|level| json!(level))],
        prop::option::of(0..4_u32).prop_map(|limit| json!(limit)),
        prop::collection::vec(constraint(), 0..3).prop_map(|list| json!(list)),
        prop_oneof![3 => Just(json!(null)), 1 => names()],
    )
        .prop_map(
            |(tools, capabilities, roots, level, recursion, constraints, unclassified)| {
                vec![
                    ("tools", tools),
                    ("capabilities", capabilities),
                    ("workspace_roots", roots),
                    ("side_effect_level", level),
                    ("recursion_limit", recursion),
                    ("tool_arg_constraints", constraints),
                    ("unclassified_tools", unclassified),
                ]
            },
        )
}

/// A ceiling, and another that has the same, less or something else in each field.
fn pair() -> impl Strategy<Value = (Value, Value)> {
    (fields(), fields(), prop::collection::vec(0..3_u8, 7)).prop_map(|(host, other, choices)| {
        let requested = host
            .iter()
            .zip(&other)
            .zip(choices)
            .map(|((host, other), choice)| match choice {
                0 => host.clone(),
                1 => other.clone(),
                _ => match &host.1 {
                    Value::Array(items) => (host.0, json!(items.iter().take(1).collect::<Vec<_>>())),
                    _ => (host.0, json!(null)),
                },
            });
        let requested: Map<String, Value> = requested.map(|(key, value)| (key.to_owned(), value)).collect();
        let host: Map<String, Value> = host
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        (Value::Object(host), Value::Object(requested))
    })
}

fn call() -> impl Strategy<Value = (&'static str, &'static str, Value)> {
    let tool = select(vec![
        ("fs", "read"),
        ("fs", "write"),
        ("fs", "remove"),
        ("vm", "read"),
        ("vm", "run"),
        ("vm", "think"),
        ("vm", "unknown"),
    ]);
    let command = select(vec!["git log", "git push", "a", "in/../x", "/box/a"]);
    (tool, prop::option::weighted(0.8, path()), command).prop_map(|((server, tool), path, command)| {
        let mut arguments = json!({"command": command});
        if let Some(path) = path {
            arguments["path"] = json!(path);
        }
        (server, tool, arguments)
    })
}

fn build(ceiling: Option<&Value>, host: &VirtualHost) -> Engine {
    let open = json!([rule("open", json!({"server": ["fs", "vm"]}), "allow")]);
    let mut documents = Documents::new(open, &[]).with(DocumentKind::Annotations, annotations(&tools()));
    if let Some(ceiling) = ceiling {
        documents = documents.with(DocumentKind::Ceiling, ceiling.clone());
    }
    documents.build(host).unwrap_or_else(|error| panic!("{error}"))
}

fn load(value: &Value) -> Ceiling {
    Ceiling::load(DocumentSource::Value(value)).unwrap_or_else(|error| panic!("{error}"))
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn what_the_intersection_allows_both_allow(
        (host_ceiling, requested) in pair(),
        world in world(),
        calls in prop::collection::vec(call(), 1..12),
    ) {
        let host = VirtualHost::new(world).expect("an arbitrary world is well-formed");
        let Ok(both) = load(&host_ceiling).intersect(&load(&requested)) else {
            return Ok(());
        };
        let both = serde_json::to_value(&both).expect("a ceiling is JSON");
        let none = build(None, &host);
        let [first, second, narrower] =
            [&host_ceiling, &requested, &both].map(|ceiling| build(Some(ceiling), &host));
        for (server, tool, arguments) in &calls {
            let call = Call::from_value(server, tool, arguments);
            let [none, first, second, narrower] =
                [&none, &first, &second, &narrower].map(|engine| engine.gate(&call, &host).verdict);
            let apart = first.decision.strictness().max(second.decision.strictness());
            prop_assert!(
                narrower.decision.strictness() >= apart,
                "{host_ceiling} and {requested} make {both}, which allows {server}/{tool} {arguments}: {first:?} {second:?}"
            );
            prop_assert!(first.decision.strictness() >= none.decision.strictness(), "a ceiling only denies");
        }
        let again = load(&host_ceiling).intersect(&load(&both));
        prop_assert!(again.is_ok(), "{both} exceeds {host_ceiling}: {again:?}");
    }

    #[test]
    fn a_ceiling_is_written_as_it_is_read((one, _) in pair()) {
        let ceiling = load(&one);
        let written = serde_json::to_value(&ceiling).expect("a ceiling is JSON");
        prop_assert_eq!(load(&written), ceiling);
    }
}

/// Otherwise the property would hold trivially.
#[test]
fn intersections_and_allowed_calls_are_among_the_cases() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let host = VirtualHost::new(callgate_host::Machine::new("/home/u", "/srv/app")).expect("a world");
    let (mut met, mut allowed, mut denied) = (0, 0, 0);
    for _ in 0..400 {
        let ((one, other), (server, tool, arguments)) =
            (pair(), call()).new_tree(&mut runner).expect("a case").current();
        if let Ok(both) = load(&one).intersect(&load(&other)) {
            met += 1;
            let both = serde_json::to_value(&both).expect("a ceiling is JSON");
            let engine = build(Some(&both), &host);
            let verdict = engine
                .gate(&Call::from_value(server, tool, &arguments), &host)
                .verdict;
            match verdict.decision.strictness() {
                0 => allowed += 1,
                _ => denied += 1,
            }
        }
    }
    assert!(
        met > 100 && allowed > 20 && denied > 20,
        "{met} met, {allowed} allowed, {denied} denied"
    );
}
