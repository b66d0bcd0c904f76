//! The configuration of each server, found by one look at its name.

use indexmap::Equivalent;

use super::{ServerPath, Tool};
use crate::model::{ServerKind, Servers};
use crate::named::Named;
use crate::net::DomainSet;
use crate::seed::INTROSPECTION_TOOL;
use crate::table::{Table, TextTable};

/// The configuration of the calls of one server; empty for a server that no document names.
#[derive(Clone, Default)]
pub struct ServerSettings {
    /// The kind of the server, if it has structural rules.
    pub kind: Option<ServerKind>,
    /// `true` if its calls are allowed without being judged.
    pub is_trusted: bool,
    /// `true` if the sandbox decides about its calls.
    pub is_sandboxed: bool,
    /// The server's own names for directories of the host, if it sees the disk under other names.
    pub paths: Option<Vec<ServerPath>>,
    /// The directory that it is started in, absolute and lexical.
    pub working_directory: Option<Box<str>>,
    /// The patterns of its domain allowlist, compiled and as written.
    pub allowlist: Option<(DomainSet, Vec<Box<str>>)>,
}

impl ServerSettings {
    /// Returns `true` if calls of this tool without arguments are allowed whatever the rules say.
    pub fn is_introspection(&self, tool: &str) -> bool {
        self.kind == Some(ServerKind::Filesystem) && tool == INTROSPECTION_TOOL
    }
}

/// The name of a tool and its server.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ToolKey {
    pub(super) server: Box<str>,
    pub(super) tool: Box<str>,
}

/// The same in a call.
#[derive(Hash)]
pub(super) struct ToolName<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
}

impl Equivalent<ToolKey> for ToolName<'_> {
    fn equivalent(&self, key: &ToolKey) -> bool {
        *self.tool == *key.tool && *self.server == *key.server
    }
}

/// The settings of every server that a document names, while they are put together.
#[derive(Default)]
pub(super) struct ServerTable(TextTable<ServerSettings>);

impl ServerTable {
    /// The settings of one server.
    pub(super) fn of(&mut self, server: &str) -> &mut ServerSettings {
        self.0.entry(server.into()).or_default()
    }

    /// The table with the kinds of all servers; each tool is told where its server stands there.
    pub(super) fn finish(mut self, servers: &Servers, tools: &mut [Tool]) -> TextTable<ServerSettings> {
        for of_server in tools.chunk_by_mut(|one, other| one.server == other.server) {
            let Some(first) = of_server.first() else { continue };
            let entry = self.0.entry(first.server.clone());
            let settings = entry.index();
            entry.or_default();
            for tool in of_server {
                tool.settings = settings;
            }
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

/// Where each tool is.
pub(super) fn places(tools: &[Tool]) -> Table<ToolKey, usize> {
    let key = |tool: &Tool| ToolKey {
        server: tool.server.clone(),
        tool: tool.name.clone(),
    };
    let keys = tools.iter().map(key);
    keys.zip(0..).collect()
}
