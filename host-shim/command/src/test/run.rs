//! Judging scenarios, and what came of each.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use callgate_analysis::{Analysis, Coverage, CoverageReport};
use callgate_engine::advice::help_for_unknown_tool;
use callgate_engine::bind::Call;
use callgate_engine::document::did_you_mean;
use callgate_engine::engine::Audience;
use callgate_host::{CallText, Gate, Request, StructuralRule, Verdict};
use serde_json::{Value, json};

use super::files::{Case, File};
use crate::setup::Setup;
use crate::terminal::Progress;
use crate::terminal::{Failure, clean, note};

/// A scenario, and the verdict about its call.
pub(super) struct Outcome<'c> {
    pub(super) file: &'c str,
    pub(super) case: &'c Case,
    pub(super) verdict: Verdict<'static>,
    /// How long judging took.
    pub(super) took: Duration,
    /// The explanation of a verdict that was not expected.
    pub(super) explanation: Option<Value>,
    pub(super) help: Option<String>,
}

/// Gates that are kept, each with all documents in memory. Scenarios of one world usually follow each other.
const MOST_GATES: usize = 16;

/// Judges every scenario, those of one world by one gate.
pub(super) fn all<'f>(
    files: &'f [File],
    usual: &Gate,
    setup: &Setup,
    progress: &Progress,
) -> Result<Vec<Outcome<'f>>, Failure> {
    let mut gates: BTreeMap<String, Gate> = BTreeMap::new();
    let mut outcomes = Vec::new();
    let count: usize = files.iter().map(|file| file.cases.len()).sum();
    for file in files {
        for case in &file.cases {
            let at = outcomes.len() + 1;
            progress.say(format!("scenario {at} of {count}: {}:{}", file.name, case.line()));
            let gate = match case.place() {
                Some((key, host)) => {
                    if !gates.contains_key(&key) {
                        if gates.len() == MOST_GATES {
                            gates.clear();
                        }
                        let gate = setup.build_in_world(host).inspect_err(|_| {
                            progress.clear();
                            let place = format!("{}:{}", file.name, case.line());
                            note(&format!("in the world of the scenario at {}:", clean(&place)));
                        })?;
                        gates.insert(key.clone(), gate);
                    }
                    gates.get(&key).unwrap_or(usual)
                }
                None => usual,
            };
            outcomes.push(judged(&file.name, case, gate)?);
        }
    }
    Ok(outcomes)
}

fn judged<'c>(file: &'c str, case: &'c Case, gate: &Gate) -> Result<Outcome<'c>, Failure> {
    let scenario = &case.scenario;
    let text = CallText::from(&scenario.call.text);
    let text = match &scenario.context {
        Some(context) => text.within(&context.text),
        None => text,
    };
    let request = Request::gate(text);
    let place = || format!("{file}:{}", case.line());
    let unread = |error: callgate_engine::bind::CallError| Failure::Invalid(format!("{}: {error}", place()));
    let begun = Instant::now();
    let verdict = gate.judge(&request).map_err(unread)?.verdict;
    let mut outcome = Outcome {
        file,
        case,
        verdict,
        took: begun.elapsed(),
        explanation: None,
        help: None,
    };
    if !outcome.has_passed() {
        let explained = gate.judge(&request.explained(Audience::Operator));
        outcome.explanation = explained.map_err(unread)?.explanation;
        outcome.help = similar(case, gate, &outcome.verdict);
    }
    Ok(outcome)
}

/// A tool of a similar name, where there is none of this one.
fn similar(case: &Case, gate: &Gate, verdict: &Verdict<'_>) -> Option<String> {
    if verdict.rule != StructuralRule::UnknownTool.as_str() {
        return None;
    }
    let tools = gate.tools().ok()?;
    let names = tools.iter().map(|tool| (&*tool.server, &*tool.name));
    Some(help_for_unknown_tool(&case.server, &case.tool, names))
}

impl Outcome<'_> {
    pub(super) fn has_passed(&self) -> bool {
        let scenario = &self.case.scenario;
        let decision = self.verdict.decision.as_str();
        scenario.expect.is_none_or(|expect| expect.is_met_by(decision))
            && scenario
                .rule
                .as_ref()
                .is_none_or(|rule| *rule == self.verdict.rule)
    }

    /// `allow by the-rule`, as far as something is expected.
    pub(super) fn expected(&self) -> String {
        let scenario = &self.case.scenario;
        match (scenario.expect, &scenario.rule) {
            (Some(expect), Some(rule)) => format!("{expect} by {rule}"),
            (Some(expect), None) => expect.to_string(),
            (None, Some(rule)) => format!("a verdict by {rule}"),
            (None, None) => "anything".to_owned(),
        }
    }

    /// `deny by the-rule`.
    pub(super) fn found(&self) -> String {
        format!("{} by {}", self.verdict.decision.as_str(), self.verdict.rule)
    }

    /// Adds the outcomes to what is reached, in the place that they were judged in.
    pub(super) fn add_all<'o>(
        outcomes: impl Iterator<Item = &'o Self>,
        place: &Analysis<'_>,
        coverage: &mut Coverage<'_, '_>,
    ) -> Result<(), Failure>
    where
        Self: 'o,
    {
        let mut by_tool: BTreeMap<(&str, &str), Vec<(Call<'_>, &Verdict<'_>)>> = BTreeMap::new();
        for outcome in outcomes {
            let call = outcome.case.call()?;
            let tool = (&*outcome.case.server, &*outcome.case.tool);
            by_tool.entry(tool).or_default().push((call, &outcome.verdict));
        }
        for ((server, tool), scenarios) in &by_tool {
            let scenarios = scenarios.iter().map(|(call, verdict)| (call, *verdict));
            coverage.add(place, server, tool, scenarios);
        }
        Ok(())
    }

    /// Says so where the rule that is expected does not exist.
    pub(super) fn look_for_rule(&mut self, coverage: &CoverageReport) {
        let names = || coverage.rules.iter().map(|rule| &*rule.rule);
        let Some(expected) = &self.case.scenario.rule else {
            return;
        };
        let is_own = StructuralRule::parse(expected).is_some();
        if self.has_passed() || is_own || names().any(|name| name == expected) {
            return;
        }
        let near = did_you_mean(expected, names()).map_or_else(String::new, |near| format!("; {near}"));
        self.help = Some(format!("the policy has no rule `{expected}`{near}"));
    }

    pub(super) fn to_json(&self) -> Value {
        let scenario = &self.case.scenario;
        let mut line = json!({"file": self.file, "line": self.case.line()});
        let Some(members) = line.as_object_mut() else {
            return line;
        };
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(key.to_owned(), value);
            }
        };
        add("name", scenario.name.as_ref().map(|name| json!(name)));
        add("server", Some(json!(self.case.server)));
        add("tool", Some(json!(self.case.tool)));
        add("passed", Some(json!(self.has_passed())));
        add("expect", scenario.expect.map(|expect| json!(expect)));
        add("expectedRule", scenario.rule.as_ref().map(|rule| json!(rule)));
        if let Value::Object(verdict) = json!(self.verdict) {
            for (key, value) in verdict {
                add(&key, Some(value));
            }
        }
        add("help", self.help.as_ref().map(|help| json!(help)));
        add("explanation", self.explanation.clone());
        line
    }
}
