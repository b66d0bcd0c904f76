//! What scenarios reach of what can be decided: the rules, and the verdicts of each tool's regions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::rows::{Column, Row};
use super::{Analysis, Place, portable};

/// A rule, and how many scenarios it decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredRule {
    /// Its name.
    pub rule: String,
    /// How many scenarios it decided.
    pub scenarios: usize,
    /// Whether it decides any region, so that a scenario can reach it.
    pub decides: bool,
}

/// Calls of a tool with one verdict, which no scenario reaches.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreached {
    /// The server.
    pub server_name: String,
    /// The tool.
    pub tool_name: String,
    /// `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule that decides.
    pub rule: String,
    /// What arguments that conditions look at are, in the first such region.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Place>,
    /// What the arguments are, in the first such region.
    pub places: Vec<Place>,
    /// The arguments of such a call, with paths from the sandbox or the home directory where they may be so.
    pub arguments: Value,
}

/// What scenarios reach, and what they do not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoverageReport {
    /// Every rule, in order; those of one name together.
    pub rules: Vec<CoveredRule>,
    /// How many verdicts the regions of all tools have, those of each tool counted once.
    pub regions: usize,
    /// Those that no scenario reaches.
    pub unreached: Vec<Unreached>,
    /// How many tools have regions that are not exact, so that there may be more.
    pub inexact: usize,
}

impl CoverageReport {
    /// How many rules decided a scenario, of those that can.
    pub fn rules_covered(&self) -> (usize, usize) {
        let can = self
            .rules
            .iter()
            .filter(|rule| rule.decides || rule.scenarios > 0);
        let did = self.rules.iter().filter(|rule| rule.scenarios > 0);
        (did.count(), can.count())
    }

    /// How many verdicts of regions a scenario reached, of all.
    pub fn regions_covered(&self) -> (usize, usize) {
        (self.regions.saturating_sub(self.unreached.len()), self.regions)
    }
}

/// The verdict about calls of a tool.
type Judged = (String, String, String, String);

/// Counts what scenarios reach.
///
/// A region is reached by a call of its tool that is decided alike by the same rule. Calls that are refused for their form,
/// whatever the policy says, do not count.
pub struct Coverage<'a, 'e> {
    analysis: &'a Analysis<'e>,
    reached: BTreeSet<Judged>,
    rules: BTreeMap<String, usize>,
}

impl<'a, 'e> Coverage<'a, 'e> {
    /// Nothing is reached yet.
    pub fn new(analysis: &'a Analysis<'e>) -> Self {
        Self {
            analysis,
            reached: BTreeSet::new(),
            rules: BTreeMap::new(),
        }
    }

    /// Adds the verdict about a scenario.
    pub fn add(&mut self, server: &str, tool: &str, decision: &str, rule: &str) {
        *self.rules.entry(rule.to_owned()).or_default() += 1;
        let judged = [server, tool, decision, rule].map(str::to_owned);
        self.reached.insert(judged.into());
    }

    /// What is reached now.
    pub fn report(&self) -> CoverageReport {
        let (mut regions, mut inexact) = (0, 0);
        let mut unreached = Vec::new();
        let mut deciding: BTreeSet<String> = BTreeSet::new();
        for (server, tool) in self.analysis.tools() {
            let Some(found) = self.analysis.tool(server, tool) else {
                continue;
            };
            inexact += usize::from(!found.inexact.is_empty());
            let mut verdicts: BTreeSet<(&'static str, String)> = BTreeSet::new();
            for row in telling(found.rows()) {
                deciding.insert(row.rule.clone());
                if !verdicts.insert((row.decision, row.rule.clone())) {
                    continue;
                }
                regions += 1;
                let judged = [server, tool, row.decision, &row.rule].map(str::to_owned);
                if self.reached.contains(&judged.into()) {
                    continue;
                }
                let arguments = portable::arguments(&self.analysis.imagined, server, tool, &row.arguments);
                unreached.push(Unreached {
                    server_name: server.to_owned(),
                    tool_name: tool.to_owned(),
                    decision: row.decision,
                    when: self.first(&row.when),
                    places: self.first(&row.places),
                    rule: row.rule,
                    arguments,
                });
            }
        }
        CoverageReport {
            rules: self.rules(&deciding),
            regions,
            unreached,
            inexact,
        }
    }

    /// What the columns are in the first of the row's regions.
    fn first(&self, columns: &[Column]) -> Vec<Place> {
        let place = |column: &Column| Place {
            argument: column.argument.clone(),
            roles: column.roles.clone(),
            is: column
                .is
                .first()
                .map_or_else(String::new, |is| portable::label(&self.analysis.imagined, is)),
            within: None,
        };
        columns.iter().map(place).collect()
    }

    fn rules(&self, deciding: &BTreeSet<String>) -> Vec<CoveredRule> {
        let mut seen = BTreeSet::new();
        let rules = self.analysis.imagined.program().rules.iter();
        let named = rules.filter(|rule| seen.insert(rule.name.to_string()));
        named
            .map(|rule| CoveredRule {
                rule: rule.name.to_string(),
                scenarios: self.rules.get(&*rule.name).copied().unwrap_or_default(),
                decides: deciding.contains(&*rule.name),
            })
            .collect()
    }
}

/// The rows that say something of the policy: those of calls that are not refused for their form, and, where there are others,
/// not those about arguments without a role.
fn telling(mut rows: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| !row.is_about_form());
    if rows.iter().any(|row| !row.is_about_others()) {
        rows.retain(|row| !row.is_about_others());
    }
    rows
}
