//! Whatever option is edited, a comparison shows a verdict that changes, or says that it does not know.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use crate::Comparison;
use crate::imagined::Imagined;
use callgate_engine::bind::Call;
use callgate_engine::config::{
    Compatibility, DocumentKind, HEURISTIC_PATHS, PATH_CASE, RelativePaths, UnknownArguments, WorkspaceRoots,
};
use callgate_engine::document::keys;
use callgate_engine::model::SandboxOrder;
use callgate_engine::named::Named;

/// An option with the values before and after, what other documents say then, and a call about which the verdict changes.
struct Row {
    option: &'static str,
    values: [Value; 2],
    documents: Value,
    call: Value,
}

/// Options that change no verdict: they say how documents are read, and when directories are resolved.
const WITHOUT_EFFECT: &[&str] = &["strict", "directories"];

fn rows() -> Vec<Row> {
    let row = |option, values: [Value; 2], documents, call| Row {
        option,
        values,
        documents,
        call,
    };
    let moving = |source: &str, more: Value| {
        let mut arguments = json!({"source": source, "destination": "/srv/b"});
        if let (Some(known), Value::Object(more)) = (arguments.as_object_mut(), more) {
            known.extend(more);
        }
        json!(["filesystem", "move", arguments])
    };
    let opts = |value: Value| moving("/srv/a", json!({"opts": value}));
    let shut = |value: Value| json!(["notes", "put", {"path": "/srv/a", "opts": value}]);
    let sandbox = || json!({"sandbox": "/opt"});
    let in_sandbox = || json!(["filesystem", "move", {"source": "/opt/a", "destination": "/opt/b"}]);
    let rule =
        |condition: Value, then: &str| json!({"name": then, "if": condition, "then": then, "reason": "r"});
    let branches = json!({"policy": {"rules": [
        rule(json!({"lists": [{"roles": ["branch-name"], "allowed": ["dev"], "matchType": "identifiers"}]}), "deny"),
        rule(json!({"server": "git"}), "allow"),
    ]}});
    // The remote that such a call is without could not be told here.
    let explicit = json!(["git", "push", {"branch": "x", "remote": "https://example.com/a/b"}]);
    let asked = json!({"sandbox": "/opt", "policy": {"rules": [
        rule(json!({"paths": {"roles": ["write-path"], "within": "/opt"}}), "escalate"),
    ]}});
    let mut rows = vec![
        row(
            "compatibility",
            [json!("careful"), json!("runtime")],
            json!({}),
            moving("[1]", json!({})),
        ),
        row(
            "compatibility",
            [json!("runtime"), json!("careful")],
            json!({}),
            moving("[1]", json!({})),
        ),
        row(
            "heuristicPaths",
            [json!("on"), json!("off")],
            json!({}),
            opts(json!("/etc/shadow")),
        ),
        row(
            "heuristicPaths",
            [json!("off"), json!("on")],
            json!({}),
            opts(json!(["/etc/shadow"])),
        ),
        row(
            "unknownArguments",
            [json!("ignore"), json!("escalate")],
            json!({}),
            opts(json!({"path": "/srv/a"})),
        ),
        row(
            "unknownArguments",
            [json!("schema"), json!("escalate")],
            json!({}),
            opts(json!(true)),
        ),
        row(
            "unknownArguments",
            [json!("escalate"), json!("schema")],
            json!({}),
            opts(json!("x")),
        ),
        row(
            "unknownArguments",
            [json!("schema"), json!("deny")],
            json!({}),
            opts(json!("x")),
        ),
        row(
            "unknownArguments",
            [json!("deny"), json!("ignore")],
            json!({}),
            opts(json!("x")),
        ),
        row(
            "unknownArguments",
            [json!("schema"), json!("ignore")],
            json!({}),
            shut(json!(1)),
        ),
        row(
            "unknownArguments",
            [json!("schema"), json!("escalate")],
            json!({}),
            shut(json!(1)),
        ),
        row(
            "clientArguments",
            [json!([]), json!(["opts"])],
            json!({}),
            shut(json!(1)),
        ),
        // An argument that only a condition names, in calls that are escalated without it.
        row(
            "unknownArguments",
            [json!("schema"), json!("escalate")],
            json!({"policy": {"rules": [
                rule(json!({"args": [{"arg": "mode", "equals": "list"}]}), "allow"),
                rule(json!({"server": "filesystem"}), "escalate"),
            ]}}),
            moving("/srv/a", json!({"mode": "list"})),
        ),
        row(
            "pathCase",
            [json!("sensitive"), json!("insensitive")],
            json!({}),
            opts(json!("/ETC/SHADOW")),
        ),
        row(
            "pathCase",
            [json!("insensitive"), json!("sensitive")],
            json!({}),
            opts(json!("/ETC/SHADOW")),
        ),
        row(
            "relativePaths",
            [json!("canonical"), json!("deny")],
            json!({}),
            moving("app", json!({})),
        ),
        row(
            "relativePaths",
            [json!("deny"), json!("as-given")],
            json!({}),
            moving("app", json!({})),
        ),
        row(
            "serverPaths",
            [json!({}), json!({"filesystem": {"/srv/app": "/data"}})],
            json!({}),
            moving("/srv/x", json!({})),
        ),
        row(
            "workspaceRoots",
            [json!("bounds"), json!("sandbox")],
            json!({"ceiling": {"workspace_roots": ["/opt", "/srv"]}}),
            in_sandbox(),
        ),
        row(
            "workspaceRoots",
            [json!("sandbox"), json!("bounds")],
            json!({"ceiling": {"workspace_roots": ["/opt", "/srv"]}}),
            in_sandbox(),
        ),
        row(
            "serverAliases",
            [json!({}), json!({"notes": "filesystem"})],
            sandbox(),
            json!(["notes", "put", {"path": "/opt/a"}]),
        ),
        row(
            "sandboxServers",
            [json!(["filesystem"]), json!(["notes"])],
            sandbox(),
            json!(["notes", "put", {"path": "/opt/a"}]),
        ),
        row(
            "sandboxServers",
            [json!(["filesystem"]), json!(["notes"])],
            sandbox(),
            in_sandbox(),
        ),
        row(
            "sandboxRoles",
            [
                json!(["read-path", "write-path", "delete-path"]),
                json!(["read-path"]),
            ],
            sandbox(),
            in_sandbox(),
        ),
        row(
            "sandbox",
            [json!("before-rules"), json!("after-rules")],
            asked.clone(),
            in_sandbox(),
        ),
        row(
            "sandbox",
            [json!("after-rules"), json!("before-rules")],
            asked,
            in_sandbox(),
        ),
        row(
            "workingDirectory",
            [json!({}), json!({"git": "/srv/app"})],
            branches,
            explicit,
        ),
        row(
            "limits",
            [json!({}), json!({"values_per_role": 1})],
            json!({}),
            json!(["notes", "put", {"path": ["/srv/a", "/srv/b"]}]),
        ),
        row(
            "harnServer",
            [json!("harn"), json!("vm")],
            json!({"annotations": harn_tools()}),
            json!(["harn", "read", {"path": "/srv/a"}]),
        ),
    ];
    // A sandbox excepts what is in it from what is protected.
    let excepted = json!({"sandbox": "/etc/shadow/in", "protectedPaths": ["/etc/shadow"]});
    let text = opts(json!("/ETC/SHADOW/in/x"));
    rows.push(row(
        "pathCase",
        [json!("sensitive"), json!("insensitive")],
        excepted,
        text,
    ));
    rows
}

