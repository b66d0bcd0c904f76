//! Shapes of what surrounds the values: the parts of URLs beside their hosts, hosts in other scripts, names of the server's
//! own, schemas, approvals of domains, long contexts.

use callgate_engine::config::DocumentKind;
use serde_json::{Map, Value, json};

use super::{MOST, Shape, domains, each, rule, rules};

pub(super) fn shapes() -> Vec<Shape> {
    let groups = [urls(), names(), approvals(), worlds()];
    groups.into_iter().flatten().collect()
}

/// Rules that deny by the domains of URLs.
fn by_domain(role: &str) -> Vec<Value> {
    rules(36, "deny", |at| domains(role, &[format!("c{at}.test")]))
}

/// URLs that cost the parser most.
fn urls() -> Vec<Shape> {
    let fetch = "fetch-url";
    let gated = |name, values| {
        let mut shape = Shape::new(name, by_domain(fetch), fetch, values);
        shape.gates = true;
        shape
    };
    vec![
        Shape::new(
            "110 URLs of 32,000 bytes behind their hosts",
            by_domain(fetch),
            fetch,
            each(110, |at| format!("https://H{at}.test/{}", "a b/".repeat(7_990))),
        ),
        Shape::new(
            "110 URLs with users of 32,000 bytes",
            by_domain(fetch),
            fetch,
            each(110, |at| format!("https://{}@h{at}.test/", "a b=".repeat(7_990))),
        ),
        Shape::new(
            "16,384 URLs with hosts in other scripts",
            by_domain(fetch),
            fetch,
            each(MOST, |at| format!("https://BÜCHER{at}.例え.ελληνικά.test/")),
        ),
        Shape::new(
            "16,384 URLs with long hosts in other scripts",
            by_domain(fetch),
            fetch,
            each(MOST, |at| {
                format!("https://{}ü{at}.test/", "ελληνικάελλη.".repeat(8))
            }),
        ),
        Shape::new(
            "16,384 URLs with long hosts in Punycode",
            by_domain(fetch),
            fetch,
            each(MOST, |at| {
                format!("https://{}h{at}.test/", "xn--bcher-kva.".repeat(14))
            }),
        ),
        gated(
            "gate of 16,384 URLs with hosts in other scripts",
            each(MOST, |at| format!("https://BÜCHER{at}.例え.ελληνικά.test/")),
        ),
        gated(
            "gate of 16,384 URLs that change",
            each(MOST, |at| format!("HTTPS://H{at}.ok.test:443/")),
        ),
        gated(
            "gate of 110 URLs of 32,000 bytes behind their hosts",
            each(110, |at| format!("https://H{at}.test/{}", "a b/".repeat(7_990))),
        ),
        Shape::new(
            "10,000 broken URLs with hosts in other scripts",
            by_domain(fetch),
            fetch,
            each(10_000, |at| format!("hxxp:é{at}.例え ß.ελ")),
        ),
    ]
}

/// Names of arguments and of places that are the server's own.
fn names() -> Vec<Shape> {
    let allowed = || rules(1, "deny", |_| json!({"server": ["none"]}));
    let members = |count: usize, value: &dyn Fn(usize) -> (String, Value)| -> Value {
        (0..count).map(value).collect::<Map<_, _>>().into()
    };
    let mut aliases = Shape::new(
        "gate of 65,000 texts under aliases",
        allowed(),
        "none",
        json!(null),
    );
    aliases.roles = json!({});
    aliases.tool = json!({"arg_schema": {"arg_aliases": members(65_000, &|at| (format!("a{at}"), json!(format!("b{at}"))))}});
    aliases.arguments = members(65_000, &|at| (format!("a{at}"), json!("x")));
    aliases.gates = true;
    let denied = rules(
        1,
        "deny",
        |_| json!({"paths": {"roles": ["read-path"], "within": "/no"}}),
    );
    let mut nested = Shape::new(
        "gate of 16,384 objects with a path in one of 20 directories of the server's own names",
        denied,
        "read-path",
        (0..MOST)
            .map(|at| json!({"path": format!("/d{}/./f{at}", at % 20), "mode": 1}))
            .collect(),
    );
    nested.roles = json!({"/values/*/path": ["read-path"]});
    let own = members(20, &|at| (format!("/d{at}"), json!(format!("/srv/{at}"))));
    nested
        .parts
        .push((DocumentKind::Options, json!({"serverPaths": {"git": own}})));
    nested.gates = true;
    let mut typed = Shape::new(
        "60,000 arguments of a schema with a type each",
        allowed(),
        "none",
        json!(null),
    );
    typed.roles = members(16_000, &|at| (format!("k{at}"), json!(["github-owner"])));
    let types = members(60_000, &|at| {
        (
            format!("k{at}"),
            json!({"type": "array", "items": {"type": "string"}}),
        )
    });
    typed.tool = json!({"inputSchema": {"properties": types}});
    typed.arguments = members(60_000, &|at| (format!("k{}", 59_999 - at), json!(["x"])));
    vec![aliases, nested, typed]
}

/// Approvals of many domains.
fn approvals() -> Vec<Shape> {
    let mut approved = Shape::new(
        "8,000 URLs, 1,000 approvals of 64 domains",
        vec![rule(0, &json!({"roles": ["fetch-url"]}), "escalate")],
        "fetch-url",
        each(8_000, |at| format!("https://h{at}.ok.test/")),
    );
    let constraint = |at: usize, of: usize| json!({"kind": "domain", "role": "fetch-url", "domain": format!("d{at}.s{of}.test")});
    let approval = |of: usize| {
        let constraints: Vec<Value> = (0..64).map(|at| constraint(at, of)).collect();
        json!({"serverName": "git", "toolName": "t", "constraints": constraints}).to_string()
    };
    approved.approvals = (0..1_000).map(approval).collect();
    vec![approved]
}

/// A long context of a world.
fn worlds() -> Vec<Shape> {
    let allowed = rules(1, "deny", |_| json!({"server": ["none"]}));
    let mut world = Shape::new(
        "2,000 addresses of a mod, a context with 100,000 mods",
        allowed,
        "address",
        each(2_000, |at| format!("mod:m/f{at}")),
    );
    let operations = json!([{"mode": "dev", "root": "r0", "subdirectory": null,
        "rules": [{"commands": [["t", "read"]], "when": ["path_in_session_mods", "mod_in_session"]}]}]);
    let document = json!({"roots": {"r0": "/w/0"}, "mounts": {"m": "/w/0/m"}, "visibility": [], "operations": operations});
    world.parts.push((DocumentKind::World, document));
    let mods: Vec<String> = (0..100_000)
        .map(|at| format!("n{at}"))
        .chain(["m".to_owned()])
        .collect();
    world.context = Some(json!({"mode": "dev", "command": "read", "session_mods": mods, "mod": "m"}));
    vec![world]
}
