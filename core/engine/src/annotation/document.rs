//! The annotations file `{generatedAt, servers: {name: {inputHash, tools: []}}}`, or one of Harn's.

use serde_json::Value;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{Json, JsonPath, Node, Object, Report, keys};
use crate::model::{ArgumentName, JsonType, Roles, SchemaDefault, SchemaType, Semantics, Unjudged};
use crate::role::{Registry, RoleId};
use crate::table::Set;

use super::roles::{RoleSpec, read_role_spec};
use super::{Annotations, Argument, Schema, Tool, harn, implied};

/// Returns `true` if the value at this place is never used. That covers most of every `inputSchema`, and so most of
/// the file.
pub fn is_unread(place: &JsonPath<'_>) -> bool {
    match place {
        JsonPath::Key(JsonPath::Key(tool, "inputSchema"), key) => {
            !matches!(*key, "properties" | "required") && is_tool(tool)
        }
        JsonPath::Key(JsonPath::Key(property, "items"), key) if is_property(property) => *key != "type",
        JsonPath::Key(property, key) if is_property(property) => {
            !matches!(*key, "type" | "items" | "default")
        }
        JsonPath::Index(JsonPath::Key(property, "items"), _) => is_property(property),
        JsonPath::Document(_) | JsonPath::Key(..) | JsonPath::Index(..) => false,
    }
}

fn is_property(place: &JsonPath<'_>) -> bool {
    matches!(
        place,
        JsonPath::Key(JsonPath::Key(JsonPath::Key(tool, "inputSchema"), "properties"), _) if is_tool(tool)
    )
}

fn is_tool(place: &JsonPath<'_>) -> bool {
    matches!(
        place,
        JsonPath::Index(
            JsonPath::Key(
                JsonPath::Key(JsonPath::Key(JsonPath::Document(_), "servers"), _),
                "tools"
            ),
            _
        )
    )
}

/// Reads an annotations file. Faults go to the document's report; if there are errors, returns what could be read.
/// The tools of a Harn file, which names no servers, belong to `harn_server`.
pub fn read(document: &Node<'_, '_>, registry: &Registry, harn_server: &str) -> Annotations {
    if harn::is_harn(document.value()) {
        return harn::read(document, harn_server);
    }
    let mut tools = Vec::new();
    if let Some(file) = document.object() {
        file.unknown_keys(keys::ANNOTATIONS, Severity::Warning);
        file.optional_string("generatedAt");
        let servers = file.required("servers", "an object of servers");
        if let Some(servers) = servers.and_then(|node| node.object()) {
            for (name, server) in servers.entries() {
                read_server(name, &server, registry, &mut tools);
            }
        }
    }
    Annotations { tools }
}

fn read_server(name: &str, node: &Node<'_, '_>, registry: &Registry, tools: &mut Vec<Tool>) {
    let Some(server) = node.object_of(keys::SERVER, Severity::Warning) else {
        return;
    };
    server.optional_string("inputHash");
    let unjudged = read_unjudged(&server);
    let list = server.required("tools", "an array of tools");
    let items = list.iter().filter_map(|list| list.array("an array of tools"));
    let known: Vec<&str> = keys::TOOL.iter().chain(keys::SEMANTICS).copied().collect();
    let mut seen = Set::default();
    for item in items.flatten() {
        let Some(tool) = item.object() else { continue };
        tool.unknown_keys(&known, Severity::Warning);
        let Some(mut read) = read_tool(name, &tool, registry) else {
            continue;
        };
        read.unjudged = read.unjudged.or(unjudged);
        if !seen.insert(item.value().get("toolName").and_then(Json::as_str)) {
            item.error(
                Code::DuplicateTool,
                format_args!(
                    "found the tool `{}` of `{name}` again, expected one annotation of it",
                    read.name
                ),
            );
        }
        tools.push(read);
    }
}

