//! What a server says of its tools: the answer to [MCP's `tools/list`](https://modelcontextprotocol.io/specification/2025-06-18/server/tools).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Node, Report};

/// The document's name in diagnostics.
pub(super) const NAME: &str = "toolsList";

/// One tool of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedTool<'v> {
    pub(super) name: &'v str,
    /// Empty if the server gives none.
    pub(super) description: &'v str,
    /// `None` if the server gives none.
    pub(super) schema: Option<&'v Value>,
    pub(super) hints: Hints,
}

/// What the server says the tool does. `None` if it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) is_read_only: Option<bool>,
    pub(super) is_destructive: Option<bool>,
    pub(super) is_open_world: Option<bool>,
}

impl<'v> ListedTool<'v> {
    /// Returns `true` if its schema says which arguments there are.
    pub(super) fn has_properties(&self) -> bool {
        self.schema
            .is_some_and(|schema| schema.get("properties").is_some_and(Value::is_object))
    }

    /// The arguments that its schema names, each with its own schema.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&'v str, &'v Value)> + use<'v> {
        let properties = self.schema.and_then(|schema| schema.get("properties"));
        let properties = properties.and_then(Value::as_object).into_iter().flatten();
        properties.map(|(name, schema)| (name.as_str(), schema))
    }
}

/// Reads the reply to `tools/list`, its `result`, or the array of tools. Each tool needs a name of its own; whatever else a
/// server says wrongly is not evidence.
pub(super) fn read(list: &Value) -> Result<Vec<ListedTool<'_>>, Vec<Diagnostic>> {
    let report = Report::default();
    let tools = read_list(&Node::document(list, NAME, &report));
    match tools {
        Some(tools) if !report.has_errors() => Ok(tools),
        Some(_) | None => Err(report.finish(NAME)),
    }
}

fn read_list<'v>(list: &Node<'v, '_>) -> Option<Vec<ListedTool<'v>>> {
    if list.value().is_array() {
        return read_tools(list);
    }
    let object = list.object()?;
    if let Some(error) = object.optional("error") {
        error.refuse(Code::InvalidValue, "expected the tools, not the server's error");
        return None;
    }
    match object.optional("result") {
        Some(result) => result.object()?.require("tools", "an array of tools", read_tools),
        None => object.require("tools", "an array of tools", read_tools),
    }
}

fn read_tools<'v>(tools: &Node<'v, '_>) -> Option<Vec<ListedTool<'v>>> {
    let mut seen = BTreeSet::new();
    tools.each("an array of tools", |node| {
        let tool = node.object()?;
        let name = tool.require("name", "the name of a tool", |node| node.name())?;
        if !seen.insert(name) {
            node.error(
                Code::DuplicateTool,
                format_args!("found the tool `{name}` again, expected each once"),
            );
        }
        let hints = node.value().get("annotations");
        let hint = |name| hints.and_then(|hints| hints.get(name)).and_then(Value::as_bool);
        Some(ListedTool {
            name,
            description: node
                .value()
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            schema: node
                .value()
                .get("inputSchema")
                .filter(|schema| schema.is_object()),
            hints: Hints {
                is_read_only: hint("readOnlyHint"),
                is_destructive: hint("destructiveHint"),
                is_open_world: hint("openWorldHint"),
            },
        })
    })
}
