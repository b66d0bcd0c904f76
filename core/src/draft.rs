//! Drafts of annotations, from what a server says of its tools.
//!
//! A server's description of itself is a claim, not a fact: it may make a draft stricter, never looser.

mod tools_list;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::diagnostic::Diagnostic;
use crate::document::{DocumentSource, load};
use crate::limits::Limits;

use tools_list::ListedTool;

/// Drafted annotations of one server's tools, and what a person should look at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The annotations document: what was there already, with what was drafted.
    pub annotations: Value,
    /// The arguments that were drafted on good evidence.
    pub drafted: Vec<DraftedArgument>,
    /// The arguments that a person should decide. Where the evidence allows several roles, they have all of them.
    pub unsure: Vec<DraftedArgument>,
}

/// The roles that were drafted for one argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DraftedArgument {
    /// The name of the tool.
    pub tool: String,
    /// Its name, or a JSON Pointer into the arguments.
    pub argument: String,
    /// The names of the roles.
    pub roles: Vec<&'static str>,
    /// Why: the evidence, in a sentence.
    pub why: String,
}

/// Drafts annotations for the tools of the server that is named `server`.
///
/// `tools` is what the server answers to MCP's `tools/list`: the whole reply, its `result`, or the array of tools.
/// `existing` is an annotations document, of which everything is kept.
///
/// # Errors
/// The faults of the documents.
pub fn propose_annotations(
    tools: DocumentSource<'_>,
    server: &str,
    existing: Option<DocumentSource<'_>>,
) -> Result<Proposal, Vec<Diagnostic>> {
    let limits = Limits::default();
    let list = load(tools, tools_list::NAME, &limits, |_| false)?;
    let tools = tools_list::read(&list)?;
    let document = match existing {
        Some(existing) => load(existing, "annotations", &limits, |_| false)?.into_owned(),
        None => json!({"servers": {}}),
    };
    let mut proposal = Proposal {
        annotations: document,
        drafted: Vec::new(),
        unsure: Vec::new(),
    };
    let drafts: Vec<Value> = tools.iter().map(|tool| draft(tool, &mut proposal)).collect();
    if let Some(servers) = proposal
        .annotations
        .get_mut("servers")
        .and_then(Value::as_object_mut)
    {
        servers.insert(server.to_owned(), json!({"tools": drafts}));
    }
    Ok(proposal)
}

fn draft(tool: &ListedTool<'_>, proposal: &mut Proposal) -> Value {
    let mut args = Map::new();
    for name in tool.properties().map(|(name, _)| name) {
        let (roles, why) = match name {
            "path" => (vec!["read-path", "write-path"], "its name is `path`"),
            _ => (vec!["none"], "nothing says what it is"),
        };
        args.insert(name.to_owned(), json!(roles));
        proposal.unsure.push(DraftedArgument {
            tool: tool.name.to_owned(),
            argument: name.to_owned(),
            roles,
            why: why.to_owned(),
        });
    }
    json!({"toolName": tool.name, "args": args, "inputSchema": tool.schema})
}
