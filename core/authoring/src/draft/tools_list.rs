//! A server's list of its tools: the answer to [MCP's
//! `tools/list`](https://modelcontextprotocol.io/specification/2025-06-18/server/tools).

use std::collections::BTreeSet;

use serde_json::Value;

use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::{Json, Node, Report};

use super::top::Top;
use super::words::{is_form_of, of_text};

/// The document's name in diagnostics.
pub(super) const NAME: &str = "toolsList";

/// Words of descriptions that speak of arguments.
const SPEAKS: [&str; 5] = ["argument", "arg", "parameter", "param", "specified"];

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

/// The server's hints about the tool. `None` for a hint that it does not give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) is_read_only: Option<bool>,
    pub(super) is_destructive: Option<bool>,
    pub(super) is_open_world: Option<bool>,
}

impl<'v> ListedTool<'v> {
    /// The arguments that its schema allows.
    pub(super) fn top(&self) -> Top<'v> {
        Top::read(self.schema)
    }

    /// Why a tool whose schema lists no argument may have some; `None` if nothing speaks of any.
    pub(super) fn unlisted(&self) -> Option<&'static str> {
        let schema = self.schema?;
        let is_closed = schema.get("additionalProperties").and_then(Value::as_bool) == Some(false);
        let speaks = of_text(self.description)
            .iter()
            .any(|(_, word)| SPEAKS.iter().any(|one| is_form_of(word, one)));
        let lists = schema.get("properties").is_some() && self.top().properties.is_empty();
        (lists && !is_closed && speaks).then_some(
            "its schema lists no argument, but its description speaks of some, which a person has to write into `args` and \
             `inputSchema`",
        )
    }
}

/// Reads the reply to `tools/list`, its `result`, or the array of tools. Each tool needs a name of its own; whatever else a
/// server says wrongly is not evidence.
pub(super) fn read(list: &Value) -> Result<Vec<ListedTool<'_>>, Vec<Diagnostic>> {
    let report = Report::default();
    let checked = check_list(&Node::document(&Json::from(list), NAME, &report));
    if checked.is_none() || report.has_errors() {
        return Err(report.finish(NAME));
    }
    let tools = list.get("result").unwrap_or(list);
    let tools = tools.get("tools").unwrap_or(tools).as_array();
    Ok(tools.into_iter().flatten().map(listed).collect())
}

fn check_list(list: &Node<'_, '_>) -> Option<()> {
    if list.value().as_array().is_some() {
        return check_tools(list);
    }
    let object = list.object()?;
    if let Some(error) = object.optional("error") {
        error.refuse(Code::InvalidValue, "expected the tools, not the server's error");
        return None;
    }
    match object.optional("result") {
        Some(result) => result
            .object()?
            .require("tools", "an array of tools", check_tools),
        None => object.require("tools", "an array of tools", check_tools),
    }
}

fn check_tools(tools: &Node<'_, '_>) -> Option<()> {
    let mut seen = BTreeSet::new();
    let checked = tools.each("an array of tools", |node| {
        let tool = node.object()?;
        let name = tool.require("name", "the name of a tool", |node| node.name())?;
        if !seen.insert(name) {
            node.error(
                Code::DuplicateTool,
                format_args!("found the tool `{name}` again, expected each once"),
            );
        }
        Some(())
    });
    checked.map(|_| ())
}

pub(super) fn listed(tool: &Value) -> ListedTool<'_> {
    let text = |key| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let hints = tool.get("annotations");
    let hint = |name| hints.and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    ListedTool {
        name: text("name"),
        description: text("description"),
        schema: tool.get("inputSchema").filter(|schema| schema.is_object()),
        hints: Hints {
            is_read_only: hint("readOnlyHint"),
            is_destructive: hint("destructiveHint"),
            is_open_world: hint("openWorldHint"),
        },
    }
}