/// Annotations that do not name the server of their tools.
fn harn_tools() -> Value {
    json!({"read": {"kind": "read", "side_effect_level": "read_only", "arg_schema": {"path_params": ["path"]}}})
}

fn documents(row: &Row, value: &Value) -> Documents {
    let read = json!({"toolName": "put", "args": {"path": "write-path"}, "inputSchema": {"properties": {"path": {}}}});
    let mut all = json!({
        "policy": {"rules": [
            {"name": "srv", "if": {"paths": {"roles": ["read-path", "write-path", "delete-path"], "within": "/srv"}}, "then": "allow", "reason": "r"},
        ]},
        "annotations": {"servers": {
            "filesystem": {"tools": [{"toolName": "move", "args": {"source": ["read-path", "delete-path"], "destination": "write-path"}}]},
            "notes": {"tools": [read]},
            "git": {"tools": [{"toolName": "push", "args": {"path": "write-history", "remote": "git-remote-url", "branch": "branch-name"}}]},
        }},
        "protectedPaths": ["/etc/shadow"],
    });
    if let (Some(known), Some(more)) = (all.as_object_mut(), row.documents.as_object()) {
        known.extend(more.clone());
    }
    let mut options = json!({});
    options[row.option] = value.clone();
    all["options"] = options;
    let kinds = DocumentKind::ALL.iter();
    kinds
        .filter_map(|kind| Some((*kind, all.get(kind.as_str())?.clone())))
        .collect()
}

