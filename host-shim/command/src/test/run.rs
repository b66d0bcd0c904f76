//! Judging scenarios.

use std::time::{Duration, Instant};

use callgate_analysis::scenarios::{Case, Outcome, ScenarioFile, judge_all};
use callgate_engine::bind::CallError;
use callgate_engine::engine::Audience;
use callgate_host::{CallText, Gate, Request};

use crate::setup::Setup;
use crate::terminal::Progress;
use crate::terminal::{Failure, clean, note};

/// Judges every scenario, those of one world by one gate.
pub(super) fn all<'f>(
    files: &'f [ScenarioFile],
    usual: &Gate,
    setup: &Setup,
    progress: &Progress,
) -> Result<Vec<Outcome<'f>>, Failure> {
    let count: usize = files.iter().map(|file| file.cases.len()).sum();
    let mut at = 0;
    judge_all(
        files,
        usual,
        |file, case, host| {
            setup.build_in_world(host).inspect_err(|_| {
                progress.clear();
                let place = format!("{file}:{}", case.line());
                note(&format!("in the world of the scenario at {}:", clean(&place)));
            })
        },
        |file, case, gate| {
            at += 1;
            progress.say(format!("scenario {at} of {count}: {file}:{}", case.line()));
            judged(file, case, gate)
        },
    )
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
    let unread = |error: CallError| Failure::Invalid(format!("{}: {error}", place()));
    let begun = Instant::now();
    let verdict = gate.judge(&request).map_err(unread)?.verdict;
    let mut outcome = Outcome::new(file, case, verdict, nanoseconds(begun.elapsed()));
    if !outcome.has_passed() {
        let explained = gate
            .judge(&request.explained(Audience::Operator))
            .map_err(unread)?;
        let tools = gate.tools().unwrap_or_default();
        outcome.explain(
            explained.explanation,
            tools.iter().map(|tool| (&*tool.server, &*tool.name)),
        );
    }
    Ok(outcome)
}

fn nanoseconds(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}
