//! Arbitrary documents, made from few parts so that they often coincide, and calls that fit them.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};

/// The documents of an engine.
pub(super) type Documents = Vec<(DocumentKind, Value)>;

/// Tools with arguments of every kind: server, tool, the arguments with their roles.
pub(super) fn annotations() -> Value {
    let tool = |name: &str, args: Value| json!({"toolName": name, "args": args});
    json!({"servers": {
        "filesystem": {"tools": [
            tool("read", json!({"path": "read-path"})),
            tool("move", json!({"source": ["read-path", "delete-path"], "destination": "write-path"})),
            tool("copy", json!({"from": "read-path", "to": ["read-path", "write-path"]})),
        ]},
        "git": {"tools": [
            tool("push", json!({"path": "write-history", "remote": "git-remote-url", "branch": "branch-name"})),
            tool("add", json!({"path": "read-path", "files": "write-path"})),
        ]},
        "fetch": {"tools": [tool("get", json!({"url": "fetch-url", "mode": "none"}))]},
        "github": {"tools": [
            tool("open", json!({"owner": "github-owner", "repo": "github-repo", "branch": "branch-name"})),
        ]},
        "mail": {"tools": [
            tool("send", json!({"to": "email-address", "share": "share-permission"})),
            {"toolName": "attach", "args": {"to": "email-address", "path": "read-path"},
             "inputSchema": {"properties": {"to": {"type": "array", "items": {"type": "string"}}, "path": {"type": "string"}},
                             "required": ["to"]}},
        ]},
        "notes": {"tools": [tool("put", json!({
            "path": {"default": ["write-path"], "when": [
                {"condition": {"arg": "mode", "equals": "list"}, "roles": ["read-path"]},
                {"condition": {"arg": "mode", "is": "falsy"}, "roles": []},
            ]},
            "mode": "none", "url": "fetch-url",
        }))]},
    }})
}

/// The same, and tools whose arguments have types, are required, stand within others, are relative to others, have aliases, roles
/// of the engine's own, or roles of several kinds. `mode` is the schema of an argument that conditions look at.
fn more_annotations(mode: &Value, required: &[&str]) -> Value {
    let mut all = annotations();
    let path = json!({"type": "string"});
    let paths = json!({"type": "array", "items": {"type": "string"}});
    let schema =
        |properties: Value, required: &[&str]| json!({"properties": properties, "required": required});
    let more = json!({
        "files": {"tools": [
            {"toolName": "list", "args": {"paths": "read-path", "mode": "none"},
             "inputSchema": schema(json!({"paths": paths, "mode": mode}), &["paths"])},
            {"toolName": "any", "args": {"path": "read-path", "mode": "none"},
             "inputSchema": schema(json!({"path": {}, "mode": mode}), required)},
            {"toolName": "remove", "args": {"path": "delete-path"}, "arg_schema": {"arg_aliases": {"file": "path"}}},
            {"toolName": "edit", "args": {"/edits/*/path": "write-path", "mode": "none"}},
            {"toolName": "save", "args": {"path": "read-path", "to": {"roles": "write-path", "absent": "nothing"}}},
            {"toolName": "look", "args": {"to": {"roles": "write-path", "absent": "nothing"}, "mode": "none"}},
            {"toolName": "index", "args": {"path": {"roles": "read-path", "absent": "."}, "to": "write-path"}},
            {"toolName": "compare", "args": {"one": "read-path", "other": "read-path"}},
        ]},
        "vcs": {"tools": [
            {"toolName": "add", "args": {"repo": "read-path", "files": {"roles": ["write-path"], "relativeTo": "repo"}},
             "inputSchema": schema(json!({"repo": path, "files": path}), &["repo"])},
        ]},
        "own": {"tools": [
            {"toolName": "label", "args": {"label": "label", "mode": "none"}, "inputSchema": schema(json!({"label": path, "mode": mode}), required)},
            {"toolName": "init", "args": {"name": ["write-path", "github-repo"]}, "inputSchema": schema(json!({"name": path}), &["name"])},
        ]},
        "proxy": {"tools": [{"toolName": "add", "args": {"domain": "proxy-domain"}}]},
    });
    if let (Value::Object(known), Value::Object(more)) = (&mut all["servers"], more) {
        known.extend(more);
    }
    all
}

