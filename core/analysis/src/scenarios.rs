//! Running scenarios: each is judged where it says, and counted among those that reach a policy's regions. What comes of them is
//! told as `callgate test` writes it.

mod case;
mod outcome;

use std::collections::BTreeMap;

use callgate_engine::bind::{Call, CallError};
use callgate_engine::engine::Engine;
use callgate_engine::judge::Verdict;
use serde_json::{Value, json};

use crate::{Analysis, Coverage, CoverageReport};

pub use case::{Case, Shared, read_cases};
pub use outcome::Outcome;

/// A file of scenarios.
pub struct ScenarioFile {
    /// Its name in answers.
    pub name: String,
    /// The scenarios.
    pub cases: Vec<Case>,
}

/// Judges of places that are kept, each with all documents in memory. Scenarios of one place usually follow each other.
const MOST_JUDGES: usize = 16;

/// Judges every scenario, those of one place by one judge, which `build` makes; those without a place by `usual`.
///
/// # Errors
/// The first of `build` and `judge`.
pub fn judge_all<'f, Judge, Error>(
    files: &'f [ScenarioFile],
    usual: &Judge,
    mut build: impl FnMut(&str, &Case, &Shared) -> Result<Judge, Error>,
    mut judge: impl FnMut(&'f str, &'f Case, &Judge) -> Result<Outcome<'f>, Error>,
) -> Result<Vec<Outcome<'f>>, Error> {
    let mut judges: BTreeMap<String, Judge> = BTreeMap::new();
    let mut outcomes = Vec::new();
    for file in files {
        for case in &file.cases {
            let own = match case.place() {
                Some((key, host)) => {
                    if !judges.contains_key(&key) {
                        if judges.len() == MOST_JUDGES {
                            judges.clear();
                        }
                        judges.insert(key.clone(), build(&file.name, case, host)?);
                    }
                    judges.get(&key).unwrap_or(usual)
                }
                None => usual,
            };
            outcomes.push(judge(&file.name, case, own)?);
        }
    }
    Ok(outcomes)
}

/// The regions that the scenarios reach. `compile` makes the engine of a place; the inner error is its.
///
/// # Errors
/// When the text of a scenario is not a call, which it was when the file was read.
pub fn reached<Error>(
    outcomes: &[Outcome<'_>],
    analysis: &Analysis<'_>,
    compile: impl Fn(&Shared) -> Result<Engine, Error>,
) -> Result<Result<CoverageReport, Error>, CallError> {
    let mut coverage = Coverage::new(analysis);
    let usual = outcomes.iter().filter(|outcome| outcome.case.place().is_none());
    add_all(usual, analysis, &mut coverage)?;
    // A path in another world lies where it lies there.
    let mut places: BTreeMap<String, (_, Vec<&Outcome<'_>>)> = BTreeMap::new();
    for outcome in outcomes {
        if let Some((key, host)) = outcome.case.place() {
            let place = places.entry(key).or_insert_with(|| (host, Vec::new()));
            place.1.push(outcome);
        }
    }
    for (host, own) in places.into_values() {
        let engine = match compile(host) {
            Ok(engine) => engine,
            Err(error) => return Ok(Err(error)),
        };
        let place = Analysis::with_host(&engine, host.as_ref());
        add_all(own.into_iter(), &place, &mut coverage)?;
    }
    Ok(Ok(coverage.report()))
}

/// Adds the outcomes to what is reached, in the place that they were judged in.
fn add_all<'o, 'c: 'o>(
    outcomes: impl Iterator<Item = &'o Outcome<'c>>,
    place: &Analysis<'_>,
    coverage: &mut Coverage<'_, '_>,
) -> Result<(), CallError> {
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

/// The last line of `callgate test`, which counts.
pub fn sum(outcomes: &[Outcome<'_>], coverage: Option<&CoverageReport>) -> Value {
    let count = outcomes.len();
    let failed = outcomes.iter().filter(|outcome| !outcome.has_passed()).count();
    let mut sum = json!({"scenarios": count, "passed": count - failed, "failed": failed});
    if let (Some(sum), Some(coverage)) = (sum.as_object_mut(), coverage) {
        sum.insert("coverage".to_owned(), json!(coverage));
    }
    sum
}
