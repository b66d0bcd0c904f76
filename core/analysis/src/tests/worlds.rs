//! Arbitrary worlds, tools whose arguments are addresses, and contexts that a host may give with their calls.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::arbitrary::{self, Documents};
use super::calls::{Random, Tool};
use callgate_engine::config::DocumentKind;

/// The tools that only documents with a world have.
pub(super) const TOOLS: &[Tool] = &[
    ("modding", "read", &[("path", "address"), ("mode", "mode")]),
    ("modding", "write", &[("path", "address"), ("text", "name")]),
    ("modding", "move", &[("from", "address"), ("to", "address")]),
    ("modding", "import", &[("file", "path"), ("to", "address")]),
    ("modding", "run", &[("script", "address"), ("url", "url")]),
    ("modding", "drop", &[("path", "address"), ("owner", "name")]),
];

fn annotations() -> Value {
    json!({"tools": [
        {"toolName": "read", "args": {
            "path": {"default": ["address"], "when": [{"condition": {"arg": "mode", "equals": "list"}, "roles": []}]},
            "mode": "none"}},
        {"toolName": "write", "args": {"path": "address", "text": "none"},
         "inputSchema": {"properties": {"path": {"type": "string"}, "text": {}}, "required": ["path"]}},
        {"toolName": "move", "args": {"from": "address", "to": "address"}},
        {"toolName": "import", "args": {"file": "read-path", "to": "address"}},
        {"toolName": "run", "args": {"script": "address", "url": "fetch-url"}},
        {"toolName": "drop", "kind": "delete", "args": {"path": "address", "owner": "github-owner"}},
    ]})
}

const MODES: &[&str] = &["play", "dev", "edit"];

const COMMANDS: &[&str] = &["read", "write", "drop", "git status"];

const NAMES: &[&str] = &["read", "write", "move", "import", "run", "drop"];

/// Conditions, of which only the host tells the last.
const CONDITIONS: &[&str] = &[
    "has_contract",
    "mod_in_session",
    "path_in_session_mods",
    "command_whitelisted",
    "exec_signed",
    "host:night",
];

/// Addresses that lists name.
const ENTRIES: &[&str] = &[
    "root:game/some-file",
    "root:game/in/x",
    "mod:dragons/x",
    "mod:elves/in",
    "ROOT_GAME:/x",
];

fn conditions() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        3 => Just(Vec::new()),
        4 => subsequence(CONDITIONS[..5].to_vec(), 1..3),
        1 => subsequence(CONDITIONS.to_vec(), 1..3),
    ]
}

fn place() -> impl Strategy<Value = (&'static str, &'static str, Option<&'static str>)> {
    let below = prop::option::weighted(0.4, select(vec!["in", "app", ".env", "some-file"]));
    (select(MODES), select(vec!["game", "game", "home"]), below)
}

fn row((mode, root, subdirectory): (&str, &str, Option<&str>), key: &str, value: Value) -> Value {
    json!({"mode": mode, "root": root, "subdirectory": subdirectory, key: value})
}

/// A world, in which many rows are about the same places.
fn world() -> impl Strategy<Value = Value> {
    let operation = (
        prop_oneof![
            1 => Just(json!("exec")),
            4 => prop::collection::vec((select(NAMES), select(COMMANDS)), 1..6)
                .prop_map(|pairs| pairs.into_iter().map(|(tool, command)| json!([tool, command])).collect()),
        ],
        conditions(),
    );
    let parts = (
        select(vec!["/srv/app", "/srv", "/"]),
        select(vec!["/home/u", "/srv/app/in"]),
        subsequence(
            vec![
                ("dragons", "/srv/app/in"),
                ("elves", "/srv/app/elves"),
                ("orcs", "/srv/app/in/orcs"),
                ("far", "/var/far"),
            ],
            0..4,
        ),
        prop::collection::vec((place(), conditions()), 1..7),
        prop::collection::vec((place(), prop::collection::vec(operation, 1..4)), 1..7),
        prop::option::weighted(0.5, select(vec!["exec", "run"])),
        prop::option::weighted(0.4, subsequence(NAMES.to_vec(), 1..3)),
    );
    parts.prop_map(|(game, home, mounts, visible, operable, exec, removing)| {
        let mounts: Map<String, Value> = mounts
            .into_iter()
            .map(|(name, path)| (name.to_owned(), json!(path)))
            .collect();
        let visibility = visible
            .into_iter()
            .map(|(place, when)| row(place, "when", json!(when)));
        let operations = operable.into_iter().map(|(place, rules)| {
            let rules = rules
                .into_iter()
                .map(|(commands, when)| json!({"commands": commands, "when": when}));
            row(place, "rules", rules.collect())
        });
        let mut world = json!({
            "roots": {"game": game, "home": home}, "mounts": mounts,
            "visibility": unique(visibility), "operations": unique(operations),
        });
        if let Some(tool) = exec {
            world["execTool"] = json!(tool);
        }
        if let Some(tools) = removing {
            let pairs: Vec<Value> = tools.into_iter().map(|tool| json!([tool, "drop"])).collect();
            world["areas"] = json!({"delete": pairs});
        }
        world
    })
}

/// The first row of each key.
fn unique(rows: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for row in rows {
        let key = |row: &Value| {
            [
                row["mode"].clone(),
                row["root"].clone(),
                row["subdirectory"].clone(),
            ]
        };
        if !found.iter().any(|known| key(known) == key(&row)) {
            found.push(row);
        }
    }
    found
}

