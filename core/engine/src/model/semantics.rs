//! The semantics of a tool: its kind, and how far its effects reach (SPEC §5, the last paragraph).

use std::collections::BTreeMap;

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::{ArgumentName, Effect};
use crate::named::named;
use crate::role::RoleSet;

named! {
    /// The kind of a tool, as in the
    /// [Agent Client Protocol](https://agentclientprotocol.com/protocol/schema#toolkind).
    #[derive(Default)]
    pub enum ToolKind {
        /// Reads contents.
        Read = "read",
        /// Changes contents.
        Edit = "edit",
        /// Removes contents for good.
        Delete = "delete",
        /// Moves or renames contents.
        Move = "move",
        /// Queries an index or a directory.
        Search = "search",
        /// Runs a process.
        Execute = "execute",
        /// Only reasons.
        Think = "think",
        /// Retrieves remote contents.
        Fetch = "fetch",
        /// Anything else; never treated as read-only.
        #[default]
        Other = "other",
    }
}

impl ToolKind {
    /// Returns `true` if calls of such a tool may run in parallel.
    pub fn is_read_only(self) -> bool {
        self.mutation_class() == MutationClass::ReadOnly
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

named! {
    /// The kind of change that a tool makes, for telemetry.
    pub enum MutationClass {
        /// It changes nothing.
        ReadOnly = "read_only",
        /// It writes files of the workspace.
        WorkspaceWrite = "workspace_write",
        /// It removes or moves contents.
        Destructive = "destructive",
        /// It runs a process, which may change anything.
        AmbientSideEffect = "ambient_side_effect",
        /// Nothing is known.
        Other = "other",
    }
}

named! {
    /// How far the effects of a tool reach; a later level includes the earlier ones.
    #[derive(Default)]
    pub enum SideEffectLevel {
        /// Unknown: denied unless explicitly allowed.
        #[default]
        None = "none",
        /// Only reads.
        ReadOnly = "read_only",
        /// Writes files of the workspace.
        WorkspaceWrite = "workspace_write",
        /// Runs processes.
        ProcessExec = "process_exec",
        /// Reaches the network.
        Network = "network",
    }
}

impl SideEffectLevel {
    /// 0 for the least invasive level, 4 for the most.
    pub fn rank(self) -> u8 {
        self as u8
    }
}

named! {
    /// What a call may do of which no argument names a resource, where no rule of its own decides.
    pub enum Unjudged {
        /// Nothing before a person was asked.
        Ask = "ask",
        /// Everything: it changes nothing but the agent's own state.
        Allow = "allow",
        /// Nothing.
        Deny = "deny",
    }
}

impl Unjudged {
    /// The effect of such a call.
    pub fn effect(self) -> Effect {
        match self {
            Self::Ask => Effect::Escalate,
            Self::Allow => Effect::Allow,
            Self::Deny => Effect::Deny,
        }
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

/// The semantics of a tool. Its JSON is that of an annotation, with every field.
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
    /// `true` if it may return a reference to its output instead of the output.
    pub emits_artifacts: bool,
    /// The tools that can read such references.
    pub result_readers: Vec<Box<str>>,
    /// `true` if its output is always complete.
    pub inline_result: bool,
}

/// The semantics of a tool and what follows from its kind, for schedulers and telemetry.
///
/// Its JSON has the fields of the annotation, `isReadOnly` and `mutationClass`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described<'s> {
    /// The semantics in the annotation.
    pub semantics: &'s Semantics,
    /// `true` if calls of the tool may run side by side.
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
        fields.serialize_field("kind", kind)?;
        fields.serialize_field("side_effect_level", side_effect_level)?;
        fields.serialize_field("arg_schema", arg_schema)?;
        fields.serialize_field("capabilities", capabilities)?;
        fields.serialize_field("emits_artifacts", emits_artifacts)?;
        fields.serialize_field("result_readers", result_readers)?;
        fields.serialize_field("inline_result", inline_result)?;
        fields.serialize_field("isReadOnly", &self.is_read_only)?;
        fields.serialize_field("mutationClass", &self.mutation_class)?;
        fields.end()
    }
}

impl Semantics {
    /// Returns `true` if the tool executes, sends or publishes, by what is said of it and the roles that it has: more happens than what
    /// its paths name.
    pub fn acts(&self, roles: RoleSet) -> bool {
        matches!(self.kind, ToolKind::Execute | ToolKind::Fetch)
            || self.side_effect_level.rank() >= SideEffectLevel::ProcessExec.rank()
            || roles.intersects(RoleSet::SENT)
    }

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
    pub fn key_of<'n>(&'n self, name: &'n str) -> &'n str {
        self.arg_aliases.get(name).map_or(name, |key| key)
    }

    /// The names of `path_params`, each once, with aliases replaced by their keys.
    pub fn path_names(&self) -> Vec<ArgumentName> {
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
        let described =
            |kind: &ToolKind| (kind.as_str(), kind.is_read_only(), kind.mutation_class().as_str());
        let kinds: Vec<_> = ToolKind::ALL.iter().map(described).collect();
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
        for kind in ToolKind::ALL {
            assert_eq!(ToolKind::parse(kind.as_str()), Some(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!(ToolKind::parse("Read"), None);
        for (rank, level) in (0..).zip(SideEffectLevel::ALL) {
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
            assert_eq!(level.rank(), rank);
            assert_eq!(SideEffectLevel::parse(level.as_str()), Some(*level));
        }
        assert_eq!(SideEffectLevel::parse("Network"), None);
        assert_eq!(SideEffectLevel::default(), SideEffectLevel::None);
    }
}