pub(super) const ROLES: &[&str] = &[
    "read-path",
    "write-path",
    "delete-path",
    "write-history",
    "fetch-url",
    "git-remote-url",
    "github-owner",
    "github-repo",
    "branch-name",
    "email-address",
    "share-permission",
    "none",
];

const PATH_ROLES: &[&str] = &["read-path", "write-path", "delete-path"];

const URL_ROLES: &[&str] = &["fetch-url", "git-remote-url"];

pub(super) const DIRECTORIES: &[&str] = &[
    "/",
    "/srv",
    "/srv/app",
    "/srv/app/in",
    "/etc",
    "~",
    "~/.ssh",
    "/srv/application",
];

pub(super) const DOMAINS: &[&str] = &[
    "*",
    "good.test",
    "*.good.test",
    "api.good.test",
    "evil.test",
    "github.com",
    "github.com/acme/w",
    "github.com/acme/*",
    "*.example",
    "127.0.0.1",
    "::1",
    "[2001:db8::1]",
    "[::ffff:192.0.2.9]",
    "localhost",
];

/// Places of the host and what servers call them: the server, the place, its name.
const SHARED: &[&[(&str, &str, &str)]] = &[
    &[("filesystem", "/srv/app", "/work"), ("notes", "/", "/host")],
    &[
        ("filesystem", "/srv", "/work"),
        ("filesystem", "/etc", "/work/app/in"),
        ("git", "/home/u", "/h"),
    ],
];

pub(super) const ENTRIES: &[&str] = &[
    "main",
    "dev",
    "acme",
    "ACME",
    "w",
    "eve@evil.test",
    "bob@good.test",
    "reader",
    "/srv/app",
];

fn roles() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(ROLES.to_vec(), 1..4)
}

/// Patterns of hosts; often `*` alone, by which any host differs from IP addresses and loopback names.
fn domains() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        3 => subsequence(DOMAINS.to_vec(), 1..4),
        2 => Just(vec!["*"]),
    ]
}

/// Roles of a condition: often those whose values it can look at.
fn roles_of(fitting: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        2 => subsequence(fitting.to_vec(), 1..=fitting.len()),
        3 => roles(),
    ]
}

fn list() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (roles(), subsequence(ENTRIES.to_vec(), 1..4), select(vec!["identifiers", "identifiers", "emails"])).prop_map(
            |(roles, allowed, kind)| json!({"roles": roles, "allowed": allowed, "matchType": kind})
        ),
        1 => (roles_of(URL_ROLES), domains())
            .prop_map(|(roles, allowed)| json!({"roles": roles, "allowed": allowed, "matchType": "domains"})),
    ]
}

fn argument_condition() -> impl Strategy<Value = Value> {
    let values = vec![
        json!("list"),
        json!("dry"),
        json!(1),
        json!(true),
        json!(null),
        json!("1"),
        json!("main"),
        json!("reader"),
    ];
    let test = prop_oneof![
        select(vec!["present", "absent", "truthy", "falsy"]).prop_map(|word| ("is", json!(word))),
        select(values.clone()).prop_map(|value| ("equals", value)),
        subsequence(values, 1..3).prop_map(|values| ("in", json!(values))),
    ];
    let argument = select(vec!["mode", "mode", "mode", "branch", "to", "share"]);
    (argument, test).prop_map(|(argument, (word, value))| {
        let mut condition = json!({"arg": argument});
        condition[word] = value;
        condition
    })
}

fn condition() -> impl Strategy<Value = Value> {
    let servers = vec!["filesystem", "git", "fetch", "github", "mail", "notes", "g*"];
    let tools = vec!["read", "move", "push", "get", "open", "send", "put", "p*"];
    let parts = (
        prop::option::weighted(0.2, roles()),
        prop::option::weighted(0.2, subsequence(servers, 1..4)),
        prop::option::weighted(0.1, subsequence(tools, 1..5)),
        prop::option::weighted(0.35, (roles_of(PATH_ROLES), select(DIRECTORIES))),
        prop::option::weighted(0.25, (roles_of(URL_ROLES), domains())),
        prop::option::weighted(0.35, prop::collection::vec(list(), 1..3)),
        prop::option::weighted(0.15, prop::collection::vec(argument_condition(), 1..3)),
    );
    parts.prop_map(|(roles, server, tool, paths, domains, lists, args)| {
        let mut condition = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                condition.insert(key.to_owned(), value);
            }
        };
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
        set("lists", lists.map(|lists| json!(lists)));
        set("args", args.map(|args| json!(args)));
        Value::Object(condition)
    })
}

