//! Artifact routes: every tool that may return a reference needs a tool that reads it (SPEC §12, the lint).

use crate::annotation::{Annotations, Tool, is_harn};
use crate::diagnostic::{Code, Severity};
use crate::document::{Json, Node, did_you_mean};
use crate::model::ToolKind;
use crate::sort;

/// Reports each tool of the kind `execute` whose artifacts no tool can read. A reader is an annotated tool,
/// named as `tool` on any server or as `server/tool`.
pub fn check(annotations: &Annotations, document: &Node<'_, '_>) {
    let in_question = |tool: &&Tool| {
        let semantics = &tool.semantics;
        semantics.kind == ToolKind::Execute && semantics.emits_artifacts && !semantics.inline_result
    };
    let tools = || annotations.tools.iter();
    if !tools().any(|tool| in_question(&tool)) {
        return;
    }
    let names = sort::set(tools().map(|tool| &*tool.name));
    let placed = sort::set(tools().map(|tool| (&*tool.server, &*tool.name)));
    let exists = |reader: &str| {
        names.contains(reader)
            || reader
                .split_once('/')
                .is_some_and(|reader| placed.contains(&reader))
    };
    for tool in tools().filter(in_question) {
        let readers = &tool.semantics.result_readers;
        if !readers.iter().any(|reader| exists(reader)) {
            with_node(tool, document, |node| report(tool, annotations, node));
        }
    }
}

/// Calls `then` with the tool's node in the document.
fn with_node(tool: &Tool, document: &Node<'_, '_>, then: impl FnOnce(&Node<'_, '_>)) -> Option<()> {
    let file = document.object()?;
    if is_harn(document.value()) {
        then(&file.optional(&tool.name)?);
        return Some(());
    }
    let servers = file.optional("servers")?.object()?;
    let server = servers.optional(&tool.server)?.object()?;
    let list = server.optional("tools")?;
    let is_wanted =
        |item: &Node<'_, '_>| item.value().get("toolName").and_then(Json::as_str) == Some(&tool.name);
    then(&list.array("an array of tools")?.find(is_wanted)?);
    Some(())
}

fn report(tool: &Tool, annotations: &Annotations, node: &Node<'_, '_>) {
    node.fault(Severity::Error, Code::MissingRoute, || {
        let readers = &tool.semantics.result_readers;
        let found = match readers.as_slice() {
            [] => "no `result_readers`".to_owned(),
            [one] => format!("the reader `{one}`, which is not an annotated tool"),
            [first, ..] => format!("{} readers such as `{first}`, none of them an annotated tool", readers.len()),
        };
        let message = format!(
            "found {found}: `{}` runs processes and emits artifacts, expected a tool in `result_readers` that \
             reads them, or `inline_result`",
            tool.name
        );
        let known = || annotations.tools.iter().map(|other| &*other.name);
        let help = readers.first().and_then(|reader| did_you_mean(reader, known()));
        (message, help)
    });
}
