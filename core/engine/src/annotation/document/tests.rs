//! Documents of annotations: their faults, and what is read of them.

use serde_json::{Map, json};

use super::*;
use crate::document::{DocumentSource, Report, load};
use crate::limits::Limits;
use crate::model::{Clause, Condition, ConditionArgument, Scalar, Scalars, Test};

fn read_file(value: &Value) -> (Annotations, Vec<String>) {
    let report = Report::default();
    let value = Json::from(value);
    let node = Node::document(&value, "a", &report);
    let annotations = read(&node, &Registry::default(), "harn");
    crate::advice::artifacts(&annotations, &node);
    let faults = report.finish("a").iter().map(ToString::to_string).collect();
    (annotations, faults)
}

fn file(tools: Value) -> Value {
    json!({"generatedAt": "t", "servers": {"s": {"inputHash": "h", "tools": tools}}})
}

fn tool(args: Value) -> Value {
    json!({"toolName": "t", "serverName": "s", "comment": "", "args": args})
}

/// Compares the faults of a file, each by how it starts.
fn check(value: Value, expected: &[&str]) {
    let (_, faults) = read_file(&value);
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault}");
    }
}

#[test]
fn one_text_is_read_in_one_way() {
    let web = json!({"roles": "fetch-url", "scheme": "http"});
    for (said, other) in [(web, "fetch-url"), (json!("resource-uri"), "read-path")] {
        check(
            file(json!([tool(json!({"/a/*": said, "/a/0": other}))])),
            &["error[invalid-value] at a.servers.s.tools[0].args: found `{"],
        );
        check(file(json!([tool(json!({"/a/*": said, "/a/0": said}))])), &[]);
    }
}

#[test]
fn one_text_has_one_separator() {
    let list = json!({"roles": "read-path", "separator": ","});
    for (one, other) in [("/a/*", "/a/0"), ("a", "/a/*"), ("/a", "a"), ("/*/b", "/a/b")] {
        check(
            file(json!([tool(json!({one: list, other: "read-path"}))])),
            &["error[invalid-value] at a.servers.s.tools[0].args: found `{"],
        );
        check(file(json!([tool(json!({one: list, other: list}))])), &[]);
    }
    check(
        file(json!([tool(
            json!({"/a/*": list, "/b/*": "read-path", "c": "none"})
        )])),
        &[],
    );
}

#[test]
fn a_tool_is_what_its_annotation_says() {
    let value = file(json!([
        {
            "toolName": "t", "serverName": "s", "comment": "c", "sideEffects": true, "kind": "read",
            "args": {
                "z": ["read-path", "none"],
                "__proto__": ["none"],
                "/edits/*/path": {
                    "default": ["read-path", "write-path"],
                    "when": [
                        {"condition": {"arg": "/o/dry", "is": "truthy"}, "roles": ["read-path"]},
                        {"condition": {"arg": "m", "in": [1, "1", null, true]}, "roles": []},
                        {"condition": {"arg": "m"}, "roles": ["none"]},
                    ],
                },
            },
            "inputSchema": {
                "type": "object",
                "properties": {"z": {"type": ["array", "null"], "items": {"type": "string"}}, "a": false},
                "required": ["z"],
            },
        },
        {"toolName": "u", "serverName": "s", "comment": "", "args": {}, "inputSchema": {"properties": {}}},
        {"toolName": "v", "serverName": "s", "comment": "", "args": {}, "inputSchema": {}},
    ]));
    let (annotations, faults) = read_file(&value);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].starts_with(
        "warning[never-matches] at a.servers.s.tools[0].args[\"/edits/*/path\"].when[2].condition: "
    ));
    let [tool, empty, none] = annotations.tools.as_slice() else {
        panic!("{annotations:?}")
    };
    assert_eq!((&*tool.server, &*tool.name, &*tool.comment), ("s", "t", "c"));
    assert!(tool.semantics.kind.is_read_only());
    let types = SchemaType {
        own: vec![JsonType::Array, JsonType::Null],
        items: vec![JsonType::String],
        ..SchemaType::default()
    };
    let properties = vec![("z".into(), types), ("a".into(), SchemaType::default())];
    assert_eq!(tool.schema.properties, Some(properties));
    assert_eq!(tool.schema.required, ["z".into()]);
    assert_eq!(empty.schema.properties, Some(vec![]));
    assert_eq!(none.schema, Schema::default());
    let names: Vec<String> = tool.arguments.iter().map(|one| one.name.to_string()).collect();
    assert_eq!(names, ["z", "__proto__", "/edits/*/path"]);
    assert_eq!(
        tool.arguments[0].roles,
        Roles::Fixed(vec![RoleId::READ_PATH, RoleId::NONE])
    );
    let clause = |argument, test, roles: &[RoleId]| Clause {
        condition: Condition { argument, test },
        roles: roles.to_vec(),
    };
    let values = vec![
        Scalar::Number(1.0),
        Scalar::Text("1".into()),
        Scalar::Null,
        Scalar::Bool(true),
    ];
    assert_eq!(
        tool.arguments[2].roles,
        Roles::Conditional {
            default: vec![RoleId::READ_PATH, RoleId::WRITE_PATH],
            when: vec![
                clause(
                    ConditionArgument::Pointer(vec!["o".into(), "dry".into()]),
                    Test::Truthy,
                    &[RoleId::READ_PATH]
                ),
                clause(
                    ConditionArgument::Top("m".into()),
                    Test::In(Scalars::new(values)),
                    &[]
                ),
            ],
        }
    );
}

