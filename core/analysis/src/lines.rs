//! The answers of `map` and `diff` as lines of JSON, the same from every face.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Analysis, Comparison, Row, Target, names_tool};

/// The parts of the map to look at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct MapQuestion {
    /// Names of tools, `server/tool` or `server/*`; all if there are none.
    pub tools: Vec<String>,
    /// The decision to be reached.
    pub to: Option<String>,
    /// Verdicts; all if there are none.
    pub only: Vec<String>,
    /// `true` if regions are told one by one.
    pub apart: bool,
}

/// Who gets lines: `true` if more are wanted.
pub type Told<'t> = &'t mut dyn FnMut(&str) -> bool;

/// Tells a value as a line. One that cannot be written is the last.
pub fn tell(answer: &impl Serialize, told: Told<'_>) -> bool {
    serde_json::to_string(answer).is_ok_and(|line| told(&line))
}

/// Tells the calls that a policy allows, a tool a line: rows, or regions where they are asked for apart.
///
/// # Errors
/// A message when no tool has one of the names.
pub fn tell_map(analysis: Analysis<'_>, asked: &MapQuestion, told: Told<'_>) -> Result<(), String> {
    let analysis = match &asked.to {
        Some(target) => analysis.reaching(Target::parse(target)),
        None => analysis,
    };
    let mut is_named = asked.tools.is_empty();
    for (server, tool) in analysis.tools() {
        let mut patterns = asked.tools.iter();
        if !(asked.tools.is_empty() || patterns.any(|pattern| names_tool(pattern, server, tool))) {
            continue;
        }
        is_named = true;
        let Some(regions) = analysis.tool(server, tool) else {
            continue;
        };
        if asked.apart {
            if !tell(&regions, told) {
                return Ok(());
            }
            continue;
        }
        let mut rows = regions.rows();
        rows.retain(|row: &Row| asked.only.is_empty() || asked.only.iter().any(|one| one == row.decision));
        let shown: Vec<&Row> = rows.iter().collect();
        if !rows.is_empty() && !tell(&regions.map(&shown), told) {
            return Ok(());
        }
    }
    match is_named {
        true => Ok(()),
        false => Err(format!(
            "no annotated tool is called `{}`",
            asked.tools.join("`, `")
        )),
    }
}

/// Tells how verdicts differ, a tool that changes a line, and then a line that counts.
pub fn tell_changes(comparison: &Comparison<'_>, told: Told<'_>) {
    let [mut looser, mut stricter, mut other_rule, mut unknown] = [0; 4];
    for (server, tool) in comparison.tools() {
        let changes = comparison.tool(server, tool);
        let Some(changes) = changes.filter(|changes| !changes.is_empty()) else {
            continue;
        };
        looser += changes.looser.len();
        stricter += changes.stricter.len();
        other_rule += changes.other_rule.len();
        unknown += changes.unknown.len();
        if !tell(&changes, told) {
            return;
        }
    }
    let counts = json!({
        "equal": looser + stricter + other_rule + unknown == 0, "looser": looser, "stricter": stricter,
        "otherRule": other_rule, "unknown": unknown,
    });
    tell(&counts, told);
}