/// Rules about addresses.
fn rules() -> impl Strategy<Value = Vec<Value>> {
    let condition = prop_oneof![
        3 => Just(json!({"roles": "address"})),
        2 => subsequence(ENTRIES.to_vec(), 1..3).prop_map(
            |allowed| json!({"lists": [{"roles": ["address"], "allowed": allowed, "matchType": "identifiers"}]})
        ),
        1 => subsequence(NAMES.to_vec(), 1..4).prop_map(|tools| json!({"server": "modding", "tool": tools})),
    ];
    prop::collection::vec((condition, select(vec!["allow", "allow", "escalate", "deny"])), 1..4).prop_map(
        |rules| {
            let rule = |(at, (condition, then)): (usize, (Value, &str))| json!({"name": format!("w{at}"), "description": "", "principle": "", "if": condition, "then": then, "reason": ""});
            rules.into_iter().enumerate().map(rule).collect()
        },
    )
}

/// Documents of every kind, of which most have a world.
pub(super) fn documents() -> impl Strategy<Value = Documents> {
    let world = prop::option::weighted(0.7, (world(), rules(), any::<bool>()));
    (arbitrary::more_documents(), world).prop_map(|(documents, world)| match world {
        Some((world, rules, comes_first)) => with_world(documents, world, rules, comes_first),
        None => documents,
    })
}

/// The documents with a world, its tools, and rules about their addresses.
pub(super) fn with_world(
    mut documents: Documents,
    world: Value,
    rules: Vec<Value>,
    comes_first: bool,
) -> Documents {
    for (kind, value) in &mut documents {
        match kind {
            DocumentKind::Annotations => value["servers"]["modding"] = annotations(),
            DocumentKind::Policy => {
                if let Some(known) = value["rules"].as_array_mut() {
                    let at = if comes_first { 0 } else { known.len() };
                    known.splice(at..at, rules.iter().cloned());
                }
            }
            _ => {}
        }
    }
    documents.push((DocumentKind::World, world));
    documents
}

/// The documents without their world: what was an address bears another role, or nothing is said of it.
pub(super) fn without_world(documents: &Documents, role: &str) -> Documents {
    let mut found = documents.clone();
    found.retain(|(kind, _)| *kind != DocumentKind::World);
    for (_, document) in &mut found {
        rename(document, role);
    }
    found
}

/// Writes another role wherever the document says `address`.
fn rename(value: &mut Value, role: &str) {
    match value {
        Value::String(text) if text == "address" => role.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, role)),
        Value::Object(members) => members.values_mut().for_each(|member| rename(member, role)),
        _ => {}
    }
}

/// Roles that an argument may have had before a world came.
pub(super) const OTHER_ROLES: &[&str] = &["read-path", "write-path", "delete-path", "github-owner", "none"];

/// The text of an address, or something that looks like one.
pub(super) fn address(random: &mut Random) -> String {
    let begin = [
        "root:game",
        "root:game",
        "root:home",
        "mod:dragons",
        "mod:elves",
        "mod:orcs",
        "mod:far",
        "ROOT_GAME:",
        "mod:dragons:",
        "root:nope",
        "mod:nope",
    ];
    let end = [
        "/",
        "/x",
        "/in/x",
        "/in",
        "/IN/x",
        "/app/in/x",
        "/app/x",
        "/.env",
        "/a/.env",
        "/in/orcs/x",
        "/./in/../x",
        "/../x",
        "/some-file",
        "/elves",
        "",
        "/etc/shadow",
        "/key",
    ];
    match random.below(20) {
        0 => random
            .pick(&["", "x", "/srv/app/x", "[\"x\"]", "root:game"])
            .to_owned(),
        1 | 2 => random.pick(ENTRIES).to_owned(),
        _ => format!("{}{}", random.pick(&begin), random.pick(&end)),
    }
}

/// A context; `None` where the host gives none.
pub(super) fn context(random: &mut Random) -> Option<Value> {
    if random.below(12) == 0 {
        return None;
    }
    let mut members = Map::new();
    let mut say = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    match random.below(12) {
        0 => {}
        1 => say("mode", json!("")),
        2 => say("mode", json!("night")),
        3 => say("mode", json!(["dev"])),
        _ => say("mode", json!(random.pick(MODES))),
    }
    let command = match random.below(12) {
        0 => None,
        1 => Some("reading"),
        2 => Some("git status --short"),
        3 => Some(""),
        _ => Some(random.pick(COMMANDS)),
    };
    if let Some(command) = command {
        say("command", json!(command));
    }
    match random.below(4) {
        0 => {}
        1 => say("has_contract", json!("true")),
        _ => say("has_contract", json!(true)),
    }
    match random.below(6) {
        0 => say("session_mods", json!([])),
        1 => say("session_mods", json!(["dragons"])),
        2 => say("session_mods", json!(["elves", "orcs", "nope"])),
        3 => say("session_mods", json!({"dragons": true})),
        _ => {}
    }
    match random.below(5) {
        0 => say("command_whitelist", json!(["git", "read", ""])),
        1 => say("command_whitelist", json!(["git status", "write"])),
        2 => say("command_whitelist", json!(COMMANDS)),
        _ => {}
    }
    if random.below(3) > 0 {
        let key = random.pick(&["contract-key-0001", "contract-key-0001", "another-key-00001"]);
        say("contract_key", json!(key));
        say("script_host_path", json!("/srv/tools/run.py"));
        say("content_sha256", json!("0".repeat(64)));
        let signature = "51c393bf0a59babffb5e0ab49b396322d7f673f93c7905f87f382ef73f238cda";
        say("script_signature", json!(signature));
    }
    if random.below(4) == 0 {
        say("mod_name", json!("dragons"));
        say("host", json!({"user": "u"}));
    }
    Some(Value::Object(members))
}
