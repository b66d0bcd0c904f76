//! `callgate check`: statements about all calls, proven or refuted.

use callgate_analysis::{Outcome, Statement, check_invariants};
use callgate_engine::host::Host;
use clap::Args;

use crate::setup::Setup;
use crate::terminal::Progress;
use crate::terminal::{DIM, Exit, Failure, GREEN, Out, RED, YELLOW, clean, counted, note, paint, wrapped};

/// Prove the statements about all calls that the bundle holds under `invariants`, or refute them
///
/// A statement is `{"name"?, "never": CALLS}` or `{"name"?, "always": CALLS}`, where CALLS is `{"decision", "server"?, "tool"?,
/// "roles"?, "within"?, "domains"?, "values"?}`: no such call, or every such call, is decided so. It is held against every region
/// of the calls of every tool, in every context that a world tells apart. Links on this machine's disk are not followed, which the answer says of statements about a
/// directory, and what a remote or HEAD stands for is not known, unless `--disk` is given. Exits with 0 if all are proven, 2 if a
/// call refutes one, and 1 if one is not known, because regions are not exact, or is about no call. As JSON one line a statement.
#[derive(Args)]
pub(crate) struct Check {
    /// Follow the links on this machine's disk, or in the file of --world, and read its repositories
    #[arg(long)]
    disk: bool,
    #[command(flatten)]
    setup: Setup,
}

impl Check {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let engine = self.setup.compiled()?;
        let host = self.setup.host()?;
        let disk = self.disk.then_some(host.as_ref() as &dyn Host);
        let progress = Progress::new();
        let statements = check_invariants(&engine, disk, &progress.watcher());
        progress.clear();
        if statements.is_empty() {
            note("the bundle has no `invariants`");
        }
        let mut exit = Exit::Allow;
        for statement in &statements {
            exit = worse(exit, exit_of(&statement.outcome));
            if out.human {
                out.text(&shown(statement))?;
            } else {
                out.json(statement)?;
            }
        }
        Ok(exit)
    }
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Proven { .. } => Exit::Allow,
        Outcome::Refuted { .. } => Exit::Deny,
        Outcome::Unknown { .. } | Outcome::Empty => Exit::Fault,
    }
}

/// A refuted statement says more than one that is not known.
fn worse(one: Exit, other: Exit) -> Exit {
    match (one, other) {
        (Exit::Deny, _) | (_, Exit::Deny) => Exit::Deny,
        (one, other) => one.max(other),
    }
}

fn shown(statement: &Statement) -> String {
    let name = clean(&statement.name);
    match &statement.outcome {
        Outcome::Proven {
            regions,
            on,
            but_for_approvals,
        } => {
            let on = on.map(|disk| format!(", on {disk}")).unwrap_or_default();
            let but = if *but_for_approvals {
                ", but for approvals"
            } else {
                ""
            };
            let count = paint(
                DIM,
                &format!("{}{on}{but}", counted(*regions, "region", "regions")),
            );
            format!("{} {name} {count}\n", paint(GREEN, "proven "))
        }
        Outcome::Refuted { call, decision, rule } => format!(
            "{} {name}\n        {decision} by {}: {}\n",
            paint(RED, "refuted"),
            clean(rule),
            clean(&call.to_string())
        ),
        Outcome::Unknown { because } => {
            let mut text = format!("{} {name}\n", paint(YELLOW, "unknown"));
            for why in because {
                text.push_str(&format!("        {}\n", wrapped(&clean(why), 8, "        ")));
            }
            text
        }
        Outcome::Empty => format!("{} {name} is about no call\n", paint(YELLOW, "empty  ")),
    }
}
