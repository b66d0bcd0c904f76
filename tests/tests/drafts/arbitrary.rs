//! Lists of any form and size.

use callgate_authoring::draft::propose_annotations;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{BuildError, Engine};
use callgate_host::RealHost;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::{KNOWN, UNSEEN, propose, tool, tools_of};

#[test]
fn an_engine_takes_every_draft() {
    for name in KNOWN.iter().chain(&UNSEEN) {
        let proposal = propose(&tools_of(name), name);
        build(&proposal.text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

const KEYS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "anyOf",
    "branch",
    "default",
    "description",
    "enum",
    "file",
    "files",
    "format",
    "items",
    "path",
    "properties",
    "repo_path",
    "required",
    "type",
    "url",
    "/a~b",
];

const TEXTS: &[&str] = &[
    "",
    "#",
    "#/properties/path",
    "Path to a file",
    "array",
    "https://a.b/",
    "null",
    "object",
    "path",
    "string",
    "uri",
];

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(TEXTS).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((select(KEYS), inner), 0..5).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn build(annotations: &str) -> Result<Engine, BuildError> {
    let options = json!({"strict": true});
    let policy = json!({"rules": []});
    Engine::builder()
        .part(DocumentKind::Options, DocumentSource::Value(&options))
        .part(DocumentKind::Policy, DocumentSource::Value(&policy))
        .part(DocumentKind::Annotations, DocumentSource::Text(annotations))
        .build(&RealHost::new("/", "/").expect("both are absolute"))
}

/// The same cases in every run, unless `PROPTEST_RNG_SEED` is set.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_260_101);
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_a_server_says_is_drafted_or_refused(
        schema in schemas(),
        description in select(TEXTS),
        name in select(&["git_add", "move_file", "x", "git_", "delete"][..]),
        server in select(&["git", "github", "s"][..]),
    ) {
        let _ = propose_annotations(DocumentSource::Value(&schema), server, Some(DocumentSource::Value(&schema)));
        for schema in [&schema, &json!({"properties": schema})] {
            let tools = json!([{"name": name, "description": description, "inputSchema": schema, "annotations": schema}]);
            let proposal = propose(&tools, server);
            let built = build(&proposal.text);
            prop_assert!(built.is_ok(), "{}: {:?}", proposal.text, built.err());
            let again = DocumentSource::Text(&proposal.text);
            let again = propose_annotations(DocumentSource::Value(&tools), server, Some(again)).unwrap();
            prop_assert_eq!(&again.text, &proposal.text);
            prop_assert_eq!(again.drift, []);
        }
    }
}

/// Lists at the limit of size, each of a form that a careless reader takes long for.
#[test]
fn a_large_list_takes_a_moment() {
    let text = || json!({"type": "string", "description": "x ".repeat(40)});
    let many_arguments: Value = (0..10_000).map(|at| (format!("path_{at}"), text())).collect();
    let many_tools: Vec<Value> = (0..15_000)
        .map(|at| tool(&format!("read_{at}"), json!({"path": {"type": "string"}})))
        .collect();
    let repeated =
        json!({"a": {"$ref": "#/properties/a"}, "b": {"anyOf": vec![json!({"$ref": "#"}); 1_000]}});
    let parts: Value = (0..15_000)
        .map(|at| (format!("p{at}"), json!({"type": "string"})))
        .collect();
    for tools in [
        json!([tool("read", many_arguments)]),
        Value::from(many_tools),
        json!([tool("read", repeated)]),
        json!([tool(
            "read",
            json!({"a": {"anyOf": [{"type": "object", "properties": parts}]}})
        )]),
    ] {
        let begin = std::time::Instant::now();
        let proposal = propose(&tools, "s");
        let existing = DocumentSource::Text(&proposal.text);
        let again = propose_annotations(DocumentSource::Value(&tools), "s", Some(existing)).unwrap();
        assert_eq!(again.drift, []);
        let took = begin.elapsed();
        println!("{} bytes: {took:?}", tools.to_string().len());
        assert!(took.as_secs() < 60, "{took:?}");
    }
}