#[test]
fn an_edit_of_an_option_is_shown_or_not_known() {
    let mut wrong = Vec::new();
    for row in rows() {
        let engines = row.values.each_ref().map(|value| {
            let engine = arbitrary::engine(&documents(&row, value));
            engine.unwrap_or_else(|| panic!("{}: {value} is not valid", row.option))
        });
        let [before, after] = &engines;
        let text = |at: usize| row.call[at].as_str().unwrap();
        let (server, tool) = (text(0), text(1));
        let call = Call::from_value(server, tool, &row.call[2]);
        let judged = [before, after].map(|engine| {
            let imagined = Imagined::new(engine, None);
            let verdict = imagined.judge(&call);
            (verdict.decision.strictness(), verdict.rule.to_string())
        });
        let [(was, _), (is, _)] = &judged;
        let what = format!("{} {:?} {}: {judged:?}", row.option, row.values, row.call);
        if was == is {
            wrong.push(format!("the verdict stays: {what}"));
            continue;
        }
        let changes = Comparison::new(before, after).tool(server, tool);
        let is_said = changes.is_some_and(|changes| {
            let shown = if is < was {
                changes.looser
            } else {
                changes.stricter
            };
            !shown.is_empty() || !changes.unknown.is_empty()
        });
        if !is_said {
            wrong.push(format!("nobody says so: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words that an option may be.
fn words<T>(of: &[(&'static str, T)]) -> Vec<&'static str> {
    of.iter().map(|(word, _)| *word).collect()
}

#[test]
fn every_option_is_edited_to_and_from_each_of_its_words() {
    let rows = rows();
    let edited: BTreeSet<&str> = rows.iter().map(|row| row.option).collect();
    for key in keys::OPTIONS {
        let is_one = edited.contains(key) != WITHOUT_EFFECT.contains(key);
        assert!(is_one, "no edit of `{key}` changes a verdict");
    }
    for (option, words) in [
        ("compatibility", Compatibility::names().collect()),
        ("heuristicPaths", words(HEURISTIC_PATHS)),
        ("unknownArguments", UnknownArguments::names().collect()),
        ("pathCase", words(PATH_CASE)),
        ("relativePaths", RelativePaths::names().collect()),
        ("workspaceRoots", WorkspaceRoots::names().collect()),
        ("sandbox", SandboxOrder::names().collect()),
    ] {
        for word in words {
            let mut own = rows.iter().filter(|row| row.option == option);
            let is_edited = own.any(|row| row.values.iter().any(|value| *value == word));
            assert!(is_edited, "no edit of `{option}` from or to `{word}`");
        }
    }
}
