//! Arbitrary engines, worlds and calls from few parts, so that they often meet.

use callgate_core::Part;
use callgate_host::{Repository, Urls, World};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

use super::engines::{Documents, rule};

/// What one property is tried on.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The machine.
    pub(crate) world: World,
    /// The engine.
    pub(crate) documents: Documents,
    /// Calls of the engine's tools, and now and then of another.
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

/// `cases` cases from the same seed in every run, unless `PROPTEST_CASES` and `PROPTEST_RNG_SEED` say otherwise.
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

const DIRS: &[&str] = &[
    "/box",
    "/box/in",
    "/secret",
    "/secret/key",
    "/home/u",
    "/home/u/.ssh",
    "/out",
    "/srv/app",
];
const FILES: &[&str] = &["/box/a", "/box/in/a", "/secret/key/a", "/out/a", "/home/u/.ssh/a"];
const LINKS: &[&str] = &["/box/l", "/box/in/l", "/out/l", "/home/u/l", "/srv/app/l"];
const TARGETS: &[&str] = &[
    "/box",
    "/secret",
    "/secret/key",
    "/out",
    "..",
    "../out",
    "a",
    "l",
    "/box/l",
    "/out/l",
    "/home/u/.ssh",
    "/none",
    "/secret/none",
    "../../secret",
    "/",
    "in/../../secret",
];
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
/// Where tools are: what is particular to `filesystem` and `git` is to be met often.
const HOMES: &[&str] = &["filesystem", "filesystem", "git", "git", "fetch", "notes"];
const TOOLS: &[&str] = &["t0", "t1", "t2"];
const NAMES: &[&str] = &["path", "a", "b", "c"];
const HOSTS: &[&str] = &["good.test", "evil.test", "api.good.test", "github.com"];

/// Directories, files and links, and a repository in each of two directories.
pub(crate) fn world() -> impl Strategy<Value = World> {
    let links = prop::collection::btree_map(select(LINKS), select(TARGETS), 0..4);
    let url = || prop::option::of(git_url());
    let repository = || {
        (url(), url(), prop::option::of(select(vec!["origin", "fork"]))).prop_map(|(origin, fork, push)| {
            let named = [("origin", origin), ("fork", fork)];
            Repository {
                branch: Some("main".to_owned()),
                remotes: named
                    .into_iter()
                    .filter_map(|(name, url)| Some((name.to_owned(), Urls::One(url?))))
                    .collect(),
                push_default: push.map(str::to_owned),
                ..Repository::default()
            }
        })
    };
    (links, repository(), repository()).prop_map(|(links, inside, outside)| {
        let mut world = World::new("/home/u", "/srv/app")
            .repository("/box", inside)
            .repository("/out", outside);
        world.fs.dirs.extend(DIRS.iter().map(|dir| (*dir).to_owned()));
        world.fs.files.extend(FILES.iter().map(|file| (*file).to_owned()));
        world.fs.links.extend(
            links
                .into_iter()
                .map(|(link, target)| (link.to_owned(), target.to_owned())),
        );
        world
    })
}

/// A path that the world may know.
pub(crate) fn path() -> impl Strategy<Value = String> {
    let begin = select(
        [
            DIRS,
            FILES,
            LINKS,
            &[
                "/box/a",
                "/box/in/a",
                "/box/in/b",
                "in",
                "~",
                "~/.ssh",
                ".",
                "..",
                "in",
                "/",
                "/BOX",
                "/Secret",
            ],
        ]
        .concat(),
    );
    let tail = select(vec![
        "",
        "",
        "",
        "/a",
        "/none/x",
        "/..",
        "/../secret",
        "/l",
        "/l/..",
        "/",
        "/./in",
        "//a",
    ]);
    prop_oneof![
        12 => (begin, tail).prop_map(|(begin, tail)| format!("{begin}{tail}")),
        1 => select(vec!["", "~bob/x", "/proc/self/cwd", "/box/\0", "file:///box"]).prop_map(str::to_owned),
    ]
}

fn url() -> impl Strategy<Value = String> {
    let scheme = select(vec![
        "https://",
        "https://",
        "http://",
        "HTTPS://u:p@",
        "ftp://",
        "",
    ]);
    let tail = select(vec!["", "/", "/x?q=/", ":8080/", "./"]);
    prop_oneof![
        10 => (scheme, select(HOSTS), tail).prop_map(|(scheme, host, tail)| format!("{scheme}{host}{tail}")),
        1 => select(vec!["", "not a url", "file:///x", "http://127.0.0.1/", "http://localhost", "https://EVIL.test"])
            .prop_map(str::to_owned),
    ]
}

fn git_url() -> impl Strategy<Value = String> {
    let begin = select(vec!["https://", "ssh://git@", "git@"]);
    let tail = select(vec!["/o/r.git", "/o/r", ":o/r"]);
    prop_oneof![
        6 => (begin, select(HOSTS), tail).prop_map(|(begin, host, tail)| format!("{begin}{host}{tail}")),
        2 => select(vec!["origin", "fork"]).prop_map(str::to_owned),
        1 => select(vec!["", "ext::sh -c x", "/out", "--all"]).prop_map(str::to_owned),
    ]
}

