//! What tools do and what worlds answer as JSON, with the members and the order that the core gives them.

use callgate_core::{SideEffectLevel, ToolKind};
use serde_json::{Map, Value, json};

use super::bindings::callgate::gate::types::{self, MutationClass, ReplyData, ReplyStatus};

pub(super) fn semantics(semantics: types::Semantics) -> Value {
    let aliases = semantics.arg_aliases.into_iter();
    let aliases: Map<String, Value> = aliases.map(|alias| (alias.alias, alias.key.into())).collect();
    let capabilities = semantics.capabilities.into_iter();
    let capabilities: Map<String, Value> = capabilities.map(|one| (one.name, one.entries.into())).collect();
    json!({
        "kind": kind(semantics.kind).as_str(),
        "side_effect_level": level(semantics.side_effect_level).as_str(),
        "arg_schema": {
            "path_params": semantics.path_params,
            "arg_aliases": aliases,
            "required": semantics.required,
        },
        "capabilities": capabilities,
        "emits_artifacts": semantics.emits_artifacts,
        "result_readers": semantics.result_readers,
        "inline_result": semantics.inline_result,
        "isReadOnly": semantics.is_read_only,
        "mutationClass": mutation_class(semantics.mutation_class),
    })
}

fn kind(kind: types::ToolKind) -> ToolKind {
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

fn level(level: types::SideEffectLevel) -> SideEffectLevel {
    match level {
        types::SideEffectLevel::None => SideEffectLevel::None,
        types::SideEffectLevel::ReadOnly => SideEffectLevel::ReadOnly,
        types::SideEffectLevel::WorkspaceWrite => SideEffectLevel::WorkspaceWrite,
        types::SideEffectLevel::ProcessExec => SideEffectLevel::ProcessExec,
        types::SideEffectLevel::Network => SideEffectLevel::Network,
    }
}

fn mutation_class(class: MutationClass) -> &'static str {
    match class {
        MutationClass::ReadOnly => "read_only",
        MutationClass::WorkspaceWrite => "workspace_write",
        MutationClass::Destructive => "destructive",
        MutationClass::AmbientSideEffect => "ambient_side_effect",
        MutationClass::Other => "other",
    }
}

pub(super) fn reply(reply: types::Reply) -> Value {
    let status = match reply.status {
        ReplyStatus::Success => "success",
        ReplyStatus::Invalid => "invalid",
        ReplyStatus::Denied => "denied",
        ReplyStatus::Error => "error",
    };
    let data = match reply.data {
        ReplyData::Nothing => json!({}),
        ReplyData::Fault(reason) => json!({"reason": reason}),
        ReplyData::Place(place) => json!({
            "resolved": place.resolved,
            "root_key": place.root_key,
            "subdirectory": place.subdirectory,
            "relative_path": place.relative_path,
            "mod_name": place.mod_name,
        }),
        ReplyData::Judgement(judgement) => json!({
            "mode": judgement.mode,
            "root_key": judgement.root_key,
            "subdirectory": judgement.subdirectory,
            "failed_conditions": judgement.failed_conditions,
        }),
    };
    json!({"code": reply.code, "status": status, "message": reply.message, "data": data})
}
