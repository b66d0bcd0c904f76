//! `callgate hook`: judges what a coding agent is about to do.

mod deadline;
mod install;
mod project;

use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use callgate_guard::Queue;
use callgate_hook::{Agent, HookAnswer, HookCall, HookOptions, fault};
use callgate_host::{BUNDLE_FILE, GateBuilder};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::approvals;
use crate::counting::Counting;
use crate::setup::Setup;
use crate::terminal::{Exit, Failure, Out};
use crate::watched::check_name;

/// The exit code that denies a call with every agent.
const DENIES: u8 = 2;

/// Bytes of the longest question that is read.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// Judge what a coding agent is about to do, as its permission hook
///
/// Reads what the agent writes to its hooks and answers as it wants it. The agent's own tools are annotated here; those of MCP
/// servers are judged by the names of their servers. If anything goes wrong the call is denied. `callgate hook install` adds
/// the hook to the agent's settings.
#[derive(Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Hook {
    #[command(subcommand)]
    what: Option<What>,
    /// The agent that runs the hook
    #[arg(required = true, value_parser = agents())]
    agent: Option<&'static Agent>,
    /// Write each decision to this file, as the guard does; if it cannot be written, nothing is allowed
    #[arg(long, alias = "log", value_name = "FILE")]
    audit: Option<PathBuf>,
    /// The person or the service that the agent acts for, for rules that look at it (`if.context`)
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// An MCP server that the agent has; may be repeated. Without any, a tool's name is read in every way, and the strictest
    /// verdict stands
    #[arg(long, value_name = "NAME")]
    mcp_server: Vec<String>,
    /// Judge by the `callgate.json` of the project that the agent is in, and by --bundle where it has none. The project is the
    /// outermost repository around the agent's directory; no call touches a file of that name
    #[arg(long)]
    per_project: bool,
    /// For Cursor's preToolUse: leave MCP tools to beforeMCPExecution, which is hooked too and says which server is meant
    #[arg(long)]
    leave_execution: bool,
    /// Ask a person whom the agent does not ask, by `callgate approvals`, and wait so many seconds for an answer
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    ask: Option<u64>,
    /// Where questions and approvals are, and what is counted [default: $XDG_STATE_HOME/callgate or ~/.local/state/callgate]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    counting: Counting,
    /// Trust the agent to ask a person. Cursor, Copilot CLI with --allow-all-tools, and Claude Code in the modes auto,
    /// bypassPermissions and dontAsk are known to run at once what they were to ask about, so it is denied without this
    #[arg(long)]
    trust_ask: bool,
    /// The process that waits for this one and answers in time
    #[arg(long = deadline::JUDGING_FOR, value_name = "PROCESS", hide = true)]
    judging_for: Option<i32>,
    #[command(flatten)]
    setup: Setup,
}

#[derive(Subcommand)]
enum What {
    Install(Box<install::Install>),
    Uninstall(install::Uninstall),
}

const EXAMPLES: &str = "\
Examples:
  callgate hook install claude-code --bundle callgate.json            (shows what would be written)
  callgate hook install claude-code --bundle callgate.json --write    (the project's settings; --user: the user's)
  callgate hook install claude-code --user --per-project --bundle ~/.config/callgate/callgate.json --write
  callgate hook uninstall claude-code --write
  callgate hook codex --bundle /home/u/callgate.json < question.json

Exit codes: 0 the answer is on standard output, 2 the call is denied.";

fn agents() -> impl TypedValueParser<Value = &'static Agent> {
    let names = Agent::ALL.iter().map(|agent| agent.as_str());
    PossibleValuesParser::new(names).try_map(|name| Agent::named(&name).ok_or("no such agent"))
}

