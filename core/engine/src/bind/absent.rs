//! Arguments that a call does not give, of which the annotation or the schema says what that means (SPEC §5).

use std::borrow::Cow;
use std::fmt::Display;

use super::value::Value;
use crate::model::{Absent, Argument, ArgumentName, Segment, item_index};
use crate::program::Tool;

/// How a call gives one of the tool's arguments.
#[derive(Clone, Copy, Default)]
pub(super) struct Presence {
    /// Something stands there, whatever it is.
    is_given: bool,
    /// Something else stands where it could be: the object that it is a member of, or the call.
    is_missing: bool,
}

impl Presence {
    /// Returns `true` if the argument has no part in the call.
    pub(super) fn has_no_part(self, argument: &Argument) -> bool {
        !self.is_given && argument.absent == Some(Absent::Nothing)
    }

    /// The value that the server takes in place of one that is not given.
    pub(super) fn value(self, argument: &Argument) -> Option<&str> {
        match &argument.absent {
            Some(Absent::Value(value)) if self.is_missing => Some(value),
            _ => None,
        }
    }

    /// Returns `true` if nothing of the argument is given, and nobody says what that means.
    pub(super) fn is_open(self, argument: &Argument) -> bool {
        !self.is_given && argument.absent.is_none()
    }

    /// Finds what a pointer leads to below a value.
    fn look(&mut self, value: &Value<'_>, way: &[Segment]) {
        let Some((first, rest)) = way.split_first() else {
            self.is_given = true;
            return;
        };
        match (first, value) {
            (Segment::Every, Value::Array(items)) => items.iter().for_each(|item| self.look(item, rest)),
            (Segment::Every, Value::Object(members)) => {
                members.iter().for_each(|(_, member)| self.look(member, rest));
            }
            (Segment::Key(key), Value::Object(members)) => {
                match members.iter().find(|(name, _)| **name == **key) {
                    Some((_, member)) => self.look(member, rest),
                    None => self.is_missing |= is_one(rest),
                }
            }
            (Segment::Key(key), Value::Array(items)) => {
                match item_index(key).map(|at| items.get(at)) {
                    Some(Some(item)) => self.look(item, rest),
                    Some(None) => self.is_missing |= is_one(rest),
                    // It is not what the pointer expects.
                    None => self.is_given = true,
                }
            }
            _ => self.is_given = true,
        }
    }
}

/// Returns `true` if the way leads to one value: a list that is not there has no items.
fn is_one(way: &[Segment]) -> bool {
    !way.contains(&Segment::Every)
}

/// How the call gives each of the tool's arguments, in their order. What the schema requires counts as given, since the call
/// is refused without it.
pub(super) fn presences(tool: &Tool, members: &[(Cow<'_, str>, Value<'_>)], depth: usize) -> Vec<Presence> {
    let without = |argument: &Argument| Presence {
        is_given: argument
            .name
            .first()
            .is_some_and(|first| tool.member(first).required.is_some()),
        is_missing: argument.name.first().is_some() && is_one(argument.name.rest()),
    };
    let mut found: Vec<Presence> = tool.arguments.iter().map(without).collect();
    for (name, value) in members {
        let member = tool.member(name);
        if member.arguments.is_empty() || value.is_surely_absent(&member.schema) {
            continue;
        }
        let is_whole = |at: &usize| {
            let argument = tool.arguments.get(*at);
            argument.is_some_and(|argument| matches!(argument.name, ArgumentName::Top(_)))
        };
        let read = match member.arguments.iter().all(is_whole) {
            true => None,
            false => Some(value.read(depth)),
        };
        for at in &member.arguments {
            let Some((argument, presence)) = tool.arguments.get(*at).zip(found.get_mut(*at)) else {
                continue;
            };
            if argument.name.first().is_some() {
                presence.is_missing = false;
            }
            match (argument.name.rest(), &read) {
                (rest, Some(Ok(value))) => presence.look(value, rest),
                (_, Some(Err(_)) | None) => presence.is_given = true,
            }
        }
    }
    found
}

/// Ends a reason with what nobody says of an argument that is not given.
pub fn unsaid(argument: impl Display) -> String {
    format!(": `{argument}` is absent, and no annotation says what that means")
}
