//! The schemas of what configures an engine beside its policy and annotations.

use serde_json::{Map, Value, json};

use super::annotations::level;
use super::shape::{
    about, document, either, flag, list, map, name, names, object, one_of, text, texts, word,
};
use callgate_engine::config::{
    AGAINST, CATEGORIES, Compatibility, Directories, HEURISTIC_PATHS, PATH_CASE, RelativePaths,
    SANDBOX_ROLES, UnknownArguments, WorkspaceRoots, most,
};
use callgate_engine::document::keys;
use callgate_engine::limits::Limits;
use callgate_engine::model::{Effect, SandboxOrder, ServerKind};
use callgate_engine::role::{Form, Step};

pub(super) fn options() -> Value {
    let schema = document(keys::OPTIONS, &[], true, |key| match key {
        "compatibility" => word::<Compatibility>("Which defaults hold; `careful` unless it is said."),
        "heuristicPaths" => one_of(
            HEURISTIC_PATHS,
            "Whether every argument that looks like a path is checked against the protected paths.",
        ),
        "unknownArguments" => word::<UnknownArguments>("What becomes of an argument without an annotation."),
        "clientArguments" => {
            names("Arguments that clients add to the calls of every tool, and that are not unknown.")
        }
        "pathCase" => one_of(PATH_CASE, "Whether names that differ in case may be one file."),
        "directories" => word::<Directories>("When the directories of rules are resolved."),
        "relativePaths" => word::<RelativePaths>("What a gate does with relative paths."),
        "serverPaths" => map(
            map(
                json!({"type": "string"}),
                "What the server calls each directory of the host.",
            ),
            "For servers that see the disk under other names.",
        ),
        "harnServer" => name("The server of the tools in a file of Harn annotations."),
        "workspaceRoots" => word::<WorkspaceRoots>("What the ceiling's workspace roots are for."),
        "serverAliases" => map(
            word::<ServerKind>("The kind of the server."),
            "Servers that are file or git servers under another name.",
        ),
        "sandboxServers" => names("The servers, or kinds of servers, on which the sandbox decides."),
        "sandboxRoles" => list(
            one_of(SANDBOX_ROLES, "A role."),
            "The roles that the sandbox decides about.",
        ),
        "sandbox" => word::<SandboxOrder>("Whether the sandbox decides before the rules or after them."),
        "workingDirectory" => map(
            json!({"type": "string"}),
            "The directory that each server is started in.",
        ),
        "strict" => flag("Whether warnings refuse a document."),
        "limits" => limits(),
        _ => json!(false),
    });
    about(schema, "How an engine behaves.")
}

fn limits() -> Value {
    let properties: Map<String, Value> = Limits::TABLE
        .iter()
        .map(|(name, unit)| {
            let bound = json!({"type": "integer", "minimum": 0, "maximum": most(name), "description": unit});
            ((*name).to_owned(), bound)
        })
        .collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

pub(super) fn roles() -> Value {
    let role = object(keys::ROLE, &["name", "category"], true, |key| match key {
        "name" => name("The role's name."),
        "description" => text("What an argument with the role is."),
        "category" => one_of(CATEGORIES, "The kind of thing that its values name."),
        "canonicalize" => word::<Step>("From a value to its canonical form."),
        "extractPolicyValue" => word::<Step>("From that to what policy sees."),
        "form" => word::<Form>("Which texts may be identifiers; `name` unless it is said."),
        _ => json!(false),
    });
    list(role, "Further roles, beside the built-in ones.")
}

pub(super) fn ceiling() -> Value {
    let nullable = |schema: Value| either([schema, json!({"type": "null"})]);
    let schema = document(keys::CEILING, &[], true, |key| match key {
        "tools" => nullable(names("The tools that may be called; empty for every tool.")),
        "capabilities" => nullable(map(
            names("Its operations; empty for all of them."),
            "The capabilities that tools may need; empty for all of them.",
        )),
        "workspace_roots" => nullable(texts("The directories that paths must lie in.")),
        "side_effect_level" => nullable(level()),
        "recursion_limit" => nullable(json!({
            "type": "integer", "minimum": 0, "maximum": u32::MAX,
            "description": "How deep agents may start agents; the host counts.",
        })),
        "tool_arg_constraints" => nullable(list(constraint(), "Patterns for single arguments.")),
        "unclassified_tools" => nullable(names("The tools whose side-effect level may be unknown.")),
        "outer_workspace_roots" => nullable(list(
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            "Further sets of directories; a path must lie in one of each set.",
        )),
        _ => json!(false),
    });
    about(schema, "The most that calls may use.")
}

fn constraint() -> Value {
    let nullable = |schema: Value| either([schema, json!({"type": "null"})]);
    object(
        keys::CONSTRAINT,
        &["tool", "arg_patterns"],
        true,
        |key| match key {
            "tool" => text("The tools: a glob over `tool` and `server/tool`."),
            "arg_patterns" => texts("Globs, one of which the value must match."),
            "arg_key" => nullable(name(
                "The argument; by default the first of the tool's `path_params`.",
            )),
            "workspace_root" => nullable(text("The workspace root that relative patterns start from.")),
            _ => json!(false),
        },
    )
}

pub(super) fn protected_paths() -> Value {
    let path = || json!({"type": "string"});
    let readable = object(
        keys::PROTECTED_PATH,
        keys::PROTECTED_PATH,
        true,
        |key| match key {
            "path" => about(path(), "The path, or the pattern."),
            "against" => one_of(AGAINST, "It may be read."),
            _ => json!(false),
        },
    );
    let description = "Paths that no call may touch, and patterns of them such as `**/.env`.";
    list(either([path(), readable]), description)
}

pub(super) fn domain_allowlists() -> Value {
    let mut schema = map(
        texts("Domain patterns."),
        "The domains that each server's URLs must match.",
    );
    if let Some(members) = schema.as_object_mut() {
        let either = either([json!({"type": "string"}), texts("Domain patterns.")]);
        members.insert("properties".to_owned(), json!({"$schema": either}));
    }
    schema
}

pub(super) fn invariants() -> Value {
    let names = || json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let about_calls = || {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["decision"],
            "properties": {
                "decision": either([
                    json!({"enum": Effect::ALL}),
                    json!({"type": "array", "items": {"enum": Effect::ALL}, "minItems": 1}),
                ]),
                "server": names(), "tool": names(), "roles": names(),
                "within": text("A directory: calls with a path at or below it."),
                "domains": about(names(), "Domain patterns: calls with a URL that matches one."),
                "values": about(names(), "Values, or `@names` of lists: calls in which an argument has one of them. Any argument, unless `roles` says which."),
            },
        })
    };
    about(
        json!({"type": "array", "items": {
            "type": "object",
            "additionalProperties": false,
            "oneOf": [{"required": ["never"]}, {"required": ["always"]}],
            "properties": {
                "name": text("What it is called."),
                "never": about(about_calls(), "No such call is decided so."),
                "always": about(about_calls(), "Every such call is decided so."),
            },
        }}),
        "Statements about all calls that `callgate check` proves or refutes.",
    )
}

pub(super) fn trusted_servers() -> Value {
    names("Servers whose calls are all allowed.")
}
