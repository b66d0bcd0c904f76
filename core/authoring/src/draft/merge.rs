//! Drafts joined with the annotations that are there, and the changes of tools since those were written.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::schema;
use super::tools_list::ListedTool;
use callgate_engine::model::{ArgumentName, ToolKind};
use callgate_engine::named::named;

named! {
    /// How a server differs from its annotations.
    pub enum Change {
        /// The server has a tool that is not annotated.
        NewTool = "new-tool",
        /// A tool is annotated that the server no longer has.
        GoneTool = "gone-tool",
        /// A tool has an argument that is not annotated.
        NewArgument = "new-argument",
        /// An argument is annotated that the tool no longer has.
        GoneArgument = "gone-argument",
        /// The annotated schema has another type for an argument, or says otherwise whether it is required.
        ChangedSchema = "changed-schema",
    }
}

/// One difference between what a server has and what is annotated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The change.
    pub change: Change,
    /// The name of the tool.
    pub tool: String,
    /// The name of the argument; `None` if the whole tool is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// The difference, in a sentence.
    pub message: String,
}

impl Drift {
    fn tool(change: Change, tool: &str, message: &str) -> Self {
        Self {
            change,
            tool: tool.to_owned(),
            argument: None,
            message: format!("the tool `{tool}` {message}"),
        }
    }

    fn argument(change: Change, tool: &str, argument: &str, message: &str) -> Self {
        Self {
            change,
            tool: tool.to_owned(),
            argument: Some(argument.to_owned()),
            message: format!("the argument `{argument}` of `{tool}` {message}"),
        }
    }
}

/// The arguments of an annotated tool, by the argument that each name is or leads into.
pub(super) struct Annotated<'v> {
    tool: &'v Map<String, Value>,
    /// `None` if a pointer leads into every argument.
    names: Option<BTreeSet<String>>,
}

impl<'v> Annotated<'v> {
    pub(super) fn new(tool: &'v Map<String, Value>) -> Self {
        let keys = tool
            .get("args")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys);
        let parameters = tool
            .get("arg_schema")
            .and_then(|schema| schema.get("path_params"));
        let parameters = parameters
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let names = keys.map(String::as_str).chain(parameters);
        let names = names.map(|name| ArgumentName::parse(name).ok()?.first().map(str::to_owned));
        Self {
            tool,
            names: names.collect(),
        }
    }

    /// Returns `true` if the argument has roles already.
    pub(super) fn has(&self, argument: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(argument))
    }

    /// The changes of a tool since it was annotated.
    pub(super) fn drift(&self, listed: &ListedTool<'_>) -> Vec<Drift> {
        let name = listed.name;
        let mut drift = Vec::new();
        let top = listed.top();
        let names = || top.properties.iter().map(|(name, _)| *name);
        for argument in names().filter(|argument| !self.has(argument)) {
            drift.push(Drift::argument(
                Change::NewArgument,
                name,
                argument,
                "is not annotated",
            ));
        }
        if listed
            .schema
            .is_some_and(|schema| schema.get("properties").is_some())
            || names().next().is_some()
        {
            for argument in self.names.iter().flatten().filter(|argument| !top.has(argument)) {
                drift.push(Drift::argument(Change::GoneArgument, name, argument, "is gone"));
            }
        }
        let kept = schema::used(self.tool.get("inputSchema").filter(|schema| schema.is_object()));
        if let Some((kept, found)) = kept.zip(schema::used(listed.schema)) {
            drift.extend(changes(name, &kept, &found));
        }
        drift
    }

    /// The schema that the annotation should have, if that is not the one that it has.
    pub(super) fn new_schema(&self, listed: &ListedTool<'_>) -> Option<Value> {
        let kept = schema::used(Some(self.tool.get("inputSchema")?));
        schema::used(listed.schema).filter(|found| Some(found) != kept.as_ref())
    }
}

/// The differences of two schemas, in arguments that both have.
fn changes(tool: &str, kept: &Value, found: &Value) -> Vec<Drift> {
    let properties = |schema: &'_ Value| {
        schema
            .get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    let required = |schema: &'_ Value| {
        let names = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let names: BTreeSet<String> = names.filter_map(Value::as_str).map(str::to_owned).collect();
        names
    };
    let (were, are) = (required(kept), required(found));
    let before = properties(kept);
    let mut drift = Vec::new();
    for (argument, now) in properties(found) {
        let Some(then) = before.get(&argument) else {
            continue;
        };
        // Who annotated it may have left the default out.
        let mut without = now.clone();
        if then.get("default").is_none()
            && let Some(object) = without.as_object_mut()
        {
            object.shift_remove("default");
        }
        if *then != without {
            let message = format!("was `{then}` in the schema, and is `{now}`");
            drift.push(Drift::argument(Change::ChangedSchema, tool, &argument, &message));
        }
        let message = match (were.contains(&argument), are.contains(&argument)) {
            (false, true) => "is required now",
            (true, false) => "is no longer required",
            (true, true) | (false, false) => continue,
        };
        drift.push(Drift::argument(Change::ChangedSchema, tool, &argument, message));
    }
    drift
}

pub(super) fn new_tool(tool: &str) -> Drift {
    Drift::tool(Change::NewTool, tool, "is not annotated")
}

pub(super) fn gone_tool(tool: &str) -> Drift {
    Drift::tool(
        Change::GoneTool,
        tool,
        "is annotated, but the server has no such tool",
    )
}

/// The annotation of a tool that is drafted as a whole.
pub(super) fn whole(
    listed: &ListedTool<'_>,
    kind: Option<ToolKind>,
    args: Map<String, Value>,
    unsure: &[&str],
) -> Value {
    let mut tool = Map::new();
    tool.insert("toolName".to_owned(), json!(listed.name));
    if !unsure.is_empty() {
        let comment = format!("drafted, to be decided: {}", unsure.join(", "));
        tool.insert("comment".to_owned(), json!(comment));
    }
    if let Some(kind) = kind {
        tool.insert("kind".to_owned(), json!(kind.as_str()));
    }
    tool.insert("args".to_owned(), Value::Object(args));
    if let Some(used) = schema::used(listed.schema) {
        tool.insert("inputSchema".to_owned(), used);
    }
    Value::Object(tool)
}
