//! What came of a scenario.

use callgate_engine::advice::help_for_unknown_tool;
use callgate_engine::document::did_you_mean;
use callgate_engine::judge::{StructuralRule, Verdict};
use serde_json::{Value, json};

use super::case::Case;
use crate::CoverageReport;

/// A scenario, and the verdict about its call.
pub struct Outcome<'c> {
    /// The name of the file that has the scenario.
    pub file: &'c str,
    /// The scenario.
    pub case: &'c Case,
    /// The verdict.
    pub verdict: Verdict<'static>,
    /// How many nanoseconds judging took; 0 where nobody is told.
    pub nanoseconds: u64,
    /// The explanation of a verdict that was not expected.
    pub explanation: Option<Value>,
    /// What a person can do about a verdict that was not expected.
    pub help: Option<String>,
}

impl<'c> Outcome<'c> {
    /// With neither explanation nor help.
    pub fn new(file: &'c str, case: &'c Case, verdict: Verdict<'static>, nanoseconds: u64) -> Self {
        Self {
            file,
            case,
            verdict,
            nanoseconds,
            explanation: None,
            help: None,
        }
    }
}

impl Outcome<'_> {
    /// Returns `true` if the verdict is as expected.
    pub fn has_passed(&self) -> bool {
        let scenario = &self.case.scenario;
        let decision = self.verdict.decision.as_str();
        scenario.expect.is_none_or(|expect| expect.is_met_by(decision))
            && scenario
                .rule
                .as_ref()
                .is_none_or(|rule| *rule == self.verdict.rule)
    }

    /// Adds what a person needs about a verdict that was not expected: how it came about, and, where there is no such tool, one of
    /// a similar name.
    pub fn explain<'t>(
        &mut self,
        explanation: Option<Value>,
        tools: impl Iterator<Item = (&'t str, &'t str)>,
    ) {
        self.explanation = explanation;
        if self.verdict.rule == StructuralRule::UnknownTool.as_str() {
            self.help = Some(help_for_unknown_tool(&self.case.server, &self.case.tool, tools));
        }
    }

    /// `allow by the-rule`, as far as something is expected.
    pub fn expected(&self) -> String {
        let scenario = &self.case.scenario;
        match (scenario.expect, &scenario.rule) {
            (Some(expect), Some(rule)) => format!("{expect} by {rule}"),
            (Some(expect), None) => expect.to_string(),
            (None, Some(rule)) => format!("a verdict by {rule}"),
            (None, None) => "anything".to_owned(),
        }
    }

    /// `deny by the-rule`.
    pub fn found(&self) -> String {
        format!("{} by {}", self.verdict.decision.as_str(), self.verdict.rule)
    }

    /// Says so where the rule that is expected does not exist.
    pub fn look_for_rule(&mut self, coverage: &CoverageReport) {
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

    /// The line of `callgate test` about it.
    pub fn to_json(&self) -> Value {
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
