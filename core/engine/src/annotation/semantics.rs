//! Reads what a tool does beyond what its arguments name (SPEC §5, the last paragraph).

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Object, keys};
use crate::model::{ArgSchema, Semantics};
use crate::sort;

impl Semantics {
    /// Reads the semantics among the fields of a tool annotation; each field has a default.
    pub(super) fn read(tool: &Object<'_, '_>) -> Self {
        let flag = |key| tool.read_or_default(key, |node| node.boolean());
        let capabilities = |node: &Node<'_, '_>| Some(node.each_entry(|operations| operations.strings()));
        Self {
            kind: tool.read_or_default("kind", |node| node.word()),
            side_effect_level: tool
                .read_or_default("side_effect_level", |node| Some(node.side_effect_level())),
            arg_schema: tool.read_or_default("arg_schema", |node| Some(ArgSchema::read(node))),
            capabilities: sort::map(tool.read_or_default("capabilities", capabilities)),
            emits_artifacts: flag("emits_artifacts"),
            result_readers: tool.read_or_default("result_readers", |node| node.strings()),
            inline_result: flag("inline_result"),
        }
    }
}

impl ArgSchema {
    fn read(node: &Node<'_, '_>) -> Self {
        let Some(schema) = node.object_of(keys::ARG_SCHEMA, Severity::Warning) else {
            return Self::default();
        };
        let path_params = schema.read("path_params", |node| {
            node.each("an array of strings", |item| {
                let name = item.string()?;
                item.argument_name(name).map(|_| name.into())
            })
        });
        Self {
            path_params: path_params.unwrap_or_default(),
            arg_aliases: schema.read_or_default("arg_aliases", |node| Some(read_aliases(node))),
            required: schema.read_or_default("required", |node| node.strings()),
        }
    }
}

fn read_aliases(node: &Node<'_, '_>) -> BTreeMap<Box<str>, Box<str>> {
    let Some(object) = node.object() else {
        return BTreeMap::new();
    };
    let names = sort::set(object.entries().map(|(alias, _)| alias));
    let mut aliases = BTreeMap::new();
    for (alias, target) in object.entries() {
        let Some(key) = target.string() else { continue };
        if names.contains(key) {
            target.refuse(
                Code::InvalidValue,
                "an alias itself, expected the key that it stands for",
            );
        }
        aliases.insert(alias.into(), key.into());
    }
    aliases
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::Json;
    use crate::document::Report;
    use crate::model::{SideEffectLevel, ToolKind};

    fn check(tool: Value, expected: Semantics, faults: &[&str]) {
        let report = Report::default();
        let semantics = Semantics::read(
            &Node::document(&Json::from(&tool), "tool", &report)
                .object()
                .unwrap(),
        );
        assert_eq!(semantics, expected);
        let found: Vec<String> = report.finish("tool").iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), faults.len(), "{found:?}");
        for (found, expected) in found.iter().zip(faults) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn every_field_has_a_default() {
        check(json!({}), Semantics::default(), &[]);
        assert_eq!(ToolKind::default(), ToolKind::Other);
        check(
            json!({
                "kind": "execute", "side_effect_level": "process_exec",
                "arg_schema": {"path_params": ["path"], "arg_aliases": {"file": "path"}, "required": ["path"]},
                "capabilities": {"workspace": ["list"], "process": []},
                "emits_artifacts": true, "result_readers": ["tail"], "inline_result": true,
            }),
            Semantics {
                kind: ToolKind::Execute,
                side_effect_level: SideEffectLevel::ProcessExec,
                arg_schema: ArgSchema {
                    path_params: vec!["path".into()],
                    arg_aliases: BTreeMap::from([("file".into(), "path".into())]),
                    required: vec!["path".into()],
                },
                capabilities: BTreeMap::from([
                    ("process".into(), vec![]),
                    ("workspace".into(), vec!["list".into()]),
                ]),
                emits_artifacts: true,
                result_readers: vec!["tail".into()],
                inline_result: true,
            },
            &[],
        );
    }

    #[test]
    fn faults_have_their_place() {
        check(
            json!({
                "kind": "Read", "side_effect_level": "readonly", "emits_artifacts": 1,
                "arg_schema": {"requires": [], "required": "path"},
                "capabilities": {"workspace": "list"},
            }),
            Semantics::default(),
            &[
                "error[unknown-value] at tool.kind: ",
                "warning[unknown-value] at tool.side_effect_level: ",
                "warning[unknown-key] at tool.arg_schema.requires: ",
                "error[wrong-type] at tool.arg_schema.required: ",
                "error[wrong-type] at tool.capabilities.workspace: ",
                "error[wrong-type] at tool.emits_artifacts: ",
            ],
        );
        let chain = Semantics {
            arg_schema: ArgSchema {
                arg_aliases: BTreeMap::from([("a".into(), "b".into()), ("b".into(), "c".into())]),
                ..ArgSchema::default()
            },
            ..Semantics::default()
        };
        check(
            json!({"arg_schema": {"arg_aliases": {"a": "b", "b": "c"}}}),
            chain,
            &["error[invalid-value] at tool.arg_schema.arg_aliases.a: found `\"b\"`, an alias itself"],
        );
    }
}
