//! Scenarios: calls, each with what is expected of it.
//!
//! A file of them is JSON Lines, a scenario a line, or one document: an array of scenarios, or an object that has them under
//! `scenarios`. Like every document it may have comments.

mod file;
mod read;

use callgate_engine::diagnostic::{Diagnostic, Position};
use callgate_engine::named::named;

named! {
    /// The expected outcome of a call.
    pub enum Expectation {
        /// It is allowed.
        Allow = "allow",
        /// It escalates.
        Escalate = "escalate",
        /// It is denied.
        Deny = "deny",
        /// It escalates or is denied.
        NotAllow = "not-allow",
    }
}

impl Expectation {
    /// Returns `true` if a decision, `allow`, `escalate` or `deny`, is the expected one.
    pub fn is_met_by(self, decision: &str) -> bool {
        match self {
            Self::NotAllow => decision != Self::Allow.as_str(),
            Self::Allow | Self::Escalate | Self::Deny => decision == self.as_str(),
        }
    }
}

/// A call, and what is expected of it: a decision, a rule, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The scenario's name.
    pub name: Option<String>,
    /// The call. Whether the text is one is up to its reader.
    pub call: ScenarioPart,
    /// The context of the call.
    pub context: Option<ScenarioPart>,
    /// Where it is judged; `None` for wherever such scenarios are.
    pub place: Option<ScenarioPlace>,
    /// The decision.
    pub expect: Option<Expectation>,
    /// The rule that decides.
    pub rule: Option<String>,
}

/// Where a scenario is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioPlace {
    /// In a world: a machine with files, links and repositories that is not this one.
    World(ScenarioPart),
    /// With the answers that a host gave once.
    Recording(ScenarioPart),
}

/// Part of a scenario, and where it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioPart {
    /// JSON text.
    pub text: String,
    /// Its place as diagnostics have it.
    pub path: String,
    /// Its line and column.
    pub position: Position,
}

impl ScenarioPart {
    /// The position in the file of what stands in the part's text on this line, at this byte of it, both counted from 1.
    pub fn position_of(&self, line: usize, byte: usize) -> Position {
        let text = self
            .text
            .split('\n')
            .nth(line.saturating_sub(1))
            .unwrap_or_default();
        let before = text.get(..byte.saturating_sub(1)).unwrap_or(text);
        let column = before.chars().count() + 1;
        outer(
            self.position,
            Position {
                line: line.max(1),
                column,
            },
        )
    }
}

/// The position in a file of what has the position `inner` in a part that begins at `start`.
fn outer(start: Position, inner: Position) -> Position {
    Position {
        line: start.line + inner.line - 1,
        column: match inner.line {
            1 => start.column + inner.column - 1,
            _ => inner.column,
        },
    }
}

/// Reads the text of a file of scenarios.
///
/// # Errors
/// Everything that is wrong with it. What cannot be read is never left out, and a file without any scenario is an error.
pub fn read_scenarios(text: &str) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    file::read(text)
}

#[cfg(test)]
mod tests;
