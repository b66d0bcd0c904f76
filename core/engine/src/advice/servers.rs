//! Servers that documents name beside the policy, and servers that the sandbox passes over.

use crate::annotation::{Annotations, Tool, has_commands};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{JsonPath, Report, did_you_mean};
use crate::model::ServerKind;
use crate::named::Named;
use crate::role::{RoleId, RoleSet};
use crate::seed::{RESERVED_SERVERS, SHELL};
use crate::table::Set;

use super::Sandboxed;

/// The servers that documents name, where each is the key of a setting.
pub struct NamedServers<'s> {
    /// The servers that the sandbox decides about: `sandboxServers` and `serverAliases`.
    pub sandbox: &'s Sandboxed<'s>,
    /// The keys of `workingDirectory`.
    pub working_directories: Vec<&'s str>,
    /// The keys of `serverPaths`.
    pub server_paths: Vec<&'s str>,
    /// The keys of the document `domainAllowlists`.
    pub domain_allowlists: Vec<&'s str>,
    /// The document `trustedServers`.
    pub trusted: Vec<&'s str>,
}

/// Warns about each server that no annotation has, so that the setting says nothing. A trusted server needs no annotation:
/// only one whose name is near to that of an annotated server is warned of.
pub fn servers(named: &NamedServers<'_>, annotations: &Annotations) -> Vec<Diagnostic> {
    let known: Vec<&str> = annotations.tools.iter().map(|tool| &*tool.server).collect();
    let seen: Set<&str> = known.iter().copied().collect();
    // Programs are its tools, wherever a command is.
    let has_shell = annotations.tools.iter().any(|tool| has_commands(&tool.arguments));
    let is_known = |server: &str| {
        ServerKind::find(server).is_some()
            || RESERVED_SERVERS.contains(&server)
            || (server == SHELL && has_shell)
            || seen.contains(server)
    };
    let options = JsonPath::Document("options");
    let mut found = Vec::new();
    let keyed = [
        (
            "serverAliases",
            named.sandbox.servers.aliases.keys().map(|name| &**name).collect(),
        ),
        ("workingDirectory", named.working_directories.clone()),
        ("serverPaths", named.server_paths.clone()),
    ];
    let report = Report::default();
    let warn = |report: &Report, server: &str, place: &JsonPath<'_>| {
        report.add(Severity::Warning, Code::UnknownName, place, || {
            let message =
                format!("found the server `{server}`, which no annotation has, expected an annotated server");
            (message, did_you_mean(server, known.iter().copied()))
        });
    };
    for (key, servers) in keyed {
        let place = JsonPath::Key(&options, key);
        for server in servers.into_iter().filter(|server| !is_known(server)) {
            warn(&report, server, &JsonPath::Key(&place, server));
        }
    }
    let place = JsonPath::Key(&options, "sandboxServers");
    for (index, server) in named.sandbox.servers.sandboxed.iter().enumerate() {
        if !is_known(server) {
            warn(&report, server, &JsonPath::Index(&place, index));
        }
    }
    found.extend(report.finish("options"));
    let (report, allowlists) = (Report::default(), JsonPath::Document("domainAllowlists"));
    for server in &named.domain_allowlists {
        if !is_known(server) {
            warn(&report, server, &JsonPath::Key(&allowlists, server));
        }
    }
    found.extend(report.finish("domainAllowlists"));
    let (report, trusted) = (Report::default(), JsonPath::Document("trustedServers"));
    for (index, server) in named.trusted.iter().enumerate() {
        if !is_known(server) && did_you_mean(server, known.iter().copied()).is_some() {
            warn(&report, server, &JsonPath::Index(&trusted, index));
        }
    }
    found.extend(report.finish("trustedServers"));
    found
}

/// Warns about each server with paths that the sandbox says nothing about, since it is not of a kind that has one.
pub fn unsandboxed(
    sandbox: &Sandboxed<'_>,
    trusted: &[Box<str>],
    annotations: &Annotations,
) -> Vec<Diagnostic> {
    // Who lists the servers with a sandbox has thought of the others.
    if sandbox.directories.is_empty() || sandbox.servers.are_listed {
        return Vec::new();
    }
    let report = Report::default();
    let mut seen = Set::default();
    let bears_paths = |tool: &Tool| {
        let arguments = tool.arguments.iter();
        let roles: RoleSet = arguments.flat_map(|argument| argument.roles.possible()).collect();
        roles.intersects(sandbox.roles)
    };
    for tool in &annotations.tools {
        let is_passed_over = !sandbox.servers.is_sandboxed(&tool.server)
            && !trusted.contains(&tool.server)
            && bears_paths(tool)
            && seen.insert(&*tool.server);
        if is_passed_over {
            report.add(Severity::Warning, Code::Overridden, &JsonPath::Document("sandbox"), || {
                let server = &tool.server;
                let message = format!(
                    "the sandbox does not hold for the server `{server}`, whose tools take paths, expected a server called \
                     `filesystem` or `git`, or one that the options name"
                );
                let own = annotations.tools.iter().filter(|tool| tool.server == *server);
                let help = match kind_of(own) {
                    Some(kind) => {
                        let (kind, does) = match kind {
                            ServerKind::Git => ("git", "works on repositories"),
                            ServerKind::Filesystem => ("filesystem", "serves files"),
                        };
                        format!(
                            "the option `serverAliases: {{\"{server}\": \"{kind}\"}}` says that it {does}; the option \
                             `sandboxServers` lists the servers with a sandbox, with or without this one"
                        )
                    }
                    None => "its tools do more than serve files, so rules decide about its calls best; the option `sandboxServers` \
                             without it says that this is meant, and with it allows calls whose paths are in the sandbox"
                        .to_owned(),
                };
                (message, Some(help))
            });
        }
    }
    report.finish("sandbox")
}

/// The kind of a server by its tools: one that writes histories, or one of which most tools take paths of files. `None` where a sandbox
/// would decide about much else.
fn kind_of<'t>(tools: impl Iterator<Item = &'t Tool>) -> Option<ServerKind> {
    let (mut count, mut of_files) = (0, 0);
    for tool in tools {
        let arguments = tool.arguments.iter();
        let roles: RoleSet = arguments.flat_map(|argument| argument.roles.possible()).collect();
        if [RoleId::WRITE_HISTORY, RoleId::DELETE_HISTORY]
            .iter()
            .any(|role| roles.contains(*role))
        {
            return Some(ServerKind::Git);
        }
        let paths = [RoleId::READ_PATH, RoleId::WRITE_PATH, RoleId::DELETE_PATH];
        count += 1;
        of_files += usize::from(paths.iter().any(|role| roles.contains(*role)));
    }
    (2 * of_files > count).then_some(ServerKind::Filesystem)
}
