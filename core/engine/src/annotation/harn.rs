//! Annotation files in the Harn VM's format, `{tool name: annotation}`, which this engine reads as they are.

use super::{Annotations, Schema, Tool, implied};
use crate::diagnostic::Severity;
use crate::document::{Json, Node, keys};
use crate::model::Semantics;

/// The server that a Harn file's tools belong to, unless the options name another.
pub const SERVER: &str = "harn";

/// Returns `true` if the document is a Harn file: it has neither `servers` nor `generatedAt`, all its members are
/// objects, and at least one of them has a key of a tool annotation.
pub fn is_harn(document: &Json<'_>) -> bool {
    let Json::Object(members) = document else {
        return false;
    };
    let says = |tool: &Json<'_>| keys::SEMANTICS.iter().any(|key| tool.get(key).is_some());
    !members.contains("servers")
        && !members.contains("generatedAt")
        && members.values().all(Json::is_object)
        && members.values().any(says)
}

/// Reads the tools. Every field of an annotation has a default; the arguments are its `path_params`.
pub(super) fn read(document: &Node<'_, '_>, server: &str) -> Annotations {
    let mut tools = Vec::new();
    let Some(file) = document.object() else {
        return Annotations { tools };
    };
    for (name, node) in file.entries() {
        let Some(annotation) = node.object_of(keys::SEMANTICS, Severity::Warning) else {
            continue;
        };
        let semantics = Semantics::read(&annotation);
        let mut arguments = Vec::new();
        implied::add(&mut arguments, &semantics);
        tools.push(Tool {
            server: server.into(),
            name: name.into(),
            comment: "".into(),
            arguments,
            schema: Schema::default(),
            semantics,
            unjudged: None,
        });
    }
    Annotations { tools }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::annotation::read;
    use crate::document::Report;
    use crate::model::Roles;
    use crate::role::{Registry, RoleId};

    fn load(value: &Value) -> (Annotations, Vec<String>) {
        let report = Report::default();
        let value = Json::from(value);
        let node = Node::document(&value, "a", &report);
        let annotations = read(&node, &Registry::default(), "vm");
        crate::advice::artifacts(&annotations, &node);
        let faults = report.finish("a").iter().map(ToString::to_string).collect();
        (annotations, faults)
    }

    #[test]
    fn a_harn_file_is_read_as_it_is() {
        let value = json!({
            "read_file": {"kind": "read", "side_effect_level": "read_only",
                "arg_schema": {"path_params": ["path"], "arg_aliases": {"file": "path"}, "required": ["path"]}},
            "think": {},
        });
        let (annotations, faults) = load(&value);
        assert_eq!(faults, [""; 0]);
        let [first, second] = annotations.tools.as_slice() else {
            panic!("{annotations:?}")
        };
        assert_eq!((&*first.server, &*first.name), ("vm", "read_file"));
        assert_eq!(first.arguments.len(), 1);
        assert_eq!(first.arguments[0].roles, Roles::Fixed(vec![RoleId::READ_PATH]));
        assert_eq!(
            (&*second.name, &second.semantics),
            ("think", &Semantics::default())
        );
    }

    #[test]
    fn faults_have_their_place() {
        let (_, faults) = load(&json!({
            "run": {"kind": "execute", "emits_artifacts": true},
            "x": {"kind": "reed", "args": {}, "arg_schema": {"path_params": ["/a~"]}},
        }));
        let starts = [
            "warning[unknown-key] at a.x.args: ",
            "error[unknown-value] at a.x.kind: ",
            "error[invalid-value] at a.x.arg_schema.path_params[0]: ",
            "error[missing-route] at a.run: found no `result_readers`",
        ];
        assert_eq!(faults.len(), starts.len(), "{faults:#?}");
        for (fault, start) in faults.iter().zip(starts) {
            assert!(fault.starts_with(start), "{fault}");
        }
    }

    #[test]
    fn other_documents_are_not_taken_for_one() {
        for value in [
            json!({}),
            json!([]),
            json!({"a": {}}),
            json!({"a": {"kind": "read"}, "b": 1}),
            json!({"servers": {"kind": {}}, "a": {"kind": "read"}}),
            json!({"generatedAt": "t", "a": {"kind": "read"}}),
        ] {
            assert!(!is_harn(&Json::from(&value)), "{value}");
        }
        assert!(is_harn(&Json::from(
            &json!({"generated": {"inline_result": true}})
        )));
    }
}
