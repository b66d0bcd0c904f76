//! The words for what a tool does: its kind, and how far its effects reach (SPEC §5, the last paragraph).

use serde::Serialize;

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, did_you_mean, listed};

/// The kind of a tool, as in the
/// [Agent Client Protocol](https://agentclientprotocol.com/protocol/schema#toolkind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
    /// Anything else; never taken for read-only.
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

    /// The kind as documents write it.
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

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let known = Self::TABLE.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, kind)| kind)
    }

    pub(crate) fn read(node: &Node<'_, '_>) -> Option<Self> {
        node.one_of(&Self::TABLE)
    }

    /// Whether calls of such a tool may run side by side.
    pub fn is_read_only(self) -> bool {
        match self {
            Self::Read | Self::Search | Self::Think | Self::Fetch => true,
            Self::Edit | Self::Delete | Self::Move | Self::Execute | Self::Other => false,
        }
    }

    /// The kind of change, for telemetry.
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
    /// The class as JSON has it.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// Every level, from the least to the most invasive.
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

    /// The level that a document says. An unknown word is `none`, which allows nothing, and is warned of.
    pub(crate) fn read(node: &Node<'_, '_>) -> Self {
        let Some(name) = node.string() else {
            return Self::default();
        };
        if Self::find(name).is_none() {
            node.fault(Severity::Warning, Code::UnknownValue, || {
                let names = Self::ALL.map(Self::as_str);
                let message = format!(
                    "found {}, which is taken for `none`, expected one of {}",
                    node.found(),
                    listed(names)
                );
                (message, did_you_mean(name, names))
            });
        }
        Self::parse(name)
    }

    fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
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