impl Hook {
    /// Answers an agent; `None` if the command is about an agent's settings.
    pub(crate) fn answered(&self) -> Option<ExitCode> {
        let agent = self.agent.filter(|_| self.what.is_none())?;
        let Some(process) = self.judging_for else {
            let patience = deadline::PATIENCE + Duration::from_secs(self.ask.unwrap_or_default());
            return Some(deadline::answer(agent, patience));
        };
        deadline::end_after(process);
        Some(self.judge(agent).into())
    }

    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        match &self.what {
            Some(What::Install(install)) => install.run(out),
            Some(What::Uninstall(uninstall)) => uninstall.run(out),
            None => Err(Failure::Fault("there is no agent".to_owned())),
        }
    }

    fn judge(&self, agent: &'static Agent) -> u8 {
        // The answer tells the failure.
        std::panic::set_hook(Box::new(|_| {}));
        let mut input = String::new();
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(agent, &mut input)));
        let answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(failure)) => fault(agent, &input, &why(&failure)),
            Err(_) => fault(agent, &input, "the hook failed"),
        };
        let _ = io::stderr().write_all(answer.stderr.as_bytes());
        let mut stdout = io::stdout().lock();
        let said = stdout
            .write_all(answer.stdout.as_bytes())
            .and_then(|()| stdout.flush());
        match said {
            Ok(()) => answer.code,
            Err(_) => DENIES,
        }
    }

    fn answer(&self, agent: &'static Agent, input: &mut String) -> Result<HookAnswer, Failure> {
        self.setup.check_absolute()?;
        check_name("--subject", self.subject.as_deref())?;
        let most = io::stdin().take(MOST_BYTES + 1).read_to_string(input);
        let read = most.map_err(|error| Failure::Fault(format!("the agent's question: {error}")))?;
        if read as u64 > MOST_BYTES {
            return Err(Failure::Fault(format!(
                "the agent's question has more than {MOST_BYTES} bytes"
            )));
        }
        let options = HookOptions {
            servers: self.mcp_server.clone(),
            subject: self.subject.clone(),
            counts: self.counting.counts(self.state.as_deref())?,
            audit: self.audit.clone(),
            queue: self.queue()?,
            leaves_execution: self.leave_execution,
            trusts_ask: self.trust_ask,
            started_in: std::env::current_dir()
                .ok()
                .and_then(|directory| directory.to_str().map(str::to_owned)),
        };
        let call = HookCall::read(agent, input, &options).map_err(Failure::Fault)?;
        std::env::set_current_dir(call.directory()).map_err(|error| {
            Failure::Fault(format!("the agent's directory `{}`: {error}", call.directory()))
        })?;
        let own = self
            .per_project
            .then(|| project::bundle(agent, call.directory()))
            .flatten();
        let setup = own.map_or_else(|| self.setup.clone(), |bundle| self.setup.by_bundle(bundle));
        let gate = setup.build(&|builder| self.protecting(call.added_to(setup.protecting(builder)?)))?;
        Ok(call.answer(&gate, &options))
    }

    /// Adds what a hook has and nobody may write.
    fn protecting(&self, mut builder: GateBuilder) -> Result<GateBuilder, Failure> {
        if self.per_project {
            builder = builder.protect_writes(format!("**/{BUNDLE_FILE}"));
        }
        let state = approvals::folder(self.state.as_deref());
        for path in self.audit.iter().chain(&state) {
            match path.to_str() {
                Some(path) if path.starts_with('/') => builder = builder.protect(path),
                Some(_) | None => {
                    return Err(Failure::Fault(format!(
                        "the path `{}`, expected an absolute one in UTF-8",
                        path.display()
                    )));
                }
            }
        }
        Ok(builder)
    }

    fn queue(&self) -> Result<Option<(Queue, Duration)>, Failure> {
        let Some(seconds) = self.ask else { return Ok(None) };
        let queue = approvals::queue(self.state.as_deref())?;
        Ok(Some((queue, Duration::from_secs(seconds))))
    }
}

fn why(failure: &Failure) -> String {
    match failure {
        Failure::Refused(_) => "the documents are refused, `callgate validate` says why".to_owned(),
        failure => failure.message().to_owned(),
    }
}
