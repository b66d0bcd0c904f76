//! Replaying the adversarial cases: bypass attempts and the controls that must still pass.
//!
//! The engine's heuristics are on here. A case of level `should` that is answered differently must be in the list of
//! departures with its reason. A listed case that is answered as it should be fails too.

mod case;
mod directives;
mod judge;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::report::{CaseFile, Disagreement, Report, Tally};
use crate::source::{Progress, ReplayError, each, lines};
use crate::subject::{Batch, EngineParts, Operation, Outcome, Subject, Surroundings, is_offered};

use case::{Case, Defaults, Level, Step};
use judge::met;

/// The setup whose world is used by setups without one.
const BASE: &str = "_base";

/// The cases, with the setups that they run in.
#[derive(Debug)]
pub struct Suite {
    name: String,
    setups: BTreeMap<String, Setup>,
    cases: Vec<(usize, Case)>,
    departures: BTreeMap<String, Departure>,
}

#[derive(Debug, Deserialize)]
struct Setup {
    world: Option<Value>,
    #[serde(default)]
    engine: Map<String, Value>,
}

/// A case of level `should` that this engine answers differently.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Departure {
    id: String,
    reason: String,
    /// The defaults under which the case is departed from; all of them if none are named.
    defaults: Option<Defaults>,
}

/// How one case ended.
enum Ending {
    NotOffered,
    Met,
    Unmet { expected: Value, got: Value },
}

impl Suite {
    /// Reads the setups (JSON), the cases and the departures (JSON Lines). Reports call the cases `name`.
    ///
    /// # Errors
    /// An input is malformed, a case names a setup that does not exist, or a departure names a case that does not exist
    /// or is of level `must`.
    pub fn read(name: &str, setups: &str, cases: &str, departures: &str) -> Result<Self, ReplayError> {
        let setups: BTreeMap<String, Setup> = serde_json::from_str(setups)
            .map_err(|error| ReplayError::new(format!("{name}, setups"), error))?;
        let cases = read_lines::<Case>(name, cases)?;
        for (number, case) in &cases {
            if !setups.contains_key(&case.setup) {
                let message = format!("there is no setup `{}`", case.setup);
                return Err(ReplayError::at_line(name, *number, message));
            }
        }
        let listed = format!("{name}, departures");
        let departures = read_lines::<Departure>(&listed, departures)?;
        for (number, departure) in &departures {
            let case = cases.iter().find(|(_, case)| case.id == departure.id);
            let fault = match case.map(|(_, case)| case.level) {
                Some(Level::Should) => continue,
                Some(Level::Must) => "is a must",
                None => "is gone",
            };
            let message = format!("the case `{}` {fault}", departure.id);
            return Err(ReplayError::at_line(&listed, *number, message));
        }
        Ok(Self {
            name: name.to_owned(),
            setups,
            cases,
            departures: departures
                .into_iter()
                .map(|(_, one)| (one.id.clone(), one))
                .collect(),
        })
    }

