//! The programs of shells as annotated tools of the server `shell` (SPEC §8.9).

use callgate_programs::{Step, Table, TableFault};

use super::{Tool, read};
use crate::diagnostic::{Code, Severity};
use crate::document::{Json, Node, Report, did_you_mean, listed};
use crate::limits::Limits;
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

/// The programs that are known, and the tool that each of them is.
#[derive(Clone, Debug)]
pub struct Programs {
    pub(crate) table: Table,
    /// They differ in their names alone.
    pub(crate) tool: Tool,
}

impl Programs {
    /// Those of the table, if one of the tools may take a command of a shell.
    pub fn of(tools: &[Tool], table: Option<Table>, registry: &Registry) -> Option<Self> {
        if !tools.iter().any(|tool| has_commands(&tool.arguments)) {
            return None;
        }
        let table = table.unwrap_or_else(Table::builtin);
        let (report, text) = (
            Report::default(),
            serde_json::from_str::<serde_json::Value>(ANNOTATION).ok()?,
        );
        let json = Json::from(&text);
        let mut read = read(&Node::document(&json, SHELL, &report), registry, "");
        let tool = read.tools.pop()?;
        Some(Self { table, tool })
    }

    /// The names by which rules know them.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.table.names().chain([PROGRAM_FILE])
    }
}

/// The tools that rules may be about.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    pub annotated: &'a [Tool],
    pub programs: Option<&'a Programs>,
}

impl<'a> Tools<'a> {
    /// Each with its server and its name.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str, &'a Tool)> + Clone {
        let annotated = self.annotated.iter();
        let of_shell = |programs: &'a Programs| programs.names().map(|name| (SHELL, name, &programs.tool));
        annotated
            .map(|tool| (&*tool.server, &*tool.name, tool))
            .chain(self.programs.into_iter().flat_map(of_shell))
    }
}

/// Reads the programs that people have written, beside those that come with the engine.
pub fn read_programs(document: &Node<'_, '_>, limits: &Limits) -> Table {
    let mut table = Table::builtin();
    let known = table.names().count();
    for error in table.add(&document.value().clone().into()) {
        report(document, &error.place, &error.fault);
    }
    let count = table.names().count().saturating_sub(known);
    document.check_limit(count, "programs", "programs", limits.programs);
    table
}

/// Reports a fault of the value that these steps lead to.
fn report(node: &Node<'_, '_>, place: &[Step], fault: &TableFault) {
    match place.split_first() {
        Some((Step::Key(key), rest)) => {
            let object = node.object();
            if let Some(node) = object.as_ref().and_then(|object| object.optional(key)) {
                report(&node, rest, fault);
            }
        }
        Some((Step::Item(at), rest)) => {
            if let Some(node) = node.array("an array").and_then(|mut items| items.nth(*at)) {
                report(&node, rest, fault);
            }
        }
        None => match fault {
            TableFault::UnknownKey(known) => {
                node.object_of(known, Severity::Error);
            }
            TableFault::Missing(key) => {
                node.error(Code::MissingField, format_args!("the field `{key}` is missing"));
            }
            TableFault::WrongType(expected) => {
                node.refuse(Code::WrongType, &format!("expected {expected}"));
            }
            TableFault::UnknownWord(word, known) => node.fault(Severity::Error, Code::UnknownValue, || {
                let names = || known.iter().copied();
                let message = format!("found `{word}`, expected one of {}", listed(names()));
                (message, did_you_mean(word, names()))
            }),
            TableFault::Invalid(why) => node.refuse(Code::InvalidValue, why),
        },
    }
}

/// Returns `true` if one of the arguments may be a command of a shell.
pub fn has_commands(arguments: &[Argument]) -> bool {
    let mut roles = arguments.iter().flat_map(|argument| argument.roles.possible());
    roles.any(|role| role == RoleId::SHELL_COMMAND)
}
