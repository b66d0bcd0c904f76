//! The annotations file `{generatedAt, servers: {name: {inputHash, tools: []}}}`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{Node, Object, Report};
use crate::role::{Registry, RoleId};

use super::{
    Annotations, Argument, ArgumentName, Clause, Condition, ConditionArgument, Roles, Scalar, Segment,
    Semantics, Test, Tool, semantics,
};

const TOOL_KEYS: [&str; 6] = [
    "toolName",
    "serverName",
    "comment",
    "args",
    "inputSchema",
    // Older files say whether the tool has effects; the roles say it better.
    "sideEffects",
];

/// What each word under `is` asks.
const IS: [(&str, Test); 4] = [
    ("present", Test::Present),
    ("absent", Test::Absent),
    ("truthy", Test::Truthy),
    ("falsy", Test::Falsy),
];

/// Reads an annotations file. Faults go to the document's report; where there are errors, the answer is what
/// could be read.
pub(crate) fn read(document: &Node<'_, '_>, registry: &Registry) -> Annotations {
    let mut tools = Vec::new();
    if let Some(file) = document.object() {
        file.unknown_keys(&["generatedAt", "servers"], Severity::Warning);
        file.string("generatedAt");
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
    let Some(server) = node.object() else { return };
    server.unknown_keys(&["inputHash", "tools"], Severity::Warning);
    server.string("inputHash");
    let Some(list) = server.required("tools", "an array of tools") else {
        return;
    };
    let Some(items) = list.array() else { return };
    let mut seen = BTreeSet::new();
    for item in items {
        let Some(tool) = item.object() else { continue };
        let Some(read) = read_tool(name, &tool, registry) else {
            continue;
        };
        if !seen.insert(read.name.clone()) {
            item.error(Code::DuplicateTool, || {
                format!(
                    "found the tool `{}` of `{name}` again, expected one annotation of it",
                    read.name
                )
            });
        }
        tools.push(read);
    }
}

fn read_tool(server: &str, tool: &Object<'_, '_>, registry: &Registry) -> Option<Tool> {
    let known: Vec<&str> = TOOL_KEYS.into_iter().chain(semantics::KEYS).collect();
    tool.unknown_keys(&known, Severity::Warning);
    let name = tool
        .required("toolName", "the name of a tool")
        .and_then(|node| node.name());
    let server_name = tool.required("serverName", "the name of the server");
    if let Some(node) = server_name
        && let Some(found) = node.string()
        && found != server
    {
        node.error(Code::InvalidValue, || {
            format!(
                "found {}, expected `{server}`, under which the tool stands",
                node.found()
            )
        });
    }
    let comment = tool.string("comment");
    let semantics = Semantics::read(tool);
    let arguments = tool
        .required("args", "an object of arguments")
        .and_then(|node| read_arguments(&node, &semantics, registry));
    let schema_properties = tool.optional("inputSchema").and_then(|node| read_schema(&node));
    Some(Tool {
        server: server.into(),
        name: name?.into(),
        comment: comment?.into(),
        arguments: arguments?,
        schema_properties,
        semantics,
    })
}

/// The names of a schema's properties; the rest of a schema is of no use here and is not looked at.
fn read_schema(node: &Node<'_, '_>) -> Option<Vec<Box<str>>> {
    let schema = node.object()?;
    let properties = schema.optional("properties")?.object()?;
    Some(properties.entries().map(|(name, _)| name.into()).collect())
}

/// The arguments of one stored annotation `{args}` that stands by itself.
pub(crate) fn read_stored(stored: &Value, registry: &Registry) -> Result<Vec<Argument>, Vec<Diagnostic>> {
    const NAME: &str = "annotation";
    let report = Report::default();
    let document = Node::document(stored, NAME, &report);
    let arguments = document.object().and_then(|object| {
        read_arguments(
            &object.required("args", "an object of roles")?,
            &Semantics::default(),
            registry,
        )
    });
    let failed = report.has_errors();
    let faults = report.finish(NAME);
    arguments.filter(|_| !failed).ok_or(faults)
}

fn read_arguments(node: &Node<'_, '_>, semantics: &Semantics, registry: &Registry) -> Option<Vec<Argument>> {
    let object = node.object()?;
    let mut arguments = Vec::with_capacity(object.entries().len());
    for (name, node) in object.entries() {
        if let Some(key) = semantics.arg_schema.arg_aliases.get(name) {
            node.warning(Code::NeverMatches, || {
                format!("found the roles of `{name}`, which is renamed to `{key}` first, expected roles of `{key}`")
            });
        }
        let name = read_name(name, &node);
        let roles = read_roles(&node, registry);
        arguments.extend(name.zip(roles).map(|(name, roles)| Argument { name, roles }));
    }
    Some(arguments)
}

fn read_name(name: &str, node: &Node<'_, '_>) -> Option<ArgumentName> {
    let parsed = ArgumentName::parse(name).ok();
    if parsed.is_none() {
        node.error(Code::InvalidValue, || {
            format!("found the pointer `{name}`, expected `~0` for `~` and `~1` for `/` in it")
        });
    }
    parsed
}

fn read_roles(node: &Node<'_, '_>, registry: &Registry) -> Option<Roles> {
    if let Value::Object(_) = node.value() {
        read_conditional(&node.object()?, registry)
    } else if let Value::Array(_) = node.value() {
        some_roles(node, registry).map(Roles::Fixed)
    } else {
        node.error(Code::WrongType, || {
            format!(
                "found {}, expected an array of roles, or an object with `default` and `when`",
                node.found()
            )
        });
        None
    }
}

/// Roles of which there must be one: without any, the argument would never be looked at.
fn some_roles(node: &Node<'_, '_>, registry: &Registry) -> Option<Vec<RoleId>> {
    let roles = node.roles(registry)?;
    if roles.is_empty() {
        node.fault(Severity::Error, Code::InvalidValue, || {
            let help = "write `none` for an argument that names no resource";
            (
                "found `[]`, expected at least one role".to_owned(),
                Some(help.to_owned()),
            )
        });
        return None;
    }
    Some(roles)
}

fn read_conditional(object: &Object<'_, '_>, registry: &Registry) -> Option<Roles> {
    // A misspelled key here would change which roles apply, so it is no mere warning.
    object.unknown_keys(&["default", "when"], Severity::Error);
    let default = object
        .required("default", "an array of roles")
        .and_then(|node| some_roles(&node, registry));
    let clauses = object.required("when", "an array of clauses")?;
    let mut when = Vec::new();
    for clause in clauses.array()? {
        when.extend(read_clause(&clause, default.as_deref(), registry));
    }
    Some(Roles::Conditional {
        default: default?,
        when,
    })
}

fn read_clause(node: &Node<'_, '_>, default: Option<&[RoleId]>, registry: &Registry) -> Option<Clause> {
    let clause = node.object()?;
    clause.unknown_keys(&["condition", "roles"], Severity::Error);
    let condition = clause
        .required("condition", "a condition")
        .and_then(|node| read_condition(&node));
    let node = clause.required("roles", "an array of roles")?;
    let roles = node.roles(registry)?;
    if let Some(default) = default {
        for (role, index) in roles.iter().zip(0_usize..) {
            if *role != RoleId::NONE && !default.contains(role) {
                node.warning(Code::WideningCondition, || {
                    format!(
                        "found `{}` at index {index}, which the default does not have, expected roles that narrow the default",
                        registry.name(*role)
                    )
                });
            }
        }
    }
    Some(Clause {
        condition: condition?,
        roles,
    })
}

fn read_condition(node: &Node<'_, '_>) -> Option<Condition> {
    let condition = node.object()?;
    condition.unknown_keys(&["arg", "equals", "in", "is"], Severity::Error);
    let argument = condition
        .required("arg", "the name of an argument")
        .and_then(|node| read_condition_argument(&node));
    let equals = condition.optional("equals");
    let among = condition.optional("in");
    let is = condition.optional("is");
    let test = match (equals, among, is) {
        (Some(node), None, None) => read_scalar(&node).map(Test::Equals),
        (None, Some(node), None) => {
            let values = node.each(read_scalar);
            if values.as_ref().is_some_and(Vec::is_empty) {
                node.warning(Code::NeverMatches, || {
                    "found `[]`, which holds for no value, expected at least one value".to_owned()
                });
            }
            values.map(Test::In)
        }
        (None, None, Some(node)) => node.one_of(&IS),
        // The existing runtime takes such a condition for one that never holds, and so do we.
        (None, None, None) => {
            node.warning(Code::NeverMatches, || {
                "found a condition without a test, which never holds, expected one of `equals`, `in`, `is`"
                    .to_owned()
            });
            None
        }
        _ => {
            node.error(Code::InvalidValue, || {
                format!(
                    "found {}, expected exactly one of `equals`, `in`, `is`",
                    node.found()
                )
            });
            None
        }
    };
    Some(Condition {
        argument: argument?,
        test: test?,
    })
}

fn read_condition_argument(node: &Node<'_, '_>) -> Option<ConditionArgument> {
    match read_name(node.string()?, node)? {
        ArgumentName::Top(name) => Some(ConditionArgument::Top(name)),
        ArgumentName::Pointer(segments) => {
            let keys = segments
                .into_iter()
                .map(|segment| match segment {
                    Segment::Key(key) => Some(key),
                    Segment::Every => None,
                })
                .collect::<Option<_>>();
            if keys.is_none() {
                node.error(Code::InvalidValue, || {
                    format!(
                        "found {}, expected the place of one value, without `*`",
                        node.found()
                    )
                });
            }
            keys.map(ConditionArgument::Pointer)
        }
    }
}

fn read_scalar(node: &Node<'_, '_>) -> Option<Scalar> {
    match node.value() {
        Value::Null => Some(Scalar::Null),
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        Value::Number(value) => value.as_f64().map(Scalar::Number),
        Value::String(text) => Some(Scalar::Text(text.as_str().into())),
        Value::Array(_) | Value::Object(_) => {
            node.error(Code::WrongType, || {
                format!(
                    "found {}, expected a string, a number, a boolean or null",
                    node.found()
                )
            });
            None
        }
    }
}
