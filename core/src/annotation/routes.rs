//! Artifact routes: a tool that may answer with a reference has a tool that reads it (SPEC §12, the lint).

use super::{Annotations, Tool};
use crate::diagnostic::{Code, Severity};
use crate::document::{Node, did_you_mean};
use crate::order;
use crate::semantics::ToolKind;

/// Reports each tool of kind `execute` that emits artifacts which nothing can read. A reader is a tool that the file
/// annotates: of the same server, of any server by its bare name, or `server/tool`.
///
/// `place` calls its second argument with the node of the tool at that place of the annotations.
pub(super) fn check(annotations: &Annotations, place: impl Fn(usize, &mut dyn FnMut(&Node<'_, '_>))) {
    let tools = || annotations.tools.iter();
    let names = order::set(tools().map(|tool| &*tool.name));
    let placed = order::set(tools().map(|tool| (&*tool.server, &*tool.name)));
    let exists = |reader: &str| {
        names.contains(reader)
            || reader
                .split_once('/')
                .is_some_and(|reader| placed.contains(&reader))
    };
    for (at, tool) in tools().enumerate() {
        let semantics = &tool.semantics;
        if semantics.kind != ToolKind::Execute || !semantics.emits_artifacts || semantics.inline_result {
            continue;
        }
        if semantics.result_readers.iter().any(|reader| exists(reader)) {
            continue;
        }
        place(at, &mut |node| report(tool, annotations, node));
    }
}

fn report(tool: &Tool, annotations: &Annotations, node: &Node<'_, '_>) {
    node.fault(Severity::Error, Code::MissingRoute, || {
        let readers = &tool.semantics.result_readers;
        let found = match readers.as_slice() {
            [] => "no `result_readers`".to_owned(),
            [one] => format!("the reader `{one}`, which is no annotated tool"),
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
