//! Arbitrary engines, worlds and calls, made from few parts so that they often coincide.

mod rules;
mod world;

use callgate_engine::config::DocumentKind;
use callgate_host::Machine;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

use super::engines::{Documents, tool as tool_of};
pub(crate) use rules::condition;
use rules::{TOOLS, Tool, domains, rules, rules_on_values, tool};
use world::{argument, fitting};
pub(crate) use world::{path, world};

/// The input of a property.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The machine.
    pub(crate) world: Machine,
    /// The engine.
    pub(crate) documents: Documents,
    /// Calls of the engine's tools, and sometimes of an unknown tool.
    pub(crate) calls: Vec<Request>,
}

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The server.
    pub(crate) server: String,
    /// The tool.
    pub(crate) tool: String,
    /// An object.
    pub(crate) arguments: Value,
}

/// `cases` cases from the same seed in every run, unless `PROPTEST_CASES` or `PROPTEST_RNG_SEED` is set.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_260_101);
    }
    config
}

fn settings() -> impl Strategy<Value = Vec<(DocumentKind, Value)>> {
    let protected = subsequence(
        vec![
            "/secret", "~/.ssh", "/box/in", "/out/l", "/", "**/.ssh", "/*/in/*", "/s*",
        ],
        0..3,
    );
    let sandbox = prop::option::weighted(0.7, select(vec!["/box", "/box", "/box/l", "/none/box"]));
    let gated = prop::option::weighted(0.4, (select(vec!["git", "fetch"]), domains()));
    let unknown = select(vec!["ignore", "schema", "escalate", "deny"]);
    let options = (
        select(vec!["on", "off"]),
        unknown,
        select(vec!["fresh", "pinned"]),
        select(vec!["before-rules", "before-rules", "after-rules"]),
        select(vec![
            json!({}),
            json!({"notes": "filesystem"}),
            json!({"fetch": "git"}),
        ]),
    );
    (protected, sandbox, gated, options).prop_map(
        |(protected, sandbox, gated, (heuristic, unknown, directories, order, aliases))| {
            let options = json!({
                "heuristicPaths": heuristic, "unknownArguments": unknown, "directories": directories, "sandbox": order,
                "serverAliases": aliases,
            });
            let mut parts = vec![
                (DocumentKind::ProtectedPaths, json!(protected)),
                (DocumentKind::Options, options),
            ];
            parts.extend(sandbox.map(|sandbox| (DocumentKind::Sandbox, json!(sandbox))));
            parts.extend(
                gated.map(|(server, patterns)| {
                    (DocumentKind::DomainAllowlists, json!({server: patterns}))
                }),
            );
            parts
        },
    )
}

/// A call of one of `tools`, which give their arguments' roles.
fn request(tools: Vec<Tool>) -> BoxedStrategy<Request> {
    let known = select(tools).prop_flat_map(|(tool, arguments)| {
        let given: Vec<_> = arguments
            .into_iter()
            .map(|(name, roles)| (Just(name), prop::option::weighted(0.85, argument(&roles))))
            .collect();
        let mode = prop::option::weighted(0.2, select(vec!["safe", "other"]));
        let extra = prop::option::weighted(0.05, path());
        (Just(tool), given, mode, extra).prop_map(|(tool, given, mode, extra)| {
            let mut arguments: Map<String, Value> = given
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect();
            arguments.extend(mode.map(|mode| ("mode".to_owned(), json!(mode))));
            arguments.extend(extra.map(|extra| ("extra".to_owned(), json!(extra))));
            let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
            Request {
                server: text("serverName"),
                tool: text("toolName"),
                arguments: Value::Object(arguments),
            }
        })
    });
    let unknown = path().prop_map(|path| Request {
        server: "filesystem".to_owned(),
        tool: "unheard-of".to_owned(),
        arguments: json!({"path": path}),
    });
    prop_oneof![20 => known, 1 => unknown].boxed()
}

/// A machine, an engine and three calls.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let tools = (tool(TOOLS[0]), tool(TOOLS[1]), tool(TOOLS[2])).prop_map(|(a, b, c)| vec![a, b, c]);
    (world(), rules(), tools, settings()).prop_flat_map(|(world, rules, tools, settings)| {
        let stored: Vec<Value> = tools.iter().map(|(tool, _)| tool.clone()).collect();
        let documents = settings
            .into_iter()
            .fold(Documents::new(rules, &stored), |documents, (part, value)| {
                documents.with(part, value)
            });
        let calls = prop::collection::vec(request(tools), 3);
        (Just(world), Just(documents), calls).prop_map(|(world, documents, calls)| Case {
            world,
            documents,
            calls,
        })
    })
}

/// Calls of one tool with several values under each role, and rules about them.
pub(crate) fn case_of_values() -> impl Strategy<Value = Case> {
    let roles = [
        "fetch-url",
        "git-remote-url",
        "github-owner",
        "branch-name",
        "email-address",
    ];
    let args: Map<String, Value> = roles
        .iter()
        .map(|role| ((*role).to_owned(), json!([role])))
        .collect();
    let stored = tool_of("fetch/send", Value::Object(args));
    let values: Vec<_> = roles
        .iter()
        .map(|role| (Just(*role), prop::collection::vec(fitting(role), 0..3)))
        .collect();
    let request = values.prop_map(|values| {
        let given = values.into_iter().filter(|(_, values)| !values.is_empty());
        let arguments = given
            .map(|(role, values)| (role.to_owned(), json!(values)))
            .collect();
        Request {
            server: "fetch".to_owned(),
            tool: "send".to_owned(),
            arguments: Value::Object(arguments),
        }
    });
    (world(), rules_on_values(), prop::collection::vec(request, 3)).prop_map(move |(world, rules, calls)| {
        let documents = Documents::new(rules, std::slice::from_ref(&stored));
        Case {
            world,
            documents,
            calls,
        }
    })
}
