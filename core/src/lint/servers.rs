//! Servers that the options name.

use crate::annotation::Annotations;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{JsonPath, Report, did_you_mean};
use crate::model::{ServerKind, Servers};
use crate::named::Named;
use crate::seed::RESERVED_SERVERS;

/// Warns about each server of the options that no annotation has, so that the option says nothing.
pub(crate) fn servers<'s>(
    servers: &Servers,
    working_directories: impl Iterator<Item = &'s str>,
    document: &str,
    annotations: &Annotations,
) -> Vec<Diagnostic> {
    let report = Report::default();
    let known: Vec<&str> = annotations.tools.iter().map(|tool| &*tool.server).collect();
    let check = |server: &str, place: &JsonPath<'_>| {
        let is_built_in = ServerKind::find(server).is_some() || RESERVED_SERVERS.contains(&server);
        if !is_built_in && !known.contains(&server) {
            report.add(Severity::Warning, Code::UnknownName, place, || {
                let message = format!(
                    "found the server `{server}`, which no annotation has, expected an annotated server"
                );
                (message, did_you_mean(server, known.iter().copied()))
            });
        }
    };
    let root = JsonPath::Document(document);
    let aliases = JsonPath::Key(&root, "serverAliases");
    for server in servers.aliases.keys() {
        check(server, &JsonPath::Key(&aliases, server));
    }
    let sandboxed = JsonPath::Key(&root, "sandboxServers");
    for (index, server) in servers.sandboxed.iter().enumerate() {
        check(server, &JsonPath::Index(&sandboxed, index));
    }
    let directories = JsonPath::Key(&root, "workingDirectory");
    for server in working_directories {
        check(server, &JsonPath::Key(&directories, server));
    }
    report.finish(document)
}
