//! The copy that is kept of a configuration, and the check that it may be believed.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::arguments::Arguments;
use super::server::{Guarded, Plan, Server, Way, Wrapped};

/// The file that is kept beside a wrapped one.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    pub(super) format: String,
    /// The text before the guard came.
    pub(super) before: String,
    /// The text with it.
    pub(super) after: String,
}

pub(super) const FORMAT: &str = "callgate-wrap/1";

const NOT_WRAPPED: &str = "no guard of this file is before it";

impl Kept {
    /// Whoever can write the file could have anything put in the place of the configuration. So the text before has to be the
    /// text with the guard but for the guards that that text itself has, each with `--wrapped` and the name of this file.
    ///
    /// # Errors
    /// Where the text before, with these guards, differs from the one that it should lead to.
    pub(super) fn check(
        &self,
        file: &str,
        wrap: impl Fn(&str, &mut dyn FnMut(&Server<'_>) -> Plan) -> Result<Wrapped, String>,
    ) -> Result<(), String> {
        let mut commands = VecDeque::new();
        wrap(&self.after, &mut |server| {
            commands.push_back(match &server.way {
                Way::Program(command) => command.clone(),
                Way::Url(_) => Vec::new(),
            });
            Plan::Leave(NOT_WRAPPED.into())
        })?;
        // Both have the same servers in the same order, or else the texts differ in the end.
        let wrapped = wrap(&self.before, &mut |server| {
            let command = commands.pop_front().unwrap_or_default();
            let lead = Guarded::before(&server.way, Vec::new()).command;
            let guard = command.strip_suffix(&*lead);
            let guard = guard.filter(|guard| Arguments::is_guard(guard, server, file));
            match guard {
                Some(guard) => Plan::Guard(Guarded::before(&server.way, guard.to_vec())),
                None => Plan::Leave(NOT_WRAPPED.into()),
            }
        })?;
        match difference(&wrapped.text, &self.after) {
            None => Ok(()),
            Some((line, column)) => Err(format!(
                "with the guard it differs from that file at line {line}, column {column}"
            )),
        }
    }
}

/// The line and the column, from 1, at which two texts begin to differ.
fn difference(one: &str, other: &str) -> Option<(usize, usize)> {
    if one == other {
        return None;
    }
    let (mut line, mut column) = (1, 1);
    for (one, _) in one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
    {
        (line, column) = match one {
            '\n' => (line + 1, 1),
            _ => (line, column + 1),
        };
    }
    Some((line, column))
}
