//! Shapes of arguments, conditions on them, and configurations that make much of a call be compared with much of a policy.

use callgate_engine::config::DocumentKind;
use serde_json::{Map, Value, json};

use super::{MOST, Shape, each, list, rule, rules};

/// Members of the largest object that is read.
const MEMBERS: usize = 65_000;

pub(super) fn shapes() -> Vec<Shape> {
    let groups = [conditions(), arrays(), members(), texts(), places(), configured()];
    groups.into_iter().flatten().collect()
}

fn none(name: &'static str, rules: Vec<Value>, value: Value) -> Shape {
    Shape::new(name, rules, "none", value)
}

/// Rules that deny by one condition on an argument each.
fn by_argument(count: usize, condition: impl Fn(usize) -> Value) -> Vec<Value> {
    rules(count, "deny", |at| json!({"args": [condition(at)]}))
}

fn members_of(count: usize, value: impl Fn(usize) -> (String, Value)) -> Value {
    (0..count).map(value).collect::<Map<_, _>>().into()
}

/// An engine that lets arguments pass that nobody names.
fn ignoring_unknown(mut shape: Shape) -> Shape {
    shape
        .parts
        .push((DocumentKind::Options, json!({"unknownArguments": "ignore"})));
    shape
}

/// Many conditions on one value.
fn conditions() -> Vec<Shape> {
    let equals = |count| by_argument(count, |at| json!({"arg": "values", "equals": format!("z{at}")}));
    let json_text = format!("[{}", "1,".repeat(4_000_000));
    let mut absent = none(
        "3,000 conditions on absent arguments, 65,000 members",
        by_argument(3_000, |at| json!({"arg": format!("y{at}"), "is": "truthy"})),
        json!(null),
    );
    absent.arguments = members_of(MEMBERS, |at| (format!("k{at}"), json!(1)));
    let mut clauses = Shape::new(
        "10,000 clauses, 65,000 members",
        rules(1, "deny", |_| json!({"roles": ["write-path"]})),
        "none",
        json!(null),
    );
    let clause =
        |at: usize| json!({"condition": {"arg": format!("y{at}"), "is": "truthy"}, "roles": ["none"]});
    let when: Vec<Value> = (0..10_000).map(clause).collect();
    clauses.roles = json!({"k0": {"default": ["read-path"], "when": when}});
    clauses.arguments = members_of(MEMBERS, |at| (format!("k{at}"), json!("/a")));
    vec![
        none(
            "36 conditions on a text of 8 MB that begins like JSON",
            equals(36),
            json!(json_text),
        ),
        none(
            "2,000 conditions on a text of 8 MB that begins like JSON",
            equals(2_000),
            json!(json_text),
        ),
        none(
            "2,000 conditions on a text of 8 MB of digits",
            by_argument(2_000, |at| json!({"arg": "values", "equals": at})),
            json!("1".repeat(8_000_000)),
        ),
        none(
            "9 conditions with lists of 100,000 values",
            by_argument(9, |at| {
                let values: Vec<String> = (0..100_000).map(|one| format!("v{one}x{at}")).collect();
                json!({"arg": "values", "in": values})
            }),
            json!("v1"),
        ),
        ignoring_unknown(absent),
        ignoring_unknown(clauses),
    ]
}

/// Conditions on what is in arrays and objects.
fn arrays() -> Vec<Shape> {
    let pointer =
        |start: &'static str| move |at: usize| json!({"arg": format!("/values/{start}{at}"), "equals": "/x"});
    vec![
        none(
            "300 conditions on an array of 200,000 items",
            by_argument(300, |at| json!({"arg": "values", "equals": format!("z{at}")})),
            each(200_000, |at| format!("v{at}")),
        ),
        none(
            "3,000 conditions with pointers into 60,000 members",
            by_argument(3_000, pointer("y")),
            members_of(60_000, |at| (format!("k{at}"), json!(1))),
        ),
        Shape::new(
            "16,000 conditions, each on one of 16,384 paths",
            by_argument(16_000, pointer("")),
            "read-path",
            each(MOST, |at| format!("/srv//f{at}")),
        ),
    ]
}