fn word() -> impl Strategy<Value = String> {
    select(vec![
        "acme",
        "ACME",
        "evil",
        "main",
        "dev",
        "eve@evil.test",
        "Bob@good.test",
        "x",
    ])
    .prop_map(str::to_owned)
}

/// A string that fits one kind of role, mostly.
fn text(kind: &str) -> BoxedStrategy<String> {
    match kind {
        "fetch-url" => url().boxed(),
        "git-remote-url" => git_url().boxed(),
        "github-owner" | "branch-name" | "email-address" | "none" => word().boxed(),
        _ => path().boxed(),
    }
}

/// What a tool's argument may be given: a string, an array, and seldom something else.
fn argument(roles: &[String]) -> BoxedStrategy<Value> {
    let kind = roles.first().map_or("none", String::as_str).to_owned();
    let one = || prop_oneof![9 => text(&kind), 1 => prop_oneof![path(), url(), word()]];
    prop_oneof![
        8 => one().prop_map(Value::from),
        6 => prop::collection::vec(one(), 0..4).prop_map(Value::from),
        1 => select(vec![Value::Null, json!(1), json!(true), json!({"path": "/secret"}), json!([["/secret"]])]),
    ]
    .boxed()
}

fn roles(from: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    subsequence(from, 1..=most).prop_map(|roles| roles.into_iter().map(str::to_owned).collect())
}

/// A tool of a server: roles of its arguments, some of them conditional on `mode`.
fn tool(name: &'static str) -> impl Strategy<Value = (Value, Vec<(String, Vec<String>)>)> {
    let of = |from, most| {
        prop::collection::vec(
            (select(NAMES), roles(from, 2), prop::bool::weighted(0.15)),
            0..most,
        )
    };
    let arguments = prop_oneof![2 => of(ROLES, 4), 1 => of(&PATH_ROLES[..2], 3)];
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

fn domains() -> impl Strategy<Value = Vec<&'static str>> {
    let patterns = vec![
        "good.test",
        "*.good.test",
        "evil.test",
        "github.com",
        "github.com/o/r",
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

/// The conditions of a rule.
pub(crate) fn condition() -> impl Strategy<Value = Value> {
    let maybe = |weight: f64| prop::bool::weighted(weight);
    let parts = (
        prop::option::weighted(0.3, roles(ROLES, 3)),
        prop::option::weighted(0.3, subsequence(SERVERS, 1..3)),
        prop::option::weighted(0.1, subsequence(TOOLS, 1..3)),
        prop::option::weighted(0.4, (roles(PATH_ROLES, 3), path_of_rule())),
        prop::option::weighted(0.25, (roles(&["fetch-url", "git-remote-url"], 2), domains())),
        prop::collection::vec(list(), 0..2),
        maybe(0.7),
    );
    parts.prop_map(|(roles, server, tool, paths, domains, lists, unlisted)| {
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
        Value::Object(condition)
    })
}

fn path_of_rule() -> impl Strategy<Value = &'static str> {
    select(vec![
        "/", "/box", "/box/in", "/box/l", "/secret", "/out", "/home/u", "~", "~/.ssh", "/out/l", "/none",
    ])
}

fn rules() -> impl Strategy<Value = Value> {
    let effect = select(vec!["allow", "allow", "escalate", "deny"]);
    let last = prop::option::of(select(vec!["allow", "allow", "escalate"]));
    (prop::collection::vec((condition(), effect), 0..7), last).prop_map(|(rules, last)| {
        let last = last.map(|effect| (json!({}), effect));
        let rules = rules.into_iter().chain(last).enumerate();
        rules
            .map(|(at, (condition, effect))| rule(&format!("r{at}"), condition, effect))
            .collect()
    })
}

fn settings() -> impl Strategy<Value = Vec<(Part, Value)>> {
    let protected = subsequence(vec!["/secret", "~/.ssh", "/box/in", "/out/l", "/"], 0..3);
    let sandbox = prop::option::of(select(vec!["/box", "/box", "/box/l", "/none/box"]));
    let gated = prop::option::weighted(0.4, (select(vec!["git", "fetch"]), domains()));
    let unknown = select(vec!["ignore", "schema", "escalate", "deny"]);
    let options = (
        select(vec!["on", "off"]),
        unknown,
        select(vec!["fresh", "pinned"]),
    );
    (protected, sandbox, gated, options).prop_map(
        |(protected, sandbox, gated, (heuristic, unknown, directories))| {
            let options =
                json!({"heuristicPaths": heuristic, "unknownArguments": unknown, "directories": directories});
            let mut parts = vec![(Part::ProtectedPaths, json!(protected)), (Part::Options, options)];
            parts.extend(sandbox.map(|sandbox| (Part::AllowedDirectory, json!(sandbox))));
            parts.extend(
                gated.map(|(server, patterns)| (Part::ServerDomainAllowlists, json!({server: patterns}))),
            );
            parts
        },
    )
}

/// A call of one of `tools`, which name their arguments' roles.
fn request(tools: Vec<(Value, Vec<(String, Vec<String>)>)>) -> BoxedStrategy<Request> {
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
