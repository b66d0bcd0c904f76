//! What a tool does, beyond what its arguments name (SPEC §5, the last paragraph).

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Object, did_you_mean, listed};
use crate::order;

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

/// The kind of a tool, as in the
/// [Agent Client Protocol](https://agentclientprotocol.com/protocol/schema#toolkind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads contents.
    Read,
    /// Changes contents.
    Edit,
    /// Removes contents for good.
    Delete,
    /// Moves or renames contents.
    Move,
    /// Queries an index or a directory.
    Search,
    /// Runs a process.
    Execute,
    /// Only reasons.
    Think,
    /// Retrieves remote contents.
    Fetch,
    /// Anything else; never taken for read-only.
    #[default]
    Other,
}

impl ToolKind {
    const TABLE: [(&'static str, Self); 9] = [
        ("read", Self::Read),
        ("edit", Self::Edit),
        ("delete", Self::Delete),
        ("move", Self::Move),
        ("search", Self::Search),
        ("execute", Self::Execute),
        ("think", Self::Think),
        ("fetch", Self::Fetch),
        ("other", Self::Other),
    ];

    /// Whether calls of such a tool may run side by side.
    pub fn is_read_only(self) -> bool {
        match self {
            Self::Read | Self::Search | Self::Think | Self::Fetch => true,
            Self::Edit | Self::Delete | Self::Move | Self::Execute | Self::Other => false,
        }
    }

    /// The kind of change, for telemetry.
    pub fn mutation_class(self) -> &'static str {
        match self {
            Self::Read | Self::Search | Self::Think | Self::Fetch => "read_only",
            Self::Edit => "workspace_write",
            Self::Delete | Self::Move => "destructive",
            Self::Execute => "ambient_side_effect",
            Self::Other => "other",
        }
    }
}

/// How far the effects of a tool reach; a later level includes the earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideEffectLevel {
    /// Unknown: denied unless explicitly allowed.
    #[default]
    None,
    /// Only reads.
    ReadOnly,
    /// Writes files of the workspace.
    WorkspaceWrite,
    /// Runs processes.
    ProcessExec,
    /// Reaches the network.
    Network,
}

impl SideEffectLevel {
    /// Every level, from the least to the most invasive.
    pub(crate) const ALL: [Self; 5] = [
        Self::None,
        Self::ReadOnly,
        Self::WorkspaceWrite,
        Self::ProcessExec,
        Self::Network,
    ];

    /// 0 for the least invasive level, 4 for the most.
    pub fn rank(self) -> u8 {
        match self {
            Self::None => 0,
            Self::ReadOnly => 1,
            Self::WorkspaceWrite => 2,
            Self::ProcessExec => 3,
            Self::Network => 4,
        }
    }

    /// The level as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::ProcessExec => "process_exec",
            Self::Network => "network",
        }
    }

    /// The level of that name; `None`, the level, for an unknown one.
    pub fn parse(name: &str) -> Self {
        Self::find(name).unwrap_or_default()
    }

    fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// The shape of a tool's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgSchema {
    /// The arguments that hold paths of the workspace; the first that is a string counts.
    pub path_params: Vec<Box<str>>,
    /// From an alias to the key that it stands for, which is no alias itself.
    pub arg_aliases: BTreeMap<Box<str>, Box<str>>,
    /// The arguments that must be there and not null.
    pub required: Vec<Box<str>>,
}

/// What a tool does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

impl Semantics {
    /// Reads the semantics among the fields of a tool annotation; each field has a default.
    pub(super) fn read(tool: &Object<'_, '_>) -> Self {
        let flag = |key| tool.optional(key).and_then(|node| node.boolean());
        Self {
            kind: tool
                .optional("kind")
                .and_then(|node| node.one_of(&ToolKind::TABLE))
                .unwrap_or_default(),
            side_effect_level: tool
                .optional("side_effect_level")
                .map(|node| read_level(&node))
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
    fn read(node: &Node<'_, '_>) -> Self {
        let Some(schema) = node.object() else {
            return Self::default();
        };
        schema.unknown_keys(&["path_params", "arg_aliases", "required"], Severity::Warning);
        Self {
            path_params: read_names(&schema, "path_params"),
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

fn read_level(node: &Node<'_, '_>) -> SideEffectLevel {
    let Some(name) = node.string() else {
        return SideEffectLevel::default();
    };
    if SideEffectLevel::find(name).is_none() {
        node.fault(Severity::Warning, Code::UnknownValue, || {
            let names = SideEffectLevel::ALL.map(SideEffectLevel::as_str);
            let message = format!(
                "found {}, which is taken for `none`, expected one of {}",
                node.found(),
                listed(names)
            );
            (message, did_you_mean(name, names))
        });
    }
    SideEffectLevel::parse(name)
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
    fn the_tables_are_those_of_the_seed() {
        let kinds = ToolKind::TABLE.map(|(name, kind)| (name, kind.is_read_only(), kind.mutation_class()));
        assert_eq!(
            kinds,
            [
                ("read", true, "read_only"),
                ("edit", false, "workspace_write"),
                ("delete", false, "destructive"),
                ("move", false, "destructive"),
                ("search", true, "read_only"),
                ("execute", false, "ambient_side_effect"),
                ("think", true, "read_only"),
                ("fetch", true, "read_only"),
                ("other", false, "other"),
            ]
        );
        for (rank, level) in (0..).zip(SideEffectLevel::ALL) {
            assert_eq!(level.rank(), rank);
            assert_eq!(SideEffectLevel::parse(level.as_str()), level);
        }
        assert_eq!(SideEffectLevel::parse("Network"), SideEffectLevel::None);
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
