//! The programs of shells, compiled.

use std::collections::BTreeMap;

use callgate_programs::Table;

use super::tools::ToolCompiler;
use super::{Index, ServerSettings, Tool, UnknownArguments};
use crate::annotation::{self, Programs};
use crate::model::{ServerKind, Servers};
use crate::role::RoleSet;
use crate::seed::SHELL;
use crate::table::TextTable;

/// What judging needs to know of programs.
pub struct Shell {
    pub table: Table,
    /// One for all programs that the same rules can match.
    tools: Box<[Tool]>,
    /// The place of each program's tool among them.
    places: TextTable<usize>,
    settings: ServerSettings,
    /// The same for git, which has default remotes.
    of_git: ServerSettings,
}

impl Shell {
    /// The program's tool, if it is known.
    pub fn tool(&self, program: &str) -> Option<&Tool> {
        self.tools.get(*self.places.get(program)?)
    }

    /// How calls of the program are judged.
    pub fn settings(&self, program: &str) -> &ServerSettings {
        match program {
            "git" => &self.of_git,
            _ => &self.settings,
        }
    }

    pub(super) fn new(
        programs: Programs,
        index: &Index,
        resource_roles: RoleSet,
        named: &ServerSettings,
        servers: &Servers,
    ) -> Self {
        let settings = ServerSettings {
            // The sandbox holds for commands unless somebody says on which servers it does.
            is_sandboxed: named.is_sandboxed || !servers.are_listed,
            kind: None,
            ..named.clone()
        };
        let (tools, places) = compile(&programs, index, resource_roles);
        Self {
            table: programs.table,
            tools,
            places,
            of_git: ServerSettings {
                kind: Some(ServerKind::Git),
                ..settings.clone()
            },
            settings,
        }
    }
}

/// The tools, and the place of each program's among them.
fn compile(programs: &Programs, index: &Index, resource_roles: RoleSet) -> (Box<[Tool]>, TextTable<usize>) {
    let mut compiler = ToolCompiler {
        ceiling: None,
        index,
        unknown: (UnknownArguments::Ignore, &[]),
        resource_roles,
        with_defaults: Some(RoleSet::default()),
        conditioned: BTreeMap::new(),
    };
    let (mut tools, mut by_scopes) = (Vec::new(), BTreeMap::new());
    let places = programs.names().map(|name| {
        let place = by_scopes.entry(index.scopes_for(SHELL, name)).or_insert_with(|| {
            let mut tool = annotation::Tool {
                name: name.into(),
                ..programs.tool.clone()
            };
            tools.push(Tool {
                is_program: true,
                ..compiler.compile(&mut tool)
            });
            tools.len().saturating_sub(1)
        });
        (name.into(), *place)
    });
    let places = places.collect();
    (tools.into(), places)
}
