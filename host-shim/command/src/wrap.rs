//! `callgate wrap`: the guard before every server of an agent's configuration.

mod annotated;
mod arguments;
mod configured;
mod edit;
mod entries;
mod kept;
mod server;
mod shared;
mod standing;
mod toml;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::above::{Above, Upper};
use crate::folder::in_folder;
use crate::program;
use crate::replace::{read_file, replace, replace_secret};
use crate::signed::{self, Pinned};
use crate::terminal::{BOLD, DIM, Exit, Failure, Out, YELLOW, clean, paint};
use annotated::Annotated;
use arguments::Arguments;
use clap::Args;
pub(crate) use configured::{configured, guarding};
use kept::{FORMAT, Kept};
pub(crate) use server::split;
use server::{DIFFERS, Guarded, NOT_ASKED_FOR, Plan, Server, Unwrapped, Wrapped};
use shared::Project;

/// Put the guard before every server of an agent's configuration
///
/// Reads `mcp.json` as agents have it (`mcpServers`, `servers` or `mcp`), comments included, `~/.claude.json` with the servers
/// of its projects, or a `.toml` file with `mcp_servers`, and changes the command of each server that is started as a program,
/// and the entry of each that has an address. A server of which the bundle annotates nothing stays as it is, unless --anyway says
/// otherwise. Nothing else of the file changes. What was there is kept beside it, in
/// FILE.callgate; --undo brings it back byte for byte, or takes the guards alone out of a file that was changed since.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Wrap {
    /// The agent's configuration
    file: PathBuf,
    /// The bundle that the guards judge by, or the folder of one called callgate.json
    #[arg(long, short, value_name = "FILE", default_value = "callgate.json")]
    bundle: PathBuf,
    #[command(flatten)]
    pinned: Pinned,
    #[command(flatten)]
    above: Above,
    /// Write each decision to this file
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Only these servers; may be repeated
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// Judge and log, but enforce nothing
    #[arg(long, requires = "audit")]
    observe: bool,
    /// Have the guards ask a person about calls that escalate, and wait so many seconds for an answer; without it they are denied
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    ask: Option<u64>,
    /// Put the guard before servers of which the bundle annotates nothing too: they list no tool then
    #[arg(long)]
    anyway: bool,
    /// Write entries that a team can commit: `callgate` is found in the PATH, and the bundle from the project's folder, which the
    /// configuration is in
    #[arg(long)]
    shared: bool,
    /// Take the guard away again
    #[arg(long, conflicts_with_all = ["server", "observe", "audit", "ask", "shared"])]
    undo: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = "\
For example:
  callgate wrap .mcp.json --bundle callgate.json --audit ~/.local/state/callgate.jsonl
  callgate wrap .vscode/mcp.json --shared
  callgate wrap ~/.codex/config.toml --ask 120
  callgate wrap .mcp.json --undo";

