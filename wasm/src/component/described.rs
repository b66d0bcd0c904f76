//! What tools do and what worlds answer, in the types of the contract.

use callgate_core::{self as core, ReplyData, ReplyStatus, SideEffectLevel, ToolKind};

use super::types::{self, ArgumentAlias, MutationClass, NamedList};

impl From<&core::Semantics> for types::Semantics {
    fn from(semantics: &core::Semantics) -> Self {
        let owned = |names: &[Box<str>]| names.iter().map(|name| name.to_string()).collect();
        let schema = &semantics.arg_schema;
        let aliases = schema.arg_aliases.iter().map(|(alias, key)| ArgumentAlias {
            alias: alias.to_string(),
            key: key.to_string(),
        });
        let capabilities = semantics.capabilities.iter().map(|(name, operations)| NamedList {
            name: name.to_string(),
            entries: owned(operations),
        });
        Self {
            kind: kind(semantics.kind),
            side_effect_level: level(semantics.side_effect_level),
            path_params: owned(&schema.path_params),
            arg_aliases: aliases.collect(),
            required: owned(&schema.required),
            capabilities: capabilities.collect(),
            emits_artifacts: semantics.emits_artifacts,
            result_readers: owned(&semantics.result_readers),
            inline_result: semantics.inline_result,
            is_read_only: semantics.kind.is_read_only(),
            mutation_class: mutation_class(semantics.kind),
        }
    }
}

fn kind(kind: ToolKind) -> types::ToolKind {
    match kind {
        ToolKind::Read => types::ToolKind::Read,
        ToolKind::Edit => types::ToolKind::Edit,
        ToolKind::Delete => types::ToolKind::Delete,
        ToolKind::Move => types::ToolKind::Move,
        ToolKind::Search => types::ToolKind::Search,
        ToolKind::Execute => types::ToolKind::Execute,
        ToolKind::Think => types::ToolKind::Think,
        ToolKind::Fetch => types::ToolKind::Fetch,
        ToolKind::Other => types::ToolKind::Other,
    }
}

/// The core's kind.
pub(super) fn kind_of(kind: types::ToolKind) -> ToolKind {
    match kind {
        types::ToolKind::Read => ToolKind::Read,
        types::ToolKind::Edit => ToolKind::Edit,
        types::ToolKind::Delete => ToolKind::Delete,
        types::ToolKind::Move => ToolKind::Move,
        types::ToolKind::Search => ToolKind::Search,
        types::ToolKind::Execute => ToolKind::Execute,
        types::ToolKind::Think => ToolKind::Think,
        types::ToolKind::Fetch => ToolKind::Fetch,
        types::ToolKind::Other => ToolKind::Other,
    }
}

pub(super) fn level(level: SideEffectLevel) -> types::SideEffectLevel {
    match level {
        SideEffectLevel::None => types::SideEffectLevel::None,
        SideEffectLevel::ReadOnly => types::SideEffectLevel::ReadOnly,
        SideEffectLevel::WorkspaceWrite => types::SideEffectLevel::WorkspaceWrite,
        SideEffectLevel::ProcessExec => types::SideEffectLevel::ProcessExec,
        SideEffectLevel::Network => types::SideEffectLevel::Network,
    }
}

/// The core's level.
pub(super) fn level_of(level: types::SideEffectLevel) -> SideEffectLevel {
    match level {
        types::SideEffectLevel::None => SideEffectLevel::None,
        types::SideEffectLevel::ReadOnly => SideEffectLevel::ReadOnly,
        types::SideEffectLevel::WorkspaceWrite => SideEffectLevel::WorkspaceWrite,
        types::SideEffectLevel::ProcessExec => SideEffectLevel::ProcessExec,
        types::SideEffectLevel::Network => SideEffectLevel::Network,
    }
}

/// The mutation class of a kind, for the contract.
pub(super) fn mutation_class(kind: ToolKind) -> MutationClass {
    match kind.mutation_class() {
        core::MutationClass::ReadOnly => MutationClass::ReadOnly,
        core::MutationClass::WorkspaceWrite => MutationClass::WorkspaceWrite,
        core::MutationClass::Destructive => MutationClass::Destructive,
        core::MutationClass::AmbientSideEffect => MutationClass::AmbientSideEffect,
        core::MutationClass::Other => MutationClass::Other,
    }
}

impl From<core::Reply> for types::Reply {
    fn from(reply: core::Reply) -> Self {
        Self {
            code: reply.code.as_str().to_owned(),
            status: match reply.code.status() {
                ReplyStatus::Success => types::ReplyStatus::Success,
                ReplyStatus::Invalid => types::ReplyStatus::Invalid,
                ReplyStatus::Denied => types::ReplyStatus::Denied,
                ReplyStatus::Error => types::ReplyStatus::Error,
            },
            message: reply.code.message().to_owned(),
            data: match reply.data {
                ReplyData::Nothing {} => types::ReplyData::Nothing,
                ReplyData::Fault { reason } => types::ReplyData::Fault(reason.to_owned()),
                ReplyData::Place {
                    resolved,
                    root_key,
                    subdirectory,
                    relative_path,
                    mod_name,
                } => types::ReplyData::Place(types::Place {
                    resolved,
                    root_key,
                    subdirectory,
                    relative_path,
                    mod_name,
                }),
                ReplyData::Judgement {
                    mode,
                    root_key,
                    subdirectory,
                    failed_conditions,
                } => types::ReplyData::Judgement(types::Judgement {
                    mode,
                    root_key,
                    subdirectory,
                    failed_conditions,
                }),
            },
        }
    }
}
