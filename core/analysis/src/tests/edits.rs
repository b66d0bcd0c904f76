//! Edits of everything that documents can say.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::arbitrary::{self, Documents};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::keys;

/// The subject of the edit, the document, the place in it, and the new value.
pub(super) type Edit = (&'static str, DocumentKind, &'static str, Value);

const READ: &str = "/servers/filesystem/tools/0";
const MOVE: &str = "/servers/filesystem/tools/1";
const PUSH: &str = "/servers/git/tools/0";
const ADD: &str = "/servers/git/tools/1";
const GET: &str = "/servers/fetch/tools/0";
const ATTACH: &str = "/servers/mail/tools/1";
const PUT: &str = "/servers/notes/tools/0";

/// Edits of one member of a tool's annotation, or of an argument of it.
fn of_tools() -> Vec<Edit> {
    let path = |types: Value| json!({"properties": {"path": types}});
    let rows = [
        ("args", READ, "args/force", json!("write-path")),
        ("args", READ, "args/path", json!(["read-path", "delete-path"])),
        ("args", READ, "args/~1opts~1path", json!("read-path")),
        ("args", READ, "args/~1*~1path", json!("read-path")),
        ("args", READ, "args", json!({})),
        ("args", GET, "args/mode", json!("fetch-url")),
        ("args", GET, "args/other", json!("read-path")),
        ("args", PUT, "args/path/default", json!(["delete-path"])),
        (
            "args",
            PUT,
            "args/path/when/0/condition",
            json!({"arg": "mode", "is": "present"}),
        ),
        (
            "args",
            ADD,
            "args/files",
            json!({"roles": "write-path", "relativeTo": "path"}),
        ),
        (
            "args",
            MOVE,
            "args/destination",
            json!({"roles": "write-path", "relativeTo": "source"}),
        ),
        (
            "inputSchema",
            READ,
            "inputSchema",
            path(json!({"type": "string"})),
        ),
        ("inputSchema", READ, "inputSchema", path(json!({}))),
        ("inputSchema", READ, "inputSchema", path(json!({"type": "array"}))),
        (
            "inputSchema",
            READ,
            "inputSchema",
            json!({"properties": {"path": {"type": "string"}, "force": {"type": "string"}}}),
        ),
        (
            "inputSchema",
            READ,
            "inputSchema",
            json!({"properties": {"path": {"type": "string"}}, "required": ["path"]}),
        ),
        (
            "inputSchema",
            GET,
            "inputSchema",
            json!({"properties": {"url": {}, "mode": {"type": "string"}}, "required": ["mode"]}),
        ),
        (
            "inputSchema",
            ADD,
            "inputSchema",
            json!({"properties": {"path": {}, "files": {"type": ["string", "array"]}}}),
        ),
        (
            "inputSchema",
            ATTACH,
            "inputSchema",
            json!({"properties": {"to": {"type": "string"}, "path": {}, "force": {}}}),
        ),
        ("inputSchema", ATTACH, "inputSchema", Value::Null),
        (
            "arg_schema",
            READ,
            "arg_schema",
            json!({"arg_aliases": {"file": "path"}}),
        ),
        ("arg_schema", READ, "arg_schema", json!({"required": ["force"]})),
        (
            "arg_schema",
            ADD,
            "arg_schema",
            json!({"required": ["files"], "path_params": ["files", "path"]}),
        ),
        (
            "arg_schema",
            PUT,
            "arg_schema",
            json!({"path_params": ["path"], "arg_aliases": {"how": "mode"}}),
        ),
        ("unjudged", READ, "unjudged", json!("ask")),
        ("unjudged", GET, "unjudged", json!("allow")),
        ("unjudged", PUT, "unjudged", json!("deny")),
        ("kind", READ, "kind", json!("execute")),
        ("side_effect_level", PUSH, "side_effect_level", json!("network")),
        ("capabilities", GET, "capabilities", json!({"net": ["read"]})),
        ("emits_artifacts", GET, "emits_artifacts", json!(true)),
        ("result_readers", GET, "result_readers", json!(["read"])),
        ("inline_result", GET, "inline_result", json!(true)),
        ("comment", GET, "comment", json!("something else")),
        ("toolName", READ, "toolName", json!("list_allowed_directories")),
        ("toolName", PUT, "toolName", json!("write")),
    ];
    let kind = DocumentKind::Annotations;
    let place = |tool: &str, member: &str| -> &'static str { format!("{tool}/{member}").leak() };
    rows.into_iter()
        .map(|(what, tool, member, value)| (what, kind, place(tool, member), value))
        .collect()
}