fn read_tool(server: &str, tool: &Object<'_, '_>, registry: &Registry) -> Option<Tool> {
    let name = tool.require("toolName", "the name of a tool", |node| node.name());
    if let Some(node) = tool.optional("serverName")
        && let Some(found) = node.string()
        && found != server
    {
        node.refuse(
            Code::InvalidValue,
            &format!("expected `{server}`, under which the tool stands"),
        );
    }
    let comment = tool.optional_string("comment");
    let semantics = Semantics::read(tool);
    let mut arguments = tool.require("args", "an object of arguments", |node| {
        read_arguments(node, &semantics, registry)
    });
    if let Some(arguments) = &mut arguments {
        implied::add(arguments, &semantics);
    }
    let schema = tool.read_or_default("inputSchema", |node| read_schema(node));
    if let Some(arguments) = &arguments {
        let required = &semantics.arg_schema.required;
        let required: Vec<&str> = schema
            .required
            .iter()
            .chain(required)
            .map(|name| &**name)
            .collect();
        check_absent(tool, arguments, &required);
    }
    Some(Tool {
        server: server.into(),
        name: name?.into(),
        comment: comment?.into(),
        arguments: arguments?,
        schema,
        semantics,
        unjudged: read_unjudged(tool),
    })
}

fn read_unjudged(object: &Object<'_, '_>) -> Option<Unjudged> {
    object.read_or_default("unjudged", |node| Some(node.word()))
}

/// Doubts what is said about the absence of arguments that are always there.
fn check_absent(tool: &Object<'_, '_>, arguments: &[Argument], required: &[&str]) {
    let Some(args) = tool.optional("args").and_then(|node| node.object()) else {
        return;
    };
    let said = |argument: &&Argument| {
        let first = argument.name.first();
        argument.absent.is_some() && first.is_some_and(|first| required.contains(&first))
    };
    for argument in arguments.iter().filter(said) {
        if let Some(node) = args.optional(&argument.name.to_string()) {
            let message = format_args!(
                "found `absent` of `{}`, which the tool requires, expected it for an argument that may be left out",
                argument.name
            );
            node.warning(Code::NeverMatches, message);
        }
    }
}

/// Reads the parts of a schema that are used. It comes from the tool's server, so a part that says nothing here is not
/// a fault.
fn read_schema(node: &Node<'_, '_>) -> Option<Schema> {
    let schema = node.object()?;
    let properties = schema.optional("properties").and_then(|node| node.object());
    let properties = properties.map(|properties| {
        let entries = properties.entries();
        entries
            .map(|(name, property)| (name.into(), read_schema_type(property.value())))
            .collect()
    });
    let required = node.value().get("required").and_then(Json::as_array);
    let required = required.into_iter().flatten().filter_map(Json::as_str);
    Some(Schema {
        properties,
        required: required.map(Box::from).collect(),
    })
}

fn read_schema_type(property: &Json<'_>) -> SchemaType {
    let types = |schema: Option<&Json<'_>>| match schema.and_then(|schema| schema.get("type")) {
        Some(Json::String(name)) => JsonType::find(name).into_iter().collect(),
        // A type of no known name may stand for anything.
        Some(Json::Array(names)) => {
            let types = names.iter().map(|name| JsonType::find(name.as_str()?));
            types.collect::<Option<_>>().unwrap_or_default()
        }
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => Vec::new(),
    };
    SchemaType {
        own: types(Some(property)),
        items: types(property.get("items")),
        default: property.get("default").and_then(read_default),
        is_optional: false,
    }
}

fn read_default(default: &Json<'_>) -> Option<SchemaDefault> {
    match default {
        Json::Null => Some(SchemaDefault::Null),
        Json::String(text) if text.is_empty() => Some(SchemaDefault::EmptyText),
        Json::String(text) => Some(SchemaDefault::Text((&**text).into())),
        Json::Array(items) if items.is_empty() => Some(SchemaDefault::EmptyList),
        Json::Bool(value) => Some(SchemaDefault::Bool(*value)),
        Json::Number(number) => number.as_i64().map(SchemaDefault::Integer),
        Json::Array(_) | Json::Object(_) => None,
    }
}