#[test]
fn a_required_argument_is_never_absent() {
    let mut one = tool(json!({
        "a": {"roles": "write-path", "absent": "nothing"},
        "/b/*/c": {"roles": "write-path", "absent": "."},
        "d": {"roles": "write-path", "absent": "nothing"},
    }));
    one["inputSchema"] = json!({"properties": {"a": {}, "b": {}, "d": {}}, "required": ["a", "b"]});
    let at = "warning[never-matches] at a.servers.s.tools[0].args";
    check(
        file(json!([one])),
        &[
            &format!("{at}.a: found `absent` of `a`"),
            &format!("{at}[\"/b/*/c\"]: found `absent` of `/b/*/c`"),
        ],
    );
}

#[test]
fn artifacts_have_a_route() {
    let run = |readers: Value, name: &str, more: Value| {
        let mut run = tool(json!({}));
        run["toolName"] = json!(name);
        run["kind"] = json!("execute");
        run["emits_artifacts"] = json!(true);
        run["result_readers"] = readers;
        for (key, value) in more.as_object().unwrap() {
            run[key] = value.clone();
        }
        run
    };
    let none = || json!({});
    let lost = "error[missing-route] at a.servers.s.tools[0]: found ";
    for (readers, more, expected) in [
        (
            json!([]),
            none(),
            vec![format!("{lost}no `result_readers`: `t` runs processes")],
        ),
        (
            json!(["tial"]),
            none(),
            vec![format!("{lost}the reader `tial`, which is not an annotated tool")],
        ),
        (
            json!(["x", "y"]),
            none(),
            vec![format!("{lost}2 readers such as `x`, none of them")],
        ),
        (json!(["tail"]), none(), vec![]),
        (json!(["x", "s/tail"]), none(), vec![]),
        (
            json!(["other/tail"]),
            none(),
            vec![format!("{lost}the reader `other/tail`")],
        ),
        (json!([]), json!({"inline_result": true}), vec![]),
        (json!([]), json!({"kind": "read"}), vec![]),
        (json!([]), json!({"emits_artifacts": false}), vec![]),
    ] {
        let mut tail = tool(json!({}));
        tail["toolName"] = json!("tail");
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(file(json!([run(readers, "t", more), tail])), &expected);
    }
}

#[test]
fn what_is_unread_changes_nothing() {
    let mut tool = tool(json!({"inputSchema": {"default": ["read-path"], "when": []}}));
    tool["inputSchema"] = json!({"$defs": {"x": [1]}, "required": ["p"], "properties": {
        "p": {"type": "array", "items": {"type": "string", "enum": [1]}, "default": [2]}, "q": true, "r": {"items": [{}]},
    }});
    let value = file(json!([tool]));
    let text = value.to_string();
    let kept = load(DocumentSource::Text(&text), "a", &Limits::default(), is_unread).unwrap();
    let kept = Value::from(kept);
    let schema = json!({"required": ["p"], "properties": {
        "p": {"type": "array", "items": {"type": "string"}, "default": [2]}, "q": true, "r": {"items": [null]},
    }});
    assert_eq!(kept["servers"]["s"]["tools"][0]["inputSchema"], schema);
    assert_eq!(read_file(&kept), read_file(&value));
}

#[test]
fn the_file_is_read_strictly() {
    check(
        json!([]),
        &["error[wrong-type] at a: found `[]`, expected an object"],
    );
    check(
        json!({"server": {}}),
        &[
            "warning[unknown-key] at a.server: ",
            "error[missing-field] at a: the field `servers`",
        ],
    );
    check(
        file(json!({})),
        &["error[wrong-type] at a.servers.s.tools: found `{}`, expected an array of tools"],
    );
    check(
        file(json!([null, {}, {"toolName": "", "serverName": "S", "comment": 1, "args": [], "arg": {}}])),
        &[
            "error[wrong-type] at a.servers.s.tools[0]: found `null`",
            "error[missing-field] at a.servers.s.tools[1]: the field `toolName`",
            "error[missing-field] at a.servers.s.tools[1]: the field `args`",
            "warning[unknown-key] at a.servers.s.tools[2].arg: ",
            "error[invalid-value] at a.servers.s.tools[2].toolName: ",
            "error[invalid-value] at a.servers.s.tools[2].serverName: found `\"S\"`, expected `s`",
            "error[wrong-type] at a.servers.s.tools[2].comment: ",
            "error[wrong-type] at a.servers.s.tools[2].args: found `[]`, expected an object",
        ],
    );
    check(
        file(json!([tool(json!({})), tool(json!({}))])),
        &["error[duplicate-tool] at a.servers.s.tools[1]: found the tool `t` of `s` again"],
    );
    let mut schema = tool(Value::Object(Map::new()));
    schema["inputSchema"] = json!({"properties": []});
    schema["arg_schema"] = json!({"arg_aliases": {"file": "path"}});
    schema["args"] = json!({"file": ["read-path"], "/a~": ["none"]});
    check(
        file(json!([schema])),
        &[
            "warning[never-matches] at a.servers.s.tools[0].args.file: found roles of `file`, which is renamed",
            "error[invalid-value] at a.servers.s.tools[0].args[\"/a~\"]: found the pointer `/a~`",
            "error[wrong-type] at a.servers.s.tools[0].inputSchema.properties: found `[]`",
        ],
    );
}
