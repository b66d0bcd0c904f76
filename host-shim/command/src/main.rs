//! The `callgate` command: judges tool calls, explains verdicts, drafts and validates documents, and judges recorded calls
//! again.

mod above;
mod advice;
mod annotate;
mod answers;
mod approvals;
mod asking;
mod audit;
mod bundle;
mod calls;
mod check;
mod counting;
mod diff;
mod doctor;
mod enforce;
mod eval;
mod explain;
mod folder;
mod guard;
mod help;
mod hook;
mod init;
mod lint;
mod logged;
mod map;
mod mcp;
mod pin;
mod program;
mod recording;
mod replace;
mod replay;
mod resolve;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod setup;
mod signed;
mod source;
mod suggest;
mod tally;
#[cfg_attr(not(feature = "otel"), path = "telemetry/absent.rs")]
mod telemetry;
mod terminal;
mod test;
mod tools;
mod validate;
mod watched;
mod wrap;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use terminal::{Color, Exit, Failure, Format, Out};

/// Decides whether an AI agent's tool calls may be made, and says why.
///
/// A call is JSON, `{"serverName": …, "toolName": …, "arguments": {…}}`. It is judged by documents: a policy, the
/// annotations of the tools, and settings such as a sandbox. `callgate init` writes a small set to begin with.
#[derive(Parser)]
#[command(
    name = "callgate",
    version,
    max_term_width = 100,
    after_help = format!("{}\n\n{EXIT_CODES}", help::topics()),
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// How answers are written: human on a terminal and json elsewhere, unless said here
    #[arg(long, global = true, value_name = "FORMAT", help_heading = "Output")]
    format: Option<Format>,
    /// When human answers are coloured
    #[arg(
        long,
        global = true,
        default_value = "auto",
        value_name = "WHEN",
        help_heading = "Output"
    )]
    color: Color,
}

impl Command {
    fn writes_markdown(&self) -> bool {
        matches!(self, Self::Map(_) | Self::Diff(_))
    }
}

const EXIT_CODES: &str = "\
Exit codes: 0 allow or success, 1 fault (a bad flag or call, an unreadable file, a failed case), 2 deny, \
3 escalate, 4 a document that is invalid or cannot be read. For several calls: 1 if a line was not a call or there was none, \
else 2 if a call is denied, else 3 if one escalates, else 0.";

#[derive(Subcommand)]
enum Command {
    Eval(eval::Eval),
    Explain(explain::Explain),
    Validate(validate::Validate),
    Replay(replay::Replay),
    Resolve(resolve::Resolve),
    Enforce(enforce::Enforce),
    Guard(Box<guard::Guard>),
    #[cfg(feature = "serve")]
    Serve(Box<serve::Serve>),
    Hook(hook::Hook),
    Approvals(approvals::Approvals),
    Pin(pin::Pin),
    Bundle(bundle::Bundle),
    Wrap(wrap::Wrap),
    Doctor(doctor::Doctor),
    Audit(audit::Audit),
    Map(map::Map),
    Diff(diff::Diff),
    Check(check::Check),
    Test(test::Test),
    Lint(lint::Lint),
    Suggest(suggest::Suggest),
    Init(init::Init),
    Annotate(annotate::Annotate),
    Schema(schema::SchemaOf),
    Tools(tools::Tools),
    Intersect(tools::Intersect),
    Help(help::Help),
    /// Write the completions for a shell to standard output
    #[command(
        after_help = "For example: callgate completions bash > ~/.local/share/bash-completion/completions/callgate"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the pages of the manual into a folder, one for each command
    #[command(hide = true)]
    Manual {
        /// The folder, which is made
        folder: PathBuf,
    },
}

/// The command line.
fn arguments() -> Vec<std::ffi::OsString> {
    let line: Vec<std::ffi::OsString> = std::env::args_os().collect();
    guard::with_tied_arguments(line, &Cli::command())
}

/// The description of the arguments.
fn command() -> clap::Command {
    help::grouped(Cli::command())
}

fn main() -> ExitCode {
    let parsed = command().try_get_matches_from(arguments());
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to hear that this could not be printed.
            let _ = error.print();
            if error.use_stderr() && is_hook() {
                // An agent takes any other code for leave to go on.
                return ExitCode::from(2);
            }
            return if error.use_stderr() {
                Exit::Fault
            } else {
                Exit::Allow
            }
            .into();
        }
    };
    cli.color.choose();
    if cli.format == Some(Format::Md) && !cli.command.writes_markdown() {
        let why = "only map and diff answer in Markdown, expected `--format human` or `--format json`";
        return Failure::Fault(why.to_owned()).report().into();
    }
    if let Command::Hook(hook) = &cli.command
        && let Some(code) = hook.answered()
    {
        return code;
    }
    let mut out = Out::new(cli.format);
    let done = match cli.command {
        Command::Eval(eval) => eval.run(&mut out),
        Command::Explain(explain) => explain.run(&mut out),
        Command::Validate(validate) => validate.run(&mut out),
        Command::Replay(replay) => replay.run(cli.format, &mut out),
        Command::Resolve(resolve) => resolve.run(&mut out),
        Command::Enforce(enforce) => enforce.run(&mut out),
        Command::Approvals(approvals) => approvals.run(&mut out),
        Command::Pin(pin) => pin.run(&mut out),
        Command::Bundle(bundle) => bundle.run(&mut out),
        Command::Wrap(wrap) => wrap.run(&mut out),
        Command::Doctor(doctor) => doctor.run(&mut out),
        Command::Audit(audit) => audit.run(&mut out),
        Command::Hook(hook) => hook.run(&mut out),
        Command::Guard(guard) => return guard.run().unwrap_or_else(|failure| failure.report().into()),
        #[cfg(feature = "serve")]
        Command::Serve(serve) => return serve.run().unwrap_or_else(|failure| failure.report().into()),
        Command::Map(map) => map.run(&mut out),
        Command::Diff(diff) => diff.run(&mut out),
        Command::Check(check) => check.run(&mut out),
        Command::Test(test) => test.run(&mut out),
        Command::Lint(lint) => lint.run(&mut out),
        Command::Suggest(suggest) => suggest.run(&mut out),
        Command::Init(init) => init.run(&mut out),
        Command::Annotate(annotate) => annotate.run(cli.format, &mut out),
        Command::Schema(schema) => schema.run(&mut out),
        Command::Tools(tools) => tools.run(&mut out),
        Command::Intersect(intersect) => intersect.run(&mut out),
        Command::Help(help) => help.run(command(), &mut out),
        Command::Completions { shell } => completions(shell, &mut out),
        Command::Manual { folder } => manual(&folder),
    };
    done.unwrap_or_else(|failure| failure.report()).into()
}

/// Returns `true` if an agent asks, whatever is wrong with the arguments.
fn is_hook() -> bool {
    let mut words = std::env::args_os().skip(1);
    words.any(|word| word == "hook") && words.all(|word| word != "install")
}

fn completions(shell: Shell, out: &mut Out) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "callgate", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Allow)
}

fn manual(folder: &Path) -> Result<Exit, Failure> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command(), folder));
    written.map_err(|error| Failure::Fault(format!("`{}` cannot be written: {error}", folder.display())))?;
    Ok(Exit::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_described_without_contradiction() {
        command().debug_assert();
    }
}
