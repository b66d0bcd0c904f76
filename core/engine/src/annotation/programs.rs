//! The programs of shells as annotated tools of the server `shell` (SPEC §8.9).

use callgate_programs::Table;

use super::{Annotations, Tool, read};
use crate::document::{Json, Node, Report};
use crate::model::Argument;
use crate::role::{Registry, RoleId};
use crate::seed::{PROGRAM_FILE, SHELL};

/// How every program is judged: its arguments are the roles of its operands. What it changes of a tree has an argument of its own.
const ANNOTATION: &str = r#"{"servers": {"shell": {"tools": [{"toolName": "program", "unjudged": "allow", "args": {
    "command": {"roles": "none", "absent": "nothing"},
    "execute": {"roles": "execute", "absent": "nothing"},
    "read-path": {"roles": "read-path", "absent": "nothing"},
    "write-path": {"roles": "write-path", "absent": "nothing", "reach": "entry"},
    "write-tree": {"roles": "write-path", "absent": "nothing", "reach": "tree"},
    "delete-path": {"roles": "delete-path", "absent": "nothing", "reach": "entry"},
    "delete-tree": {"roles": "delete-path", "absent": "nothing", "reach": "tree"},
    "write-history": {"roles": "write-history", "absent": "nothing"},
    "delete-history": {"roles": "delete-history", "absent": "nothing"},
    "fetch-url": {"roles": "fetch-url", "absent": "nothing", "scheme": "http"},
    "git-remote-url": {"roles": "git-remote-url", "absent": "nothing"},
    "branch-name": {"roles": "branch-name", "absent": "nothing"},
    "commit-message": {"roles": "commit-message", "absent": "nothing"}}}]}}}"#;

/// The programs that are known, each with its annotation.
#[derive(Clone, Debug)]
pub struct Programs {
    pub(crate) table: Table,
    pub(crate) annotations: Annotations,
}

impl Programs {
    /// Those of the table, if one of the tools may take a command of a shell.
    pub fn of(tools: &[Tool], registry: &Registry) -> Option<Self> {
        if !tools.iter().any(|tool| has_commands(&tool.arguments)) {
            return None;
        }
        let table = Table::builtin();
        let (report, text) = (
            Report::default(),
            serde_json::from_str::<serde_json::Value>(ANNOTATION).ok()?,
        );
        let json = Json::from(&text);
        let program = read(&Node::document(&json, SHELL, &report), registry, "")
            .tools
            .pop()?;
        let names = table.names().chain([PROGRAM_FILE]);
        let tools = names.map(|name| Tool {
            name: name.into(),
            ..program.clone()
        });
        let tools = tools.collect();
        Some(Self {
            table,
            annotations: Annotations { tools },
        })
    }
}

/// Returns `true` if one of the arguments may be a command of a shell.
pub fn has_commands(arguments: &[Argument]) -> bool {
    let mut roles = arguments.iter().flat_map(|argument| argument.roles.possible());
    roles.any(|role| role == RoleId::SHELL_COMMAND)
}
