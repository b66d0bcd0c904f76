//! What a tool does, beyond what its arguments name (SPEC §5, the last paragraph).

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Object};
use crate::order;
use crate::semantics::{MutationClass, SideEffectLevel, ToolKind};

use super::ArgumentName;
use super::roles::read_name;

/// The keys of a tool annotation that are read here.
pub(super) const KEYS: [&str; 7] = [
    "kind",
    "side_effect_level",
    "arg_schema",
    "capabilities",
    "emits_artifacts",
    "result_readers",
    "inline_result",
];

/// The shape of a tool's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ArgSchema {
    /// The arguments that hold paths of the workspace; the first that is a string counts.
    pub path_params: Vec<Box<str>>,
    /// From an alias to the key that it stands for, which is no alias itself.
    pub arg_aliases: BTreeMap<Box<str>, Box<str>>,
    /// The arguments that must be there and not null.
    pub required: Vec<Box<str>>,
}

/// What a tool does. As JSON it is spelled as in an annotation, every field written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Semantics {
    /// The kind of tool.
    pub kind: ToolKind,
    /// How far its effects reach.
    pub side_effect_level: SideEffectLevel,
    /// The shape of its arguments.
    pub arg_schema: ArgSchema,
    /// The operations that it needs, by capability.
    pub capabilities: BTreeMap<Box<str>, Vec<Box<str>>>,
    /// Whether it may answer with a reference to its output instead of the output.
    pub emits_artifacts: bool,
    /// The tools that can read such references.
    pub result_readers: Vec<Box<str>>,
    /// Whether its output is always complete.
    pub inline_result: bool,
}

/// What a tool does, and what follows from its kind, for schedulers and telemetry.
///
/// As JSON the fields of the annotation with `isReadOnly` and `mutationClass`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described<'s> {
    /// The fields of the annotation.
    pub semantics: &'s Semantics,
    /// Whether calls of the tool may run side by side.
    pub is_read_only: bool,
    /// The kind of change.
    pub mutation_class: MutationClass,
}

// By hand, because what serde makes of a flattened field costs kilobytes of WebAssembly.
impl Serialize for Described<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Semantics {
            kind,
            side_effect_level,
            arg_schema,
            capabilities,
            emits_artifacts,
            result_readers,
            inline_result,
        } = self.semantics;
        let mut fields = serializer.serialize_struct("Described", 9)?;
        fields.serialize_field("kind", kind.as_str())?;
        fields.serialize_field("side_effect_level", side_effect_level.as_str())?;
        fields.serialize_field("arg_schema", arg_schema)?;
        fields.serialize_field("capabilities", capabilities)?;
        fields.serialize_field("emits_artifacts", emits_artifacts)?;
        fields.serialize_field("result_readers", result_readers)?;
        fields.serialize_field("inline_result", inline_result)?;
        fields.serialize_field("isReadOnly", &self.is_read_only)?;
        fields.serialize_field("mutationClass", self.mutation_class.as_str())?;
        fields.end()
    }
}

impl Semantics {
    /// The same with what follows from the kind.
    pub fn described(&self) -> Described<'_> {
        Described {
            is_read_only: self.kind.is_read_only(),
            mutation_class: self.kind.mutation_class(),
            semantics: self,
        }
    }

    /// Reads the semantics among the fields of a tool annotation; each field has a default.
    pub(super) fn read(tool: &Object<'_, '_>) -> Self {
        let flag = |key| tool.optional(key).and_then(|node| node.boolean());
        Self {
            kind: tool
                .optional("kind")
                .and_then(|node| ToolKind::read(&node))
                .unwrap_or_default(),
            side_effect_level: tool
                .optional("side_effect_level")
                .map(|node| SideEffectLevel::read(&node))
                .unwrap_or_default(),
            arg_schema: tool
                .optional("arg_schema")
                .map(|node| ArgSchema::read(&node))
                .unwrap_or_default(),
            capabilities: tool
                .optional("capabilities")
                .map(|node| read_capabilities(&node))
                .unwrap_or_default(),
            emits_artifacts: flag("emits_artifacts").unwrap_or_default(),
            result_readers: read_names(tool, "result_readers"),
            inline_result: flag("inline_result").unwrap_or_default(),
        }
    }
}

impl ArgSchema {
    /// The key that a name stands for, which is the name itself unless it is an alias.
    pub(crate) fn key_of<'n>(&'n self, name: &'n str) -> &'n str {
        self.arg_aliases.get(name).map_or(name, |key| key)
    }

    /// Where the values of `path_params` are, each once, aliases as their keys.
    pub(crate) fn path_names(&self) -> Vec<ArgumentName> {
        let mut names = Vec::with_capacity(self.path_params.len());
        for parameter in &self.path_params {
            if let Ok(name) = ArgumentName::parse(self.key_of(parameter))
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        names
    }

    fn read(node: &Node<'_, '_>) -> Self {
        let Some(schema) = node.object() else {
            return Self::default();
        };
        schema.unknown_keys(&["path_params", "arg_aliases", "required"], Severity::Warning);
        Self {
            path_params: schema
                .optional("path_params")
                .and_then(|node| {
                    node.each("an array of strings", |item| {
                        let name = item.string()?;
                        read_name(name, item).map(|_| name.into())
                    })
                })
                .unwrap_or_default(),
            arg_aliases: schema
                .optional("arg_aliases")
                .map(|node| read_aliases(&node))
                .unwrap_or_default(),
            required: read_names(&schema, "required"),
        }
    }
}

fn read_names(object: &Object<'_, '_>, key: &str) -> Vec<Box<str>> {
    object
        .optional(key)
        .and_then(|node| node.strings())
        .unwrap_or_default()
}

fn read_capabilities(node: &Node<'_, '_>) -> BTreeMap<Box<str>, Vec<Box<str>>> {
    let Some(capabilities) = node.object() else {
        return BTreeMap::new();
    };
    order::map(
        capabilities
            .entries()
            .filter_map(|(name, operations)| Some((name.into(), operations.strings()?))),
    )
}

fn read_aliases(node: &Node<'_, '_>) -> BTreeMap<Box<str>, Box<str>> {
    let Some(object) = node.object() else {
        return BTreeMap::new();
    };
    let names = order::set(object.entries().map(|(alias, _)| alias));
    let mut aliases = BTreeMap::new();
    for (alias, target) in object.entries() {
        let Some(key) = target.string() else { continue };
        if names.contains(key) {
            target.error(Code::InvalidValue, || {
                format!(
                    "found {}, an alias itself, expected the key that it stands for",
                    target.found()
                )
            });
        }
        aliases.insert(alias.into(), key.into());
    }
    aliases
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::Report;

    fn check(tool: Value, expected: Semantics, faults: &[&str]) {
        let report = Report::default();
        let semantics = Semantics::read(&Node::document(&tool, "tool", &report).object().unwrap());
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