/// Edits of one option.
fn of_options() -> Vec<Edit> {
    let rows = [
        ("compatibility", json!("runtime")),
        ("compatibility", json!("careful")),
        ("heuristicPaths", json!("off")),
        ("heuristicPaths", json!("on")),
        ("unknownArguments", json!("ignore")),
        ("unknownArguments", json!("deny")),
        ("unknownArguments", json!("escalate")),
        ("clientArguments", json!(["toolCallId"])),
        ("pathCase", json!("insensitive")),
        ("directories", json!("pinned")),
        ("relativePaths", json!("deny")),
        ("relativePaths", json!("as-given")),
        ("serverPaths", json!({"filesystem": {"/srv/app": "/data"}})),
        ("harnServer", json!("vm")),
        ("workspaceRoots", json!("sandbox")),
        ("serverAliases", json!({"notes": "git", "mail": "filesystem"})),
        ("sandboxServers", json!(["notes", "mail"])),
        ("sandboxRoles", json!(["read-path"])),
        ("sandbox", json!("after-rules")),
        ("sandbox", json!("before-rules")),
        ("workingDirectory", json!({"git": "/srv/app"})),
        ("strict", json!(false)),
        ("limits", json!({"depth": 16})),
        ("limits", json!({"values_per_role": 1})),
    ];
    let place = |option: &str| -> &'static str { format!("/{option}").leak() };
    let edit = |(what, value)| (what, DocumentKind::Options, place(what), value);
    rows.into_iter().map(edit).collect()
}

/// Documents in the place of others.
fn of_documents() -> Vec<Edit> {
    use DocumentKind as Kind;
    let ceiling = json!({"side_effect_level": "read_only", "workspace_roots": ["/srv"]});
    let constrained = json!({"tools": ["read", "get", "push"], "tool_arg_constraints": [
        {"tool": "read", "arg_patterns": ["/srv/*"], "arg_key": "path"},
        {"tool": "get", "arg_patterns": ["list"], "arg_key": "mode"},
    ]});
    let program = json!({"programs": [{"names": ["ls"], "operands": "write-path+"}]});
    let role = json!([{"name": "tag", "description": "A tag", "category": "identifier", "canonicalize": "lowercase"}]);
    [
        (Kind::Sandbox, json!("/srv/app/in")),
        (Kind::Sandbox, json!("/etc")),
        (Kind::Sandbox, json!("/")),
        (Kind::ProtectedPaths, json!(["/srv/app/in", "**/key"])),
        (Kind::ProtectedPaths, json!([])),
        (
            Kind::DomainAllowlists,
            json!({"fetch": ["good.test"], "notes": ["*"]}),
        ),
        (Kind::TrustedServers, json!(["fetch", "shell"])),
        (Kind::TrustedServers, json!(["shell", "notes"])),
        (Kind::Ceiling, ceiling),
        (Kind::Ceiling, constrained),
        (Kind::Roles, role),
        (Kind::Programs, program),
    ]
    .into_iter()
    .map(|(kind, value)| (kind.as_str(), kind, "", value))
    .collect()
}

pub(super) fn edits() -> Vec<Edit> {
    [of_tools(), of_options(), of_documents()].concat()
}

#[test]
fn everything_that_documents_can_say_is_edited() {
    let names: BTreeSet<&str> = edits().iter().map(|(what, ..)| *what).collect();
    // A tool's server is where it stands in the file, and effects are not read.
    let annotated = keys::TOOL
        .iter()
        .filter(|key| !["serverName", "sideEffects"].contains(key));
    for key in keys::OPTIONS.iter().chain(annotated).chain(keys::SEMANTICS) {
        assert!(names.contains(key), "no edit of `{key}`");
    }
    // Policies and worlds are exchanged as a whole, the entries of lists are those of rules, and the last two are not judged by.
    let others = [
        "policy",
        "annotations",
        "lists",
        "options",
        "world",
        "invariants",
        "folder",
    ];
    for kind in DocumentKind::ALL {
        let name = kind.as_str();
        assert!(
            names.contains(name) || others.contains(&name),
            "no edit of `{name}`"
        );
    }
    let plain = vec![
        (DocumentKind::Policy, json!({"rules": []})),
        (DocumentKind::Annotations, arbitrary::annotations()),
        (DocumentKind::Options, json!({})),
        (DocumentKind::Ceiling, json!({"workspace_roots": ["/srv"]})),
    ];
    for edit in edits() {
        assert!(
            arbitrary::engine(&edited(&plain, &edit)).is_some(),
            "{edit:?} is not valid"
        );
    }
}

/// The documents with this edit.
pub(super) fn edited(documents: &Documents, (_, kind, place, value): &Edit) -> Documents {
    let mut new = documents.clone();
    if !new.iter().any(|(known, _)| known == kind) {
        new.push((*kind, Value::Null));
    }
    for (known, document) in &mut new {
        if known != kind {
            continue;
        }
        let Some((parent, member)) = place.rsplit_once('/') else {
            *document = value.clone();
            continue;
        };
        if let Some(Value::Object(members)) = document.pointer_mut(parent) {
            let member = member.replace("~1", "/");
            match value {
                Value::Null => members.remove(&member),
                value => members.insert(member, value.clone()),
            };
        }
    }
    new
}