/// Reads the arguments of a single stored annotation `{args}`, in which an argument may have no role.
pub fn read_stored(stored: &Value, registry: &Registry) -> Result<Vec<Argument>, Vec<Diagnostic>> {
    const NAME: &str = "annotation";
    let report = Report::default();
    let stored = Json::from(stored);
    let document = Node::document(&stored, NAME, &report);
    let mut arguments = Vec::new();
    if let Some(object) = document.object()
        && let Some(args) = object.required("args", "an object of roles")
        && let Some(args) = args.object()
    {
        for (name, node) in args.entries() {
            let none = matches!(node.value(), Json::Array(roles) if roles.is_empty());
            let roles = if none {
                Some(RoleSpec::of(Roles::Fixed(Vec::new())))
            } else {
                read_role_spec(&node, registry)
            };
            arguments.extend(argument(node.argument_name(name), roles));
        }
    }
    let failed = report.has_errors();
    let faults = report.finish(NAME);
    if failed { Err(faults) } else { Ok(arguments) }
}

fn read_arguments(node: &Node<'_, '_>, semantics: &Semantics, registry: &Registry) -> Option<Vec<Argument>> {
    let object = node.object()?;
    let mut arguments = Vec::with_capacity(object.entries().len());
    for (name, node) in object.entries() {
        if let Some(key) = semantics.arg_schema.arg_aliases.get(name) {
            node.warning(
                Code::NeverMatches,
                format_args!(
                    "found roles of `{name}`, which is renamed to `{key}` first, expected roles of `{key}`"
                ),
            );
        }
        let name = node.argument_name(name);
        arguments.extend(argument(name, read_role_spec(&node, registry)));
    }
    for (name, node) in object.entries() {
        if let Some(base) = node.value().get("relativeTo").and_then(Json::as_str)
            && !may_be_base(&arguments, base)
        {
            node.warning(Code::NeverMatches, format_args!(
                    "found paths of `{name}` that are relative to `{base}`, which makes every call with them unreadable, \
                     expected another argument with a path role and without `relativeTo`"
                ));
        }
    }
    refuse_two(&arguments, node, "one `separator`", |one| one.separator);
    refuse_two(&arguments, node, "one `scheme`", |one| one.scheme);
    refuse_two(&arguments, node, "`resource-uri`", |one| one.is_uri.then_some(()));
    Some(arguments)
}

/// Refuses roles of one text that differ in how it is read: only one of them can be what is sent.
fn refuse_two<T: PartialEq>(
    arguments: &[Argument],
    node: &Node<'_, '_>,
    expected: &str,
    said: impl Fn(&Argument) -> Option<T>,
) {
    for one in arguments.iter().filter(|one| said(one).is_some()) {
        let mut others = arguments.iter();
        let other = others.find(|other| said(other) != said(one) && other.name.may_meet(&one.name));
        if let Some(other) = other {
            let (one, other) = (one.name.to_string(), other.name.to_string());
            node.refuse(
                Code::InvalidValue,
                &format!("in which `{one}` and `{other}` may name one text, expected {expected} for both"),
            );
        }
    }
}

/// Returns `true` if paths may be relative to the argument in some call.
fn may_be_base(arguments: &[Argument], base: &str) -> bool {
    let named = arguments
        .iter()
        .filter(|argument| matches!(&argument.name, ArgumentName::Top(name) if **name == *base));
    let mut roles = named.clone().flat_map(|argument| argument.roles.possible());
    roles.any(|role| role != RoleId::NONE) && named.clone().all(|argument| argument.relative_to.is_none())
}

fn argument(name: Option<ArgumentName>, spec: Option<RoleSpec>) -> Option<Argument> {
    let RoleSpec {
        roles,
        relative_to,
        reach,
        is_uri,
        scheme,
        separator,
        absent,
    } = spec?;
    Some(Argument {
        name: name?,
        roles,
        relative_to,
        reach,
        is_uri,
        scheme,
        separator,
        absent,
    })
}

#[cfg(test)]
mod tests;
