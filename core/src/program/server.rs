//! What is configured about each server, found by one look at its name.

use super::{ServerPath, Tool};
use crate::model::{ServerKind, Servers};
use crate::named::Named;
use crate::net::DomainSet;
use crate::table::TextTable;

/// What is configured about the calls of one server; nothing, for a server that no document names.
#[derive(Default)]
pub(crate) struct ServerSettings {
    /// The kind of the server, if it has structural rules.
    pub(crate) kind: Option<ServerKind>,
    /// Whether its calls are allowed without being judged.
    pub(crate) is_trusted: bool,
    /// Whether the sandbox decides about its calls.
    pub(crate) is_sandboxed: bool,
    /// What it calls the directories of the host, if it sees the disk under other names.
    pub(crate) paths: Option<Vec<ServerPath>>,
    /// The directory that it is started in, absolute and lexical.
    pub(crate) working_directory: Option<Box<str>>,
    /// The patterns of its domain allowlist, compiled and as written.
    pub(crate) allowlist: Option<(DomainSet, Vec<Box<str>>)>,
    /// Places in [`Program::tools`](super::Program), by name.
    pub(super) tools: TextTable<usize>,
}

/// The settings of every server that a document names, while they are put together.
#[derive(Default)]
pub(super) struct ServerTable(TextTable<ServerSettings>);

impl ServerTable {
    /// The settings of one server.
    pub(super) fn of(&mut self, server: &str) -> &mut ServerSettings {
        self.0.entry(server.into()).or_default()
    }

    /// The table with the tools and the kinds of all servers.
    pub(super) fn finish(mut self, servers: &Servers, tools: &[Tool]) -> TextTable<ServerSettings> {
        for (at, tool) in tools.iter().enumerate() {
            self.of(&tool.server).tools.insert(tool.name.clone(), at);
        }
        for name in servers.aliases.keys().chain(&servers.sandboxed) {
            self.of(name);
        }
        for name in ServerKind::names() {
            self.of(name);
        }
        for (name, settings) in &mut self.0 {
            settings.kind = servers.kind(name);
            settings.is_sandboxed = servers.is_sandboxed(name);
        }
        self.0
    }
}
