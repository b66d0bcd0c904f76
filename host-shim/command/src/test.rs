//! `callgate test`: calls, each with what is expected of it.

mod files;
mod junit;
mod missing;
mod run;
mod table;

use std::path::PathBuf;
use std::sync::Arc;

use callgate_analysis::scenarios::{self, Outcome};
use callgate_analysis::{Analysis, CoverageReport};
use callgate_engine::engine::LinklessHost;
use callgate_engine::host::Host;
use callgate_host::{Gate, Unanswered};
use clap::Args;

use crate::eval::mention_warnings;
use crate::setup::Setup;
use crate::terminal::Progress;
use crate::terminal::{Exit, Failure, Out, note};

/// Run scenarios: calls, each with what is expected of it
///
/// A scenario is `{"name"?, "call", "expect"?, "rule"?, "world"?, "context"?}`: a call, the decision (`allow`, `escalate`, `deny` or
/// `not-allow`), the rule that decides, or both, and the world and the context that it is judged in. A file holds one a line, an array
/// of them, or an object that has them under `scenarios`. Where a scenario has no world, no disk is asked: every path exists and is
/// not a link, and git remotes by name are unknown.
///
/// As JSON one line a scenario, `{"file", "line", "name"?, "server", "tool", "passed", "expect"?, "expectedRule"?, "decision", "rule",
/// "reason", "explanation"?}`, and last `{"scenarios", "passed", "failed", "coverage"?}`. Coverage is of the rules, and of the regions
/// of each tool's calls, as `callgate map` shows them. Exits with 0 if all pass, 1 if one fails, and 4 if a file or a
/// document is not right.
#[derive(Args)]
pub(crate) struct Test {
    /// Files of scenarios, or - for standard input [default: those that the bundle names under `tests`]
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Also write the results to this file, as JUnit XML for CI
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a scenario for each region that none reaches to this new file; what each expects is what the documents say now
    #[arg(long, value_name = "FILE")]
    write_missing: Option<PathBuf>,
    /// Fail where the scenarios reach a smaller share of the regions
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,
    /// Do not look at what the scenarios reach
    #[arg(long, conflicts_with_all = ["write_missing", "min_coverage"])]
    no_coverage: bool,
    /// Judge scenarios without a world on this machine's disk, with its links and repositories
    #[arg(long, conflicts_with = "world")]
    disk: bool,
    #[command(flatten)]
    setup: Setup,
}

impl Test {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        self.setup.check_alone()?;
        let host = self.host()?;
        let gate = match self.setup.has_world() {
            true => self.setup.build_in_world(&host)?,
            false => self.setup.build_on(&host, &Ok)?,
        };
        mention_warnings(&gate, out)?;
        let files = files::read_all(self.named(&gate)?)?;
        let mut cases = files.iter().flat_map(|file| &file.cases);
        let has_context = cases.any(|case| case.scenario.context.is_some());
        if has_context && matches!(gate.references(), Err(Unanswered::NoWorld)) {
            note("the documents have no `world`, so nothing looks at the contexts of scenarios");
        }
        self.write_missing
            .as_deref()
            .map(missing::check_absent)
            .transpose()?;
        let report = self.junit.as_deref().map(junit::create).transpose()?;

        let progress = Progress::new();
        let mut outcomes = run::all(&files, &gate, &self.setup, &progress)?;
        let coverage = match self.no_coverage {
            true => None,
            false => Some(coverage(&gate, host.as_ref(), &self.setup, &outcomes, &progress)?),
        };
        progress.clear();
        if let Some(coverage) = &coverage {
            outcomes
                .iter_mut()
                .for_each(|outcome| outcome.look_for_rule(coverage));
        }
        // A reader who has seen enough and closes standard output does not keep files from being written.
        if let Some(report) = report {
            report.write(&files, &outcomes)?;
        }
        if let (Some(path), Some(coverage)) = (&self.write_missing, &coverage) {
            let judges = missing::Judges::new(&gate, &self.setup, self.disk)?;
            missing::write(path, coverage, &judges)?;
            if self.disk && !coverage.unreached.is_empty() {
                note("they hold on this machine's disk, with --disk");
            }
        }
        let failed = outcomes.iter().filter(|outcome| !outcome.has_passed()).count();
        if out.human {
            let verbose = self.setup.running.verbose;
            out.text(&table::of(&files, &outcomes, coverage.as_ref(), verbose)?)?;
        } else {
            for outcome in &outcomes {
                out.json(&outcome.to_json())?;
            }
            out.json(&scenarios::sum(&outcomes, coverage.as_ref()))?;
        }
        let is_thin = coverage.as_ref().is_some_and(|coverage| self.is_thin(coverage));
        Ok(match failed > 0 || is_thin {
            true => Exit::Fault,
            false => Exit::Allow,
        })
    }

    /// Where scenarios without a world are judged.
    fn host(&self) -> Result<Arc<dyn Host + Send + Sync>, Failure> {
        let host = self.setup.host()?;
        Ok(match self.disk || self.setup.has_world() {
            true => host,
            false => Arc::new(LinklessHost::like(host.as_ref())),
        })
    }

    fn named<'t>(&'t self, gate: &'t Gate) -> Result<&'t [PathBuf], Failure> {
        match (self.files.as_slice(), gate.scenario_files()) {
            ([], []) => Err(Failure::Helped {
                message: "there are no scenarios to run".to_owned(),
                help: "expected files of scenarios, or their names in the bundle: `\"tests\": [\"scenarios.jsonl\"]`".to_owned(),
            }),
            ([], named) => Ok(named),
            (given, _) => Ok(given),
        }
    }

    /// Returns `true` if the scenarios reach less than they must. Who asked for it is told.
    fn is_thin(&self, coverage: &CoverageReport) -> bool {
        let (reached, all) = coverage.regions_covered();
        let least = usize::from(self.min_coverage.unwrap_or_default());
        let is_thin = reached * 100 < least * all;
        if is_thin {
            note(&format!(
                "the scenarios reach {reached} of {all} regions, expected {least} % of them"
            ));
        }
        is_thin
    }
}

/// The regions that the scenarios reach.
fn coverage(
    gate: &Gate,
    host: &dyn Host,
    setup: &Setup,
    outcomes: &[Outcome<'_>],
    progress: &Progress,
) -> Result<CoverageReport, Failure> {
    let invalid = |error: callgate_engine::engine::BuildError| Failure::Invalid(error.to_string());
    let engine = gate.compile(host).map_err(invalid)?;
    let watcher = progress.watcher();
    let analysis = Analysis::with_host(&engine, host).watched(&watcher);
    let reached = scenarios::reached(outcomes, &analysis, |host| {
        let gate = setup.build_in_world(host)?;
        gate.compile(host.as_ref()).map_err(invalid)
    });
    reached.map_err(|error| Failure::Invalid(error.to_string()))?
}