/// Roles for what is in arrays and objects, and the names of arguments.
fn members() -> Vec<Shape> {
    let allowed = || rules(1, "deny", |_| json!({"server": ["none"]}));
    let pointers = |count: usize, name: fn(usize) -> String| {
        let roles = (0..count).map(|at| (name(at), json!(["github-owner"])));
        Value::from(roles.collect::<Map<_, _>>())
    };
    let mut flat = none(
        "200 pointers into 60,000 members",
        allowed(),
        members_of(60_000, |at| (format!("z{at}"), json!(1))),
    );
    flat.roles = pointers(200, |at| format!("/values/k{at}"));
    let mut every = none(
        "200 pointers with `*` into 1,250 objects of 200 members",
        allowed(),
        (0..1_250)
            .map(|_| members_of(200, |at| (format!("z{at}"), json!("a"))))
            .collect(),
    );
    every.roles = pointers(200, |at| format!("/values/*/k{at}"));
    let mut other = none(
        "200 pointers that expect objects, 200,000 items that are not objects",
        allowed(),
        each(200_000, |at| format!("v{at}")),
    );
    other.roles = pointers(200, |at| format!("/values/*/k{at}"));
    let mut aliases = none("gate of 65,000 arguments under aliases", allowed(), json!(null));
    aliases.roles = json!({});
    let alias = members_of(MEMBERS, |at| (format!("a{at}"), json!(format!("b{at}"))));
    aliases.tool = json!({"arg_schema": {"arg_aliases": alias}});
    aliases.arguments = members_of(MEMBERS, |at| (format!("a{at}"), json!(1)));
    aliases.gates = true;
    let mut required = none(
        "20,000 required arguments, 65,000 members",
        allowed(),
        json!(null),
    );
    required.roles = members_of(20_000, |at| (format!("k{at}"), json!(["commit-message"])));
    let names: Vec<String> = (0..20_000).map(|at| format!("k{at}")).collect();
    required.tool = json!({"inputSchema": {"required": names}});
    required.arguments = members_of(MEMBERS, |at| (format!("k{at}"), json!("x")));
    vec![flat, every, other, aliases, required]
}

/// Long texts, and texts that are read in many ways.
fn texts() -> Vec<Shape> {
    let (email, branch, message) = ("email-address", "branch-name", "commit-message");
    let lists = |role: &'static str, kind: &'static str, count| {
        rules(count, "deny", move |at| {
            list(role, kind, &[format!("x{at}@y.test")])
        })
    };
    vec![
        Shape::new(
            "one text of 8 MB that names 2,000,000 recipients",
            lists(email, "emails", 1),
            email,
            json!("a@b,".repeat(2_000_000)),
        ),
        Shape::new(
            "one text of 100 KB that names 25,000 recipients",
            lists(email, "emails", 36),
            email,
            json!("a@b,".repeat(25_000)),
        ),
        Shape::new(
            "one text of 40 KB that names recipients with foreign domains",
            lists(email, "emails", 36),
            email,
            (0..1).map(|_| "a@ß.é,".repeat(5_000)).collect(),
        ),
        Shape::new(
            "one recipient of 8 MB, 1,000 denied lists",
            lists(email, "emails", 1_000),
            email,
            json!("A".repeat(8_000_000)),
        ),
        Shape::new(
            "one message of 8 MB, 10,000 denied lists",
            lists(message, "identifiers", 10_000),
            message,
            json!("a".repeat(8_000_000)),
        ),
        Shape::new(
            "one message of 8 MB, 100 lists of domains",
            rules(100, "deny", |at| {
                list(message, "domains", &[format!("h{at}.test")])
            }),
            message,
            json!("a.".repeat(4_000_000)),
        ),
        Shape::new(
            "16,384 branches, 60 denied lists",
            lists(branch, "identifiers", 60),
            branch,
            each(MOST, |at| format!("b{at}")),
        ),
        Shape::new(
            "400 refs of 20,000 bytes, 500 denied lists",
            lists(branch, "identifiers", 500),
            branch,
            each(400, |at| format!("refs/heads/{}{at}", "a/".repeat(10_000))),
        ),
        Shape::new(
            "one ref of 8 MB, 20,000 denied lists",
            lists(branch, "identifiers", 20_000),
            branch,
            json!(format!("refs/heads/{}a", "a/".repeat(4_000_000))),
        ),
    ]
}

