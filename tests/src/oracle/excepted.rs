//! Differences that a change of the specification explains, told apart by rule.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::subject::Outcome;

/// One sentence of the specification that changed, and how its differences look.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// The sentence.
    pub why: String,
    /// Members of the verdict that the other build gave.
    #[serde(default)]
    before: Map<String, Value>,
    /// Members of the verdict that this build gives.
    #[serde(default)]
    after: Map<String, Value>,
    /// A text of the engine's documents, such as a key that the other build did not know.
    documents: Option<String>,
    /// The other build refused documents or calls with that text.
    #[serde(default)]
    refused: bool,
}

/// The exceptions of a file: a JSON array of `{why, before, after, documents, refused}`, each but `why` optional.
///
/// # Errors
/// The file cannot be read, or is something else.
pub fn read(file: &Path) -> Result<Vec<Exception>, String> {
    let place = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| place(&error))?;
    serde_json::from_str(&text).map_err(|error| place(&error))
}

impl Exception {
    /// Returns `true` if the difference is one of these.
    pub(super) fn covers(&self, documents: &str, before: &Outcome, after: &Outcome) -> bool {
        let has = |answer: &Value, members: &Map<String, Value>| {
            let verdict = answer.get("verdict").unwrap_or(answer);
            members
                .iter()
                .all(|(name, value)| verdict.get(name) == Some(value))
        };
        let knows = self
            .documents
            .as_ref()
            .is_none_or(|text| documents.contains(text));
        knows
            && match (before, after) {
                (Outcome::Answer(before), Outcome::Answer(after)) => {
                    has(before, &self.before) && has(after, &self.after)
                }
                (Outcome::Refused(_), Outcome::Answer(_)) => self.refused,
                _ => false,
            }
    }
}
