//! What a tool does: its kind, and how far its effects reach (SPEC §5, the last paragraph).

use std::collections::BTreeMap;

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::ArgumentName;

/// The kind of a tool, as in the
/// [Agent Client Protocol](https://agentclientprotocol.com/protocol/schema#toolkind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Anything else; never treated as read-only.
    #[default]
    Other,
}

impl ToolKind {
    pub(crate) const TABLE: [(&'static str, Self); 9] = [
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

    /// The kind as written in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::Other => "other",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        let known = Self::TABLE.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, kind)| kind)
    }

    /// Returns `true` if calls of such a tool may run in parallel.
    pub fn is_read_only(self) -> bool {
        match self {
            Self::Read | Self::Search | Self::Think | Self::Fetch => true,
            Self::Edit | Self::Delete | Self::Move | Self::Execute | Self::Other => false,
        }
    }

    /// The kind of change that the tool makes, for telemetry.
    pub fn mutation_class(self) -> MutationClass {
        match self {
            Self::Read | Self::Search | Self::Think | Self::Fetch => MutationClass::ReadOnly,
            Self::Edit => MutationClass::WorkspaceWrite,
            Self::Delete | Self::Move => MutationClass::Destructive,
            Self::Execute => MutationClass::AmbientSideEffect,
            Self::Other => MutationClass::Other,
        }
    }
}

/// The kind of change that a tool makes, for telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MutationClass {
    /// It changes nothing.
    ReadOnly,
    /// It writes files of the workspace.
    WorkspaceWrite,
    /// It removes or moves contents.
    Destructive,
    /// It runs a process, which may change anything.
    AmbientSideEffect,
    /// Nothing is known.
    Other,
}

impl MutationClass {
    /// The class as written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::Destructive => "destructive",
            Self::AmbientSideEffect => "ambient_side_effect",
            Self::Other => "other",
        }
    }
}

/// How far the effects of a tool reach; a later level includes the earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Every level, least invasive first.
    pub const ALL: [Self; 5] = [
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

    /// The level as written in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::ProcessExec => "process_exec",
            Self::Network => "network",
        }
    }

    /// The level with this name; [`SideEffectLevel::None`] for an unknown one.
    pub fn parse(name: &str) -> Self {
        Self::find(name).unwrap_or_default()
    }

    /// The level with this name, if there is one.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// The shape of a tool's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgSchema {
    /// The arguments that hold paths in the workspace; the first that is a string counts.
    pub path_params: Vec<Box<str>>,
    /// From an alias to its key, which is not an alias itself.
    pub arg_aliases: BTreeMap<Box<str>, Box<str>>,
    /// The arguments that must exist and not be null.
    pub required: Vec<Box<str>>,
}

/// What a tool does. Its JSON is that of an annotation, with every field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Semantics {
    /// The kind of tool.
    pub kind: ToolKind,
    /// How far its effects reach.
    pub side_effect_level: SideEffectLevel,
    /// The shape of its arguments.
    pub arg_schema: ArgSchema,
    /// The operations that it needs, by capability.
    pub capabilities: BTreeMap<Box<str>, Vec<Box<str>>>,
    /// Whether it may return a reference to its output instead of the output.
    pub emits_artifacts: bool,
    /// The tools that can read such references.
    pub result_readers: Vec<Box<str>>,
    /// Whether its output is always complete.
    pub inline_result: bool,
}

/// What a tool does, and what follows from its kind, for schedulers and telemetry.
///
/// Its JSON has the fields of the annotation, `isReadOnly` and `mutationClass`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described<'s> {
    /// The semantics in the annotation.
    pub semantics: &'s Semantics,
    /// Whether calls of the tool may run side by side.
    pub is_read_only: bool,
    /// The kind of change.
    pub mutation_class: MutationClass,
}

// By hand, because serde's code for a flattened field costs kilobytes of WebAssembly.
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
    /// The semantics with what follows from the kind.
    pub fn described(&self) -> Described<'_> {
        Described {
            is_read_only: self.kind.is_read_only(),
            mutation_class: self.kind.mutation_class(),
            semantics: self,
        }
    }
}

impl ArgSchema {
    /// The key that a name stands for: the name itself, unless it is an alias.
    pub(crate) fn key_of<'n>(&'n self, name: &'n str) -> &'n str {
        self.arg_aliases.get(name).map_or(name, |key| key)
    }

    /// The names of `path_params`, each once, with aliases replaced by their keys.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_those_of_the_seed() {
        let kinds =
            ToolKind::TABLE.map(|(name, kind)| (name, kind.is_read_only(), kind.mutation_class().as_str()));
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
        for (name, kind) in ToolKind::TABLE {
            assert_eq!((kind.as_str(), ToolKind::parse(name)), (name, Some(kind)));
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
        }
        assert_eq!(ToolKind::parse("Read"), None);
        for (rank, level) in (0..).zip(SideEffectLevel::ALL) {
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
            assert_eq!(level.rank(), rank);
            assert_eq!(SideEffectLevel::parse(level.as_str()), level);
        }
        assert_eq!(SideEffectLevel::parse("Network"), SideEffectLevel::None);
    }
}
