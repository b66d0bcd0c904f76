//! `callgate doctor`: looks at everything that is installed, and judges a call through each part of it.

mod documents;
mod finding;
mod guards;
mod hooks;
mod plugins;
mod running;
mod stand_in;
mod written;

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use serde_json::json;

use crate::approvals;
use crate::program;
use crate::terminal::{BOLD, DIM, Exit, Failure, GREEN, Out, RED, YELLOW, clean, counted, paint};
use finding::{Finding, Standing};

/// Look at what is installed, and judge a call through each hook and each guard
///
/// Looks for agents, their hooks and guards in the user's settings and in those of the project in the working directory: whether the
/// program that is named there is there and of this version, whether the agent is told to deny a call if its hook fails, whether the
/// documents are in order and nobody else can write them, and whether the clock can be right. Each hook is asked about a write to the
/// agent's settings, which it has to deny; each guard is put before a server that has no tool, and has to deny a call of one. What is
/// named in the settings of a project is started only if it is this program, or lies elsewhere and nobody else can write it. Nothing
/// is written. Exits with 0, or with 1 where something is wrong. As JSON one line a finding, `{"about", "standing", "message",
/// "help"?}`, and last `{"wrong", "doubtful"}`.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Write JSON, as `--format json` does
    #[arg(long)]
    json: bool,
    /// Start nothing that the settings name: only look
    #[arg(long)]
    only_look: bool,
    /// The server without a tool, which a guard is put before
    #[arg(long, hide = true)]
    stand_in: bool,
}

/// Where to look.
struct Place {
    home: PathBuf,
    /// The project's folder.
    project: PathBuf,
    /// This program.
    own: PathBuf,
    only_look: bool,
}

impl Doctor {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        if self.stand_in {
            stand_in::serve();
            return Ok(Exit::Allow);
        }
        let place = self.place()?;
        let mut found = own(&place);
        found.extend(clock(&place));
        found.extend(hooks::look(&place));
        found.extend(plugins::look(&place));
        found.extend(guards::look(&place));
        let count = |standing| found.iter().filter(|one| one.standing == standing).count();
        let (wrong, doubtful) = (count(Standing::Wrong), count(Standing::Doubtful));
        if out.human && !self.json {
            for one in &found {
                show(one, out)?;
            }
            let sum = match (wrong, doubtful) {
                (0, 0) => paint(GREEN, "nothing is wrong"),
                (0, _) => paint(
                    YELLOW,
                    &format!(
                        "nothing is wrong, {} doubtful",
                        counted(doubtful, "thing is", "things are")
                    ),
                ),
                (_, _) => paint(
                    RED,
                    &format!("{} wrong", counted(wrong, "thing is", "things are")),
                ),
            };
            out.line(&sum)?;
        } else {
            for one in &found {
                out.json(one)?;
            }
            out.json(&json!({"wrong": wrong, "doubtful": doubtful}))?;
        }
        Ok(match wrong {
            0 => Exit::Allow,
            _ => Exit::Fault,
        })
    }

    fn place(&self) -> Result<Place, Failure> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let project = std::env::current_dir().and_then(|folder| folder.canonicalize());
        Ok(Place {
            home: home.ok_or_else(|| Failure::Fault("the home directory is not known".to_owned()))?,
            project: project.map_err(|error| Failure::Fault(format!("the working directory: {error}")))?,
            own: program::own()?,
            only_look: self.only_look,
        })
    }
}

/// This program and its place.
fn own(place: &Place) -> Vec<Finding> {
    let about = || format!("callgate {}", program::VERSION);
    let shown = place.own.display();
    let mut found = documents::writable_by_others(&about(), &place.own);
    if program::is_cached(&place.own) {
        let help = "`npm install -g callgate` or `uv tool install callgate-cli` puts it where it stays";
        let message = format!("it runs from the cache of a launcher, `{shown}`");
        found.push(Finding::new(about(), Standing::Note, message).helped(help));
    } else if place.own.starts_with(std::env::temp_dir()) {
        let message = format!("it lies in a folder of temporary files, `{shown}`");
        found.push(
            Finding::new(about(), Standing::Doubtful, message).helped("move it to a folder that stays"),
        );
    } else if found.is_empty() {
        found.push(Finding::new(about(), Standing::Right, format!("it is `{shown}`")));
    }
    found
}

/// Approvals end by the clock, and logs are dated by it.
fn clock(place: &Place) -> Vec<Finding> {
    let about = || "clock".to_owned();
    let now = SystemTime::now();
    let state = approvals::folder(None)
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    let files = state.flatten().map(|file| file.path()).chain([place.own.clone()]);
    let mut later = files.filter(|file| {
        let modified = std::fs::metadata(file).and_then(|found| found.modified());
        modified.is_ok_and(|modified| {
            modified
                .duration_since(now)
                .is_ok_and(|ahead| ahead.as_secs() > 60)
        })
    });
    vec![match later.next() {
        Some(file) => {
            let message = format!("it is before the time at which `{}` was written", file.display());
            Finding::new(about(), Standing::Wrong, message)
                .helped("set the clock: approvals end by it, and logs are dated by it")
        }
        None => Finding::new(
            about(),
            Standing::Right,
            "nothing was written after now".to_owned(),
        ),
    }]
}

fn show(found: &Finding, out: &mut Out) -> Result<(), Failure> {
    let word = match found.standing {
        Standing::Right => paint(GREEN, "right   "),
        Standing::Note => paint(DIM, "note    "),
        Standing::Doubtful => paint(YELLOW, "doubtful"),
        Standing::Wrong => paint(RED, "wrong   "),
    };
    out.line(&format!(
        "{word} {}: {}",
        paint(BOLD, &clean(&found.about)),
        clean(&found.message)
    ))?;
    match &found.help {
        Some(help) => out.line(&format!("         {} {}", paint(DIM, "help:"), clean(help))),
        None => Ok(()),
    }
}