fn policy() -> impl Strategy<Value = Value> {
    let effect = || select(vec!["allow", "allow", "escalate", "deny"]);
    let last = prop::option::of(select(vec!["allow", "allow", "escalate"]));
    (prop::collection::vec((condition(), effect()), 0..8), last).prop_map(|(rules, last)| {
        let last = last.map(|effect| (json!({}), effect));
        let rules = rules.into_iter().chain(last).enumerate().map(|(at, (condition, effect))| {
            json!({"name": format!("r{at}"), "description": "", "principle": "", "if": condition, "then": effect, "reason": ""})
        });
        json!({"rules": rules.collect::<Vec<_>>()})
    })
}

pub(super) fn documents() -> impl Strategy<Value = Documents> {
    let protected = subsequence(
        vec!["/etc/shadow", "~/.ssh", "/srv/app", "**/.env", "/srv/*/key"],
        0..3,
    );
    let sandbox = prop::option::weighted(0.5, select(vec!["/srv/app", "/srv"]));
    let gated = prop::option::weighted(0.3, (select(vec!["git", "fetch", "notes"]), domains()));
    let options = (
        select(vec!["on", "off"]),
        select(vec!["ignore", "schema", "escalate", "deny"]),
        select(vec!["before-rules", "before-rules", "after-rules"]),
        select(vec!["sensitive", "sensitive", "insensitive"]),
        select(vec!["careful", "careful", "runtime"]),
        prop::option::weighted(0.3, select(SHARED)),
    );
    (policy(), protected, sandbox, gated, options).prop_map(
        |(policy, protected, sandbox, gated, (heuristic, unknown, order, case, compatibility, shared))| {
            let mut shares = Map::new();
            for (server, host, name) in shared.into_iter().flatten() {
                shares.entry(*server).or_insert_with(|| json!({}))[*host] = json!(name);
            }
            let mut parts = vec![
                (DocumentKind::Policy, policy),
                (DocumentKind::Annotations, annotations()),
                (DocumentKind::ProtectedPaths, json!(protected)),
                (
                    DocumentKind::Options,
                    json!({"heuristicPaths": heuristic, "unknownArguments": unknown, "sandbox": order, "pathCase": case,
                           "compatibility": compatibility, "serverPaths": shares}),
                ),
            ];
            parts.extend(sandbox.map(|sandbox| (DocumentKind::Sandbox, json!(sandbox))));
            parts.extend(gated.map(|(server, patterns)| (DocumentKind::DomainAllowlists, json!({server: patterns}))));
            parts
        },
    )
}

/// Names of the roles, servers and tools that only [`more_documents`] has.
const MORE_ROLES: &[&str] = &["label", "proxy-domain"];