    /// Replays every case that applies to `subject`, and calls `progress` after each.
    ///
    /// # Errors
    /// The directives of a case are malformed.
    pub fn replay(
        &self,
        subject: &mut dyn Subject,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Report, ReplayError> {
        let mut report = Report::default();
        let cases = self.cases.iter().map(|(number, case)| (*number, case));
        each(&self.name, cases, progress, |number, case| {
            for defaults in case.defaults() {
                let ending = self.run(case, defaults, subject)?;
                self.count((number, case, defaults), ending, subject, &mut report);
            }
            Ok(())
        })?;
        Ok(report)
    }

    fn count(
        &self,
        (number, case, defaults): (usize, &Case, Defaults),
        ending: Ending,
        subject: &dyn Subject,
        report: &mut Report,
    ) {
        let file = CaseFile::new(subject.name(), &self.name);
        let tags = [case.class.clone()];
        let departs = self.departures.get(&case.id);
        let departs = departs.filter(|one| one.defaults.is_none_or(|about| about == defaults));
        let (expected, got) = match (ending, departs) {
            (Ending::NotOffered, _) => return report.count(&file, &tags, Tally::NOT_OFFERED),
            (Ending::Met, None) => return report.count(&file, &tags, Tally::PASSED),
            (Ending::Unmet { .. }, Some(_)) => return report.count(&file, &tags, Tally::DEPARTED),
            (Ending::Met, Some(departure)) => (
                json!({"departure": departure.reason}),
                json!("answered rightly: take it off the list"),
            ),
            (Ending::Unmet { expected, got }, None) => (expected, got),
        };
        report.fail(
            &file,
            Disagreement {
                subject: subject.name().to_owned(),
                place: format!("{}:{number}", self.name),
                case: case.id.clone(),
                tags: tags.to_vec(),
                world: self.world(case),
                engine: Value::Object(self.documents(case)),
                input: json!({"input": case.input, "options": case.options(&self.world(case), defaults)}),
                expected,
                got,
            },
        );
    }

    fn run(&self, case: &Case, defaults: Defaults, subject: &mut dyn Subject) -> Result<Ending, String> {
        if !case.is_due(subject) {
            return Ok(Ending::NotOffered);
        }
        let world = self.world(case);
        let engine = self.engine(case, &world, defaults)?;
        let batch = |operations: Vec<Operation>| Batch {
            surroundings: Surroundings::Machine(world.clone()),
            engine: Some(engine.clone()),
            operations,
        };
        let steps = case.steps(|patch| self.patched(case, &world, defaults, patch))?;
        if !steps.iter().all(|step| is_offered(subject, &step.operation)) {
            return Ok(Ending::NotOffered);
        }
        let operations = steps.iter().map(|step| step.operation.clone()).collect();
        let outcomes = subject.run(&batch(operations));
        for (at, Step { operation, must }) in steps.iter().enumerate() {
            let silence = Outcome::Fault("no outcome".to_owned());
            let outcome = outcomes.get(at).unwrap_or(&silence);
            if met(must, outcome) {
                continue;
            }
            if case.raw_only
                && let Some(again) = judge::forwarded_again(operation, outcome)
                && judge::is_settled(&again, &subject.run(&batch(again.operations())))
            {
                continue;
            }
            return Ok(Ending::Unmet {
                expected: json!({"step": at, "must": must}),
                got: json!(outcome),
            });
        }
        Ok(Ending::Met)
    }

    /// The world of `case`: its own, laid over that of its setup, or else over that of the base.
    fn world(&self, case: &Case) -> Value {
        let own = self
            .setups
            .get(&case.setup)
            .and_then(|setup| setup.world.as_ref());
        let base = || self.setups.get(BASE).and_then(|setup| setup.world.as_ref());
        let mut world = own.or_else(base).cloned().unwrap_or_default();
        if let Some(patch) = &case.world {
            merge(&mut world, patch);
        }
        world
    }

    /// The documents of the engine of `case`: its own, and those of its setup that it does not replace.
    fn documents(&self, case: &Case) -> Map<String, Value> {
        let mut documents = self
            .setups
            .get(&case.setup)
            .map(|setup| setup.engine.clone())
            .unwrap_or_default();
        documents.extend(case.engine.clone());
        documents
    }

    fn engine(&self, case: &Case, world: &Value, defaults: Defaults) -> Result<EngineParts, String> {
        let mut parts = case::parts(&self.documents(case), case.options(world, defaults))?;
        for (name, text) in case.raw_documents() {
            parts.set(name, text.to_owned());
        }
        Ok(parts)
    }

    /// The engine of `case` with further documents in place of its own.
    fn patched(
        &self,
        case: &Case,
        world: &Value,
        defaults: Defaults,
        patch: &Map<String, Value>,
    ) -> Result<EngineParts, String> {
        let mut documents = self.documents(case);
        documents.extend(patch.clone());
        case::parts(&documents, case.options(world, defaults))
    }
}

fn read_lines<T: for<'de> Deserialize<'de>>(name: &str, text: &str) -> Result<Vec<(usize, T)>, ReplayError> {
    let parse = |(number, line): (usize, &str)| {
        let parsed = serde_json::from_str(line).map_err(|error| ReplayError::at_line(name, number, error))?;
        Ok((number, parsed))
    };
    lines(text).into_iter().map(parse).collect()
}

/// Lays `patch` over `base`: arrays are appended, objects are merged, anything else is replaced.
fn merge(base: &mut Value, patch: &Value) {
    match (base, patch) {
        (Value::Object(base), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(base.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(patch)) => base.extend(patch.iter().cloned()),
        (base, patch) => *base = patch.clone(),
    }
}

#[cfg(test)]
mod tests;
