//! The programs of shells, compiled.

use callgate_programs::Table;

use super::{ServerSettings, Tool};
use crate::model::{ServerKind, Servers};

/// What judging needs to know of programs.
pub struct Shell {
    pub table: Table,
    /// Sorted by name.
    tools: Box<[Tool]>,
    settings: ServerSettings,
    /// The same for git, which has default remotes.
    of_git: ServerSettings,
}

impl Shell {
    /// The program's tool, if it is known.
    pub fn tool(&self, program: &str) -> Option<&Tool> {
        let at = self
            .tools
            .binary_search_by(|tool| (*tool.name).cmp(program))
            .ok()?;
        self.tools.get(at)
    }

    /// How calls of the program are judged.
    pub fn settings(&self, program: &str) -> &ServerSettings {
        match program {
            "git" => &self.of_git,
            _ => &self.settings,
        }
    }

    pub(super) fn new(table: Table, tools: Box<[Tool]>, named: &ServerSettings, servers: &Servers) -> Self {
        let settings = ServerSettings {
            // The sandbox holds for commands unless somebody says on which servers it does.
            is_sandboxed: named.is_sandboxed || !servers.are_listed,
            kind: None,
            ..named.clone()
        };
        Self {
            table,
            tools,
            of_git: ServerSettings {
                kind: Some(ServerKind::Git),
                ..settings.clone()
            },
            settings,
        }
    }
}