/// Documents of every kind, with everything that a tool's annotation may say.
pub(super) fn more_documents() -> impl Strategy<Value = Documents> {
    let types = vec![
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": "number"}),
        json!({"type": "boolean"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "array"}),
        json!({"type": "object"}),
        json!({}),
    ];
    let required = select(vec![
        vec![],
        vec!["mode"],
        vec!["path", "mode"],
        vec!["path"],
        vec!["label"],
    ]);
    let patterns = vec![
        "**/*file",
        "**/s*",
        "**/some-file",
        "/srv/app/*",
        "/etc/**",
        "**/.env",
        "/srv/*/key",
        "~/*",
    ];
    let protected = subsequence(patterns, 0..3);
    let roots = prop::option::weighted(0.15, subsequence(vec!["/srv", "/etc", "/srv/app/in"], 1..3));
    let admitted = vec!["*.md", "in/**", "/etc/*", "/srv/**/a", "~/**", "**"];
    let admitted = prop::option::weighted(
        0.25,
        (select(vec!["any", "remove", "read"]), subsequence(admitted, 1..3)),
    );
    let sandboxed = (
        prop::option::weighted(0.3, subsequence(PATH_ROLES.to_vec(), 1..3)),
        prop::option::weighted(0.4, subsequence(vec!["filesystem", "files", "vcs", "own"], 1..4)),
        prop::option::weighted(0.1, select(vec!["own", "files"])),
        select(vec!["identity", "lowercase"]),
    );
    let listed = prop::collection::vec(
        (
            subsequence(MORE_ROLES.to_vec(), 1..3),
            domains(),
            subsequence(ENTRIES.to_vec(), 1..4),
        ),
        0..3,
    );
    let asked = prop::option::weighted(
        0.5,
        (argument_condition(), select(vec!["allow", "deny", "escalate"])),
    );
    let parts = (
        documents(),
        select(types),
        required,
        protected,
        (roots, admitted),
        sandboxed,
        (listed, asked),
    );
    parts.prop_map(
        |(mut parts, mode, required, protected, (roots, admitted), sandboxed, (listed, asked))| {
            let (roles, servers, trusted, step) = sandboxed;
            for (kind, value) in &mut parts {
                match kind {
                    DocumentKind::Annotations => *value = more_annotations(&mode, &required),
                    DocumentKind::ProtectedPaths => {
                        if let Value::Array(paths) = value {
                            paths.extend(protected.iter().map(|one| {
                                match one.starts_with("**/s") || one.starts_with("/srv") {
                                    true => json!({"path": one, "against": "write"}),
                                    false => json!(one),
                                }
                            }));
                        }
                    }
                    DocumentKind::Options => {
                        if let Some(roles) = &roles {
                            value["sandboxRoles"] = json!(roles);
                        }
                        if let Some(servers) = &servers {
                            value["sandboxServers"] = json!(servers);
                        }
                        value["serverAliases"] = json!({"vcs": "git"});
                    }
                    DocumentKind::Policy => add_rules(value, &listed, asked.as_ref()),
                    _ => {}
                }
            }
            let mut ceiling = Map::new();
            if let Some(roots) = roots {
                ceiling.insert("workspace_roots".to_owned(), json!(roots));
            }
            if let Some((tool, patterns)) = admitted {
                let constraint = json!({"tool": tool, "arg_patterns": patterns, "arg_key": "path"});
                ceiling.insert("tool_arg_constraints".to_owned(), json!([constraint]));
            }
            if !ceiling.is_empty() {
                parts.push((DocumentKind::Ceiling, Value::Object(ceiling)));
            }
            parts.extend(trusted.map(|server| (DocumentKind::TrustedServers, json!([server]))));
            let role =
                json!({"name": "label", "description": "d", "category": "identifier", "canonicalize": step});
            parts.push((DocumentKind::Roles, json!([role])));
            parts
        },
    )
}

/// The roles, domains and entries of a list of [`more_documents`] about its own roles.
type Listed = (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>);

/// Puts rules about the roles that only [`more_documents`] has before the others, and one with a condition on an argument.
fn add_rules(policy: &mut Value, listed: &[Listed], asked: Option<&(Value, &str)>) {
    let Some(rules) = policy.get_mut("rules").and_then(Value::as_array_mut) else {
        return;
    };
    let rule = |name: String, condition: Value, then: &str| json!({"name": name, "description": "", "principle": "", "if": condition, "then": then, "reason": ""});
    let mut own = Vec::new();
    for (at, (roles, domains, entries)) in listed.iter().enumerate() {
        let list = match roles.contains(&"label") {
            true => json!({"roles": roles, "allowed": entries, "matchType": "identifiers"}),
            false => json!({"roles": roles, "allowed": domains, "matchType": "domains"}),
        };
        let then = ["allow", "escalate", "deny"][(domains.len() + at) % 3];
        own.push(rule(format!("l{at}"), json!({"lists": [list]}), then));
    }
    own.extend(asked.map(|(condition, then)| rule("asked".to_owned(), json!({"args": [condition]}), then)));
    rules.splice(0..0, own);
}

pub(super) struct Home;

impl Host for Home {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/srv"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<std::borrow::Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(None)
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}

/// `None` where an option makes the documents invalid.
pub(super) fn engine(documents: &Documents) -> Option<Engine> {
    let mut builder = Engine::builder();
    for (kind, value) in documents {
        builder = builder.part(*kind, value);
    }
    builder.build(&Home).ok()
}