impl Wrap {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let text = read(&self.file)?;
        match self.undo {
            true => self.undo(&text, out),
            false => self.wrap(text, out),
        }
    }

    fn wrap(&self, text: String, out: &mut Out) -> Result<Exit, Failure> {
        let place = self.file.display();
        let fault = |reason: String| Failure::Invalid(format!("{place}: {reason}"));
        let arguments = self.arguments()?;
        let (before, text, is_changed) = match self.kept()? {
            Some(kept) => {
                let file = self.name_in(&kept.after)?;
                let is_whole = kept.after == text;
                match is_whole && self.has_only(&text, &file, &arguments.program)? {
                    true => (self.believed(kept, &file)?, text, false),
                    false => {
                        let (before, text) = self.written_anew(&text, kept, &file, &arguments.program)?;
                        (before, text, true)
                    }
                }
            }
            None => (text.clone(), text, false),
        };
        let annotated = self.annotated()?;
        let plan = |server: &Server<'_>| {
            let is_meant = self.server.is_empty() || self.server.iter().any(|name| name == server.name);
            match arguments.plan(server) {
                Plan::Guard(_) if !is_meant => Plan::Leave(NOT_ASKED_FOR.into()),
                Plan::Guard(_) if !self.anyway && !self.observe => match annotated.why_not(server.name) {
                    Some(reason) => Plan::Leave(reason.into()),
                    None => arguments.plan(server),
                },
                plan => plan,
            }
        };
        let wrapped = self.wrapped(&text, plan).map_err(fault)?;
        for name in &self.server {
            if !wrapped.names.contains(name) {
                return Err(fault(format!("has no server `{name}`")));
            }
        }
        if self.dry_run {
            out.text(&wrapped.text)?;
            return Ok(Exit::Allow);
        }
        if is_changed || !wrapped.changed.is_empty() {
            self.keep(before, &wrapped.text)?;
            write(&self.file, &wrapped.text)?;
        }
        self.report(&wrapped, out)
    }

    fn wrapped(&self, text: &str, plan: impl FnMut(&Server<'_>) -> Plan) -> Result<Wrapped, String> {
        match self.is_toml() {
            true => toml::wrap(text, plan),
            false => edit::wrap(text, plan),
        }
    }

    fn is_toml(&self) -> bool {
        self.file.extension().is_some_and(|extension| extension == "toml")
    }

    fn unwrapped(&self, text: &str, kept: &Kept, file: &str) -> Result<Unwrapped, Failure> {
        let guard_of = |server: &Server<'_>| Arguments::guard_of(server, file).map(<[String]>::to_vec);
        let unwrapped = match self.is_toml() {
            true => toml::unwrap(text, &kept.before, guard_of),
            false => edit::unwrap(text, &kept.before, guard_of),
        };
        let fault = |reason| Failure::Invalid(format!("{}: {reason}", self.file.display()));
        let unwrapped = unwrapped.map_err(fault)?;
        // What is kept is the only way back while a guard stands.
        let mut stuck = unwrapped.stuck.clone();
        if stuck.is_empty() {
            stuck = standing::standing(&kept.before, &unwrapped.text, |text, plan| {
                self.wrapped(text, plan)
            })
            .map_err(fault)?;
        }
        match stuck.is_empty() {
            true => Ok(unwrapped),
            false => Err(self.stuck(&stuck)),
        }
    }

    /// Returns `true` if every guard of this file is the program.
    fn has_only(&self, text: &str, file: &str, program: &str) -> Result<bool, Failure> {
        let mut is_other = false;
        let look = |server: &Server<'_>| {
            let guard = Arguments::guard_of(server, file);
            is_other |= guard
                .and_then(<[String]>::first)
                .is_some_and(|word| word != program);
            Plan::Leave(NOT_ASKED_FOR.into())
        };
        let looked = self.wrapped(text, look);
        looked.map_err(|reason| Failure::Invalid(format!("{}: {reason}", self.file.display())))?;
        Ok(!is_other)
    }

    /// A text that was changed since it was wrapped, or by another program than this, without the guards of this file and with them,
    /// as they are written here.
    fn written_anew(
        &self,
        text: &str,
        kept: Kept,
        file: &str,
        program: &str,
    ) -> Result<(String, String), Failure> {
        let unwrapped = self.unwrapped(text, &kept, file)?;
        let before = match kept.after == text {
            true => self.believed(kept, file)?,
            false => unwrapped.text,
        };
        let mut guards = unwrapped.guards.into_iter();
        let plan = |server: &Server<'_>| match guards.next().flatten() {
            Some(mut guard) => {
                if let Some(first) = guard.first_mut() {
                    program.clone_into(first);
                }
                Plan::Guard(Guarded::before(&server.way, guard))
            }
            None => Plan::Leave(NOT_ASKED_FOR.into()),
        };
        let again = self
            .wrapped(&before, plan)
            .map_err(|reason| Failure::Invalid(format!("{}: {reason}", self.file.display())))?;
        Ok((before, again.text))
    }

    fn stuck(&self, stuck: &[String]) -> Failure {
        Failure::Helped {
            message: format!(
                "{}: the guard cannot be taken from the entry of `{}`, which was changed since",
                self.file.display(),
                stuck.join("`, `")
            ),
            help: format!(
                "change it back, or take the guard away by hand; the entry that was there is in the member `before` of `{}`",
                self.beside().display()
            ),
        }
    }

    /// The text that was there, if what is kept is what wrapping kept.
    fn believed(&self, kept: Kept, file: &str) -> Result<String, Failure> {
        match kept.check(file, |text, plan| self.wrapped(text, plan)) {
            Ok(()) => Ok(kept.before),
            Err(reason) => Err(Failure::Helped {
                message: format!(
                    "the member `before` of `{}` is not what was in `{}` before the guard came: {reason}",
                    self.beside().display(),
                    self.file.display()
                ),
                help: format!(
                    "expected the same text without the guards that have `--wrapped {file}`; undo them by hand, and remove `{}`",
                    self.beside().display()
                ),
            }),
        }
    }

    fn report(&self, wrapped: &Wrapped, out: &mut Out) -> Result<Exit, Failure> {
        if !out.human {
            let differing = wrapped
                .differing
                .iter()
                .map(|name| (name.clone(), DIFFERS.into()));
            let left: Vec<_> = differing.chain(wrapped.left.iter().cloned()).collect();
            out.json(
                &serde_json::json!({"wrapped": wrapped.changed, "already": wrapped.already, "left": left}),
            )?;
            return Ok(Exit::Allow);
        }
        let observes = match self.observe {
            true => ", and only observes: nothing is enforced",
            false => "",
        };
        for name in &wrapped.changed {
            let name = paint(BOLD, &clean(name));
            out.line(&format!("{name}: the guard is before it{observes}"))?;
        }
        for name in &wrapped.already {
            let already = format!("the guard was before it already{observes}");
            out.line(&format!("{}: {}", clean(name), paint(DIM, &already)))?;
        }
        for name in &wrapped.differing {
            out.line(&format!("{}: {}", clean(name), paint(YELLOW, DIFFERS)))?;
        }
        for (name, reason) in &wrapped.left {
            out.line(&format!(
                "{}: {}: {}",
                clean(name),
                paint(YELLOW, "not guarded"),
                clean(reason)
            ))?;
        }
        if self.shared && !wrapped.changed.is_empty() {
            let kept = self.beside();
            out.line(&paint(DIM, &clean(&format!(
                "Whoever uses it needs `callgate` in the PATH. `{}` may hold secrets: keep it out of the repository.",
                kept.display()
            ))))?;
        }
        Ok(Exit::Allow)
    }

    fn undo(&self, text: &str, out: &mut Out) -> Result<Exit, Failure> {
        let place = self.file.display();
        let Some(kept) = self.kept()? else {
            return Err(Failure::Helped {
                message: format!(
                    "there is no `{}`, in which `callgate wrap` keeps what was there",
                    self.beside().display()
                ),
                help: "expected a file that was wrapped".to_owned(),
            });
        };
        let file = self.name_in(&kept.after)?;
        let is_changed = kept.after != text;
        let before = if is_changed {
            self.unwrapped(text, &kept, &file)?.text
        } else {
            self.believed(kept, &file)?
        };
        if self.dry_run {
            out.text(&before)?;
            return Ok(Exit::Allow);
        }
        write(&self.file, &before)?;
        fs::remove_file(self.beside()).map_err(|error| {
            Failure::Fault(format!("cannot remove `{}`: {error}", self.beside().display()))
        })?;
        if out.human {
            let state = match is_changed {
                true => "has no guard any more, and what was changed since",
                false => "is as it was",
            };
            out.line(&format!("`{}` {state}", clean(&place.to_string())))?;
        } else {
            out.json(&serde_json::json!({"restored": self.file}))?;
        }
        Ok(Exit::Allow)
    }

    /// The servers of which the bundle annotates a tool, or which it trusts, as far as those above let it.
    fn annotated(&self) -> Result<Annotated, Failure> {
        let mut builder = match signed::address(&self.bundle) {
            Some(_) => self.pinned.looked_for(&self.bundle)?,
            None => self.pinned.looked_for(&in_folder(&self.bundle)?)?,
        };
        for Upper { bundle, pinned } in self.above.layers(self.pinned.seconds())? {
            let gate = pinned.looked_for(&bundle)?.upper().build()?;
            builder = builder.above(Arc::new(gate));
        }
        Annotated::of(&builder.build()?).map_err(Failure::Fault)
    }

    fn arguments(&self) -> Result<Arguments, Failure> {
        let address = signed::address(&self.bundle);
        if address.is_none() && !self.bundle.exists() {
            return Err(Failure::Helped {
                message: format!("there is no `{}`", self.bundle.display()),
                help: format!(
                    "`callgate init --from {}` writes one for its servers",
                    self.file.display()
                ),
            });
        }
        let named = |file: &Path| match self.shared {
            true => self.named_in_project(file),
            false => utf8(file),
        };
        let above = self.above.flags(|file| match signed::address(file) {
            Some(address) => Ok(address.to_owned()),
            None => named(file),
        })?;
        Ok(Arguments {
            program: match self.shared {
                true => "callgate".to_owned(),
                false => utf8(&program::lasting(!self.dry_run)?)?,
            },
            bundle: match address {
                Some(address) => address.to_owned(),
                None => named(&in_folder(&self.bundle)?)?,
            },
            pinned: [self.pinned.flags(named)?, above].concat(),
            audit: self.audit.as_deref().map(named).transpose()?,
            observe: self.observe,
            ask: self.ask,
            wrapped: named(&place(&self.file)?)?,
        })
    }

    /// A file of the project by the name that it has in the configuration, wherever the project is.
    fn named_in_project(&self, file: &Path) -> Result<String, Failure> {
        let project = Project::of(&place(&self.file)?).filter(|project| !project.is_home());
        let named = project.and_then(|project| project.named(&place(file).ok()?));
        named.ok_or_else(|| Failure::Helped {
            message: format!(
                "`{}` is not in the project of `{}`",
                file.display(),
                self.file.display()
            ),
            help: "expected a configuration in a project, with everything that it names beside or below it; without --shared it names \
                   places of this machine"
                .to_owned(),
        })
    }

    /// The name of the configuration in the guards that were put into it.
    fn name_in(&self, text: &str) -> Result<String, Failure> {
        let file = place(&self.file)?;
        let shared = Project::of(&file).and_then(|project| project.named(&file));
        let is_there = |name: &String| text.contains(&serde_json::Value::from(name.as_str()).to_string());
        match shared.filter(is_there) {
            Some(name) => Ok(name),
            None => utf8(&file),
        }
    }

    fn beside(&self) -> PathBuf {
        beside(&self.file)
    }

    fn kept(&self) -> Result<Option<Kept>, Failure> {
        let beside = self.beside();
        if fs::symlink_metadata(&beside).is_err() {
            return Ok(None);
        }
        let kept: Result<Kept, _> = serde_json::from_str(&read(&beside)?);
        match kept {
            Ok(kept) if kept.format == FORMAT => Ok(Some(kept)),
            Ok(_) | Err(_) => Err(Failure::Invalid(format!(
                "{}: expected what `callgate wrap` keeps (`{FORMAT}`)",
                beside.display()
            ))),
        }
    }

    fn keep(&self, before: String, after: &str) -> Result<(), Failure> {
        let kept = Kept {
            format: FORMAT.to_owned(),
            before,
            after: after.to_owned(),
        };
        let text = serde_json::to_string(&kept).map_err(|error| Failure::Fault(error.to_string()))?;
        // Environments and headers of servers hold secrets.
        replace_secret(&self.beside(), &text)
            .map_err(|error| Failure::Fault(format!("cannot write `{}`: {error}", self.beside().display())))
    }
}

/// A file by the one name that it has, from wherever it is named. A link stays one.
fn place(file: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(file).map_err(|error| Failure::Fault(error.to_string()))?;
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(Failure::Fault(format!("`{}` is not a file", file.display())));
    };
    let folder = folder
        .canonicalize()
        .map_err(|error| Failure::Fault(format!("cannot use `{}`: {error}", folder.display())))?;
    Ok(folder.join(name))
}

/// The file in which is kept what was in a configuration before the guard came.
pub(crate) fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".callgate");
    PathBuf::from(name)
}

/// A pattern of the files that a configuration is written to before it takes its place.
pub(crate) fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".*.new.callgate");
    PathBuf::from(name)
}

fn utf8(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|error| Failure::Fault(error.to_string()))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| Failure::Fault(format!("the path `{}` is not UTF-8", path.display())))
}

fn read(file: &Path) -> Result<String, Failure> {
    read_file(file).map_err(|error| Failure::Fault(format!("cannot read `{}`: {error}", file.display())))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    replace(file, text).map_err(|error| Failure::Fault(format!("cannot write `{}`: {error}", file.display())))
}
