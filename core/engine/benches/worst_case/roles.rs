//! Shapes of calls with as many values as a role may have under several roles at once.

use serde_json::{Map, Value, json};

use super::{MOST, Shape, domains, each, list, rules};

const PATHS: [&str; 5] = [
    "read-path",
    "write-path",
    "delete-path",
    "write-history",
    "delete-history",
];

const TEXTS: [&str; 8] = [
    "github-owner",
    "github-repo",
    "proxy-domain",
    "share-permission",
    "branch-name",
    "commit-message",
    "email-address",
    "email-body",
];

pub(super) fn shapes() -> Vec<Shape> {
    let (paths, texts) = (PATHS.split_at(2).0, TEXTS.split_at(2).0);
    let all: Vec<&str> = PATHS.iter().chain(&TEXTS).copied().collect();
    let listed = || {
        rules(1, "deny", |_| {
            list("commit-message", "identifiers", &["x".to_owned()])
        })
    };
    let addresses = rules(5, "deny", |at| {
        list("email-address", "emails", &[format!("u{at}@x.test")])
    });
    let hosts = rules(5, "deny", |at| domains("fetch-url", &[format!("c{at}.test")]));
    vec![
        under("16,384 texts under each of 2 roles", listed(), texts, |_, at| {
            at.to_string()
        }),
        under(
            "gate of 16,384 texts that change under each of 2 roles",
            listed(),
            texts,
            |_, at| format!("A{at}"),
        ),
        under("16,384 texts under each of 13 roles", listed(), &all, |_, at| {
            at.to_string()
        }),
        under(
            "16,384 paths under each of 2 roles",
            listed(),
            paths,
            |role, at| format!("/{role}/{at}"),
        ),
        under(
            "gate of 16,384 paths that change under each of 2 roles",
            listed(),
            paths,
            |role, at| format!("/./{role}/{at}"),
        ),
        under(
            "gate of 16,384 missing paths under each of 2 roles",
            listed(),
            paths,
            |role, at| format!("/{role}/new{at}/f"),
        ),
        under(
            "16,384 URLs and as many recipients",
            [addresses, hosts].concat(),
            &["email-address", "fetch-url"],
            |_, at| format!("https://u@h{at}.test"),
        ),
        behind(under(
            "16,384 relative paths under each of 2 roles behind another",
            listed(),
            paths,
            |_, at| format!("d{at}"),
        )),
    ]
}

/// As many values as a role may have under each of the roles, one argument a role.
fn under(
    name: &'static str,
    rules: Vec<Value>,
    roles: &[&str],
    value: impl Fn(&str, usize) -> String,
) -> Shape {
    let arguments = |argument: &dyn Fn(&str) -> Value| -> Value {
        let members = roles.iter().map(|role| ((*role).to_owned(), argument(role)));
        members.collect::<Map<_, _>>().into()
    };
    let mut shape = Shape::new(name, rules, "none", json!(null));
    shape.roles = arguments(&|role| json!([role]));
    shape.arguments = arguments(&|role| each(MOST, |at| value(role, at)));
    shape.gates = name.starts_with("gate ");
    shape
}

/// The same call with every value relative to one argument, which comes last.
fn behind(mut shape: Shape) -> Shape {
    for (_, roles) in shape.roles.as_object_mut().into_iter().flatten() {
        *roles = json!({"roles": roles, "relativeTo": "base"});
    }
    let added = [
        (&mut shape.roles, json!(["read-path"])),
        (&mut shape.arguments, json!("/r")),
    ];
    for (members, value) in added {
        if let Some(members) = members.as_object_mut() {
            members.insert("base".to_owned(), value);
        }
    }
    shape
}