/// Paths and addresses that are relative to something.
fn places() -> Vec<Shape> {
    let denied = || {
        rules(
            1,
            "deny",
            |_| json!({"paths": {"roles": ["read-path"], "within": "/no"}}),
        )
    };
    let roles =
        json!({"o": ["write-path"], "r": ["read-path"], "p": {"roles": ["read-path"], "relativeTo": "r"}});
    let mut relative = none(
        "16,000 relative paths behind 16,000 others",
        denied(),
        json!(null),
    );
    relative.roles = roles.clone();
    relative.arguments = json!({"o": each(16_000, |at| format!("/d{at}")), "r": "/r", "p": each(16_000, |at| format!("d{at}"))});
    let mut long = none(
        "16,000 paths relative to one of 32,000 bytes",
        denied(),
        json!(null),
    );
    long.roles = roles;
    long.arguments = json!({"r": "/a".repeat(16_000), "p": each(16_000, |at| format!("d{at}"))});
    let mut shared = Shape::new(
        "16,384 paths of a server with 20 directories of its own names",
        denied(),
        "read-path",
        each(MOST, |at| format!("/d0/f{at}")),
    );
    let names = members_of(20, |at| (format!("/d{at}"), json!(format!("/srv/{at}"))));
    let options = json!({"serverPaths": {"git": names}});
    shared.parts.push((DocumentKind::Options, options));
    shared.gates = true;
    let mut worlds = Vec::new();
    for (name, roots) in [
        ("16,384 addresses of a mod, 1,000 roots", 1_000),
        ("2,000 addresses of a mod, 10 roots", 10),
    ] {
        let allowed = rules(1, "deny", |_| json!({"server": ["none"]}));
        let count = if roots == 10 { 2_000 } else { MOST };
        let mut world = Shape::new(name, allowed, "address", each(count, |at| format!("mod:m/f{at}")));
        let keys = members_of(roots, |at| (format!("r{at}"), json!(format!("/w/{at}"))));
        let operations = json!([{"mode": "dev", "root": "r0", "subdirectory": null,
            "rules": [{"commands": [["t", "read"]], "when": ["path_in_session_mods"]}]}]);
        let document =
            json!({"roots": keys, "mounts": {"m": "/w/0/m"}, "visibility": [], "operations": operations});
        world.parts.push((DocumentKind::World, document));
        world.context = Some(json!({"mode": "dev", "command": "read", "session_mods": ["m"]}));
        worlds.push(world);
    }
    worlds.extend([relative, long, shared]);
    worlds
}

/// Long lists in what an engine is configured with, and approvals.
fn configured() -> Vec<Shape> {
    let read = "read-path";
    let mut allowlist = Shape::new(
        "16,384 URLs that pass an allowlist of 10,000 patterns as text only",
        rules(1, "allow", |_| json!({"roles": ["fetch-url"]})),
        "fetch-url",
        each(MOST, |at| format!("hxxp://h{at}.ok.test/")),
    );
    let patterns: Vec<String> = (0..10_000)
        .map(|at| format!("h{at}.test"))
        .chain(["*.ok.test".to_owned()])
        .collect();
    allowlist
        .parts
        .push((DocumentKind::DomainAllowlists, json!({"git": patterns})));
    let mut shapes = vec![allowlist];
    for (name, approvals) in [
        ("16,384 paths, 4,000 approvals of 64 directories", 4_000),
        ("16,384 paths, 1 approval of 64 directories", 1),
    ] {
        let mut approved = Shape::new(
            name,
            vec![rule(0, &json!({"roles": [read]}), "escalate")],
            read,
            each(MOST, |at| format!("/srv/f{at}")),
        );
        let constraint = |at: usize, of: usize| json!({"kind": "directory", "role": read, "directory": format!("/d{of}/{at}")});
        let approval = |of: usize| {
            let constraints: Vec<Value> = (0..64).map(|at| constraint(at, of)).collect();
            json!({"serverName": "git", "toolName": "t", "constraints": constraints}).to_string()
        };
        approved.approvals = (0..approvals).map(approval).collect();
        shapes.push(approved);
    }
    shapes
}
