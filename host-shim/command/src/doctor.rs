//! `callgate doctor`: looks at everything that is installed, and judges a call through each part of it.

use std::path::{Path, PathBuf};

use callgate_doctor::{Caller, Finding, Guarding, Place, Standing, Unusable, writable_by_others};
use callgate_host::{Document, Gate};
use clap::Args;
use serde_json::json;

use crate::signed::{self, Pinned};
use crate::terminal::{BOLD, DIM, Exit, Failure, GREEN, Out, RED, YELLOW, clean, counted, paint};
use crate::{approvals, program, wrap};

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

impl Doctor {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        if self.stand_in {
            callgate_doctor::serve();
            return Ok(Exit::Allow);
        }
        let place = self.place()?;
        let mut found = own(&place);
        found.extend(callgate_doctor::look(&place, &Written));
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
            state: approvals::folder(None),
            only_look: self.only_look,
        })
    }
}

/// This program and its place.
fn own(place: &Place) -> Vec<Finding> {
    let about = || format!("callgate {}", program::VERSION);
    let shown = place.own.display();
    let mut found = writable_by_others(&about(), &place.own);
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

/// What this command has written.
struct Written;

impl Caller for Written {
    fn guarding(&self, file: &Path) -> Result<Vec<Guarding>, String> {
        wrap::guarding(file).map_err(Failure::told)
    }

    fn beside(&self, file: &Path) -> PathBuf {
        wrap::beside(file)
    }

    fn split(&self, line: &str) -> Option<Vec<String>> {
        wrap::split(line)
    }

    fn documents(&self, bundle: &Path, keys: &[PathBuf]) -> Result<Vec<Document>, Unusable> {
        let is_address = signed::address(bundle).is_some();
        let gate = match keys.is_empty() && !is_address {
            true => Gate::builder().bundle(bundle).build().map_err(Failure::from),
            false => Pinned::by(keys.to_vec()).looked_at(bundle),
        };
        let gate = gate.map_err(|failure| {
            let shown = bundle.display();
            let keys = keys.iter();
            let flags: String = keys
                .map(|key| format!(" --{} {}", signed::BUNDLE_KEY, key.display()))
                .collect();
            let is_refused = matches!(failure, Failure::Refused(_));
            let help = match flags.is_empty() || is_refused || is_address {
                true => format!("`callgate validate --bundle {shown}{flags}` shows each fault with its line"),
                false => format!("`callgate bundle verify {shown}{flags}` says whether it would be used"),
            };
            let why = failure.told();
            Unusable { why, help }
        })?;
        Ok(gate.documents().to_vec())
    }
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
