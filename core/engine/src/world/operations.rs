//! The commands that a place allows to a tool.

use super::condition::{Condition, Subject};
use super::context::Context;
use super::place::{Action, Located};
use super::reply::{Area, Outcome, Reply};
use super::{World, find};
use crate::model::ReplyCode;
use crate::path::Resolver;

/// Commands and their conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRule {
    pub(crate) commands: Commands,
    pub conditions: Box<[Condition]>,
}

/// The commands that a rule covers.
#[derive(Clone, Debug, PartialEq)]
pub enum Commands {
    /// Every command of the exec tool, which is shell text.
    Exec,
    /// These pairs, sorted.
    Pairs(Box<[Pair]>),
}

/// A tool and one of its commands.
pub(crate) type Pair = (Box<str>, Box<str>);

impl Commands {
    /// Returns `true` if it covers the tool's command.
    pub fn include(&self, tool: &str, command: Option<&str>, exec_tool: &str) -> bool {
        match self {
            Self::Exec => tool == exec_tool,
            Self::Pairs(pairs) => command.is_some_and(|command| {
                let order = |pair: &Pair| (&*pair.0, &*pair.1).cmp(&(tool, command));
                pairs.binary_search_by(order).is_ok()
            }),
        }
    }
}

impl World {
    /// Judges the action at a place in a mode.
    pub fn judge(
        &self,
        action: &Action<'_>,
        mode: Option<&str>,
        place: (&str, Option<&str>),
        located: Option<&Located>,
        context: &Context,
        resolver: &mut Resolver<'_, '_>,
    ) -> Result<Reply, Box<Reply>> {
        let mode = mode.ok_or_else(|| Reply::bare(ReplyCode::NoMode))?;
        let (root, subdirectory) = place;
        let area = self.area(action);
        let is_known = find(&self.roots, root).is_some();
        let reply = |outcome, unmet| match ReplyCode::of(area, outcome) {
            code if is_known => Reply::judgement(code, mode, root, subdirectory, unmet),
            code => Reply::bare(code),
        };
        let rows = self.operations.at(mode, root, subdirectory, resolver.path_case);
        let rule = rows.flatten().find(|rule| {
            rule.commands
                .include(action.tool, action.command, &self.exec_tool)
        });
        let Some(rule) = rule else {
            return Err(reply(Outcome::NoRule, Vec::new()).into());
        };
        let subject = Subject {
            context,
            mode,
            root,
            subdirectory,
            located,
            action: Some(action),
        };
        let unmet = self.unmet(&rule.conditions, &subject, resolver);
        if unmet.is_empty() {
            return Ok(reply(Outcome::Allowed, unmet));
        }
        Err(reply(Outcome::Unmet, unmet).into())
    }

    /// Returns `true` if the command is declared to remove things.
    pub fn removes(&self, action: &Action<'_>) -> bool {
        self.area(action) == Area::Delete
    }

    /// Returns `true` if the command is declared to change nothing.
    pub fn reads(&self, action: &Action<'_>) -> bool {
        self.area(action) == Area::Read
    }

    fn area(&self, action: &Action<'_>) -> Area {
        if action.tool == &*self.exec_tool {
            return Area::Exec;
        }
        let wanted = (action.tool, action.command.unwrap_or_default());
        let order = |(pair, _): &(Pair, Area)| (&*pair.0, &*pair.1).cmp(&wanted);
        let known = self.areas.binary_search_by(order).ok();
        // Commands that are not declared as reads count as writes.
        let area = known.and_then(|at| self.areas.get(at));
        area.map_or(Area::Write, |(_, area)| *area)
    }
}
