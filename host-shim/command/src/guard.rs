//! `callgate guard`: the gate in front of an MCP server.

pub(crate) mod http;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use callgate_guard::http::Behind;
use callgate_guard::{Asking, Caller, Ended, GuardOptions, Pins, Program};
use callgate_host::Gate;
use clap::Args;

use crate::counting::Counting;
use crate::setup::Setup;
use crate::telemetry::Collector;
use crate::terminal::Failure;
use crate::watched::{
    Running, Watched, absolute, check_context, check_name, outlive_full_disks, protecting, renew, tell,
};
use crate::{approvals, pin, wrap};

/// Stand in front of an MCP server: every tool call is judged before the server sees it
///
/// Speaks MCP on its own standard input and output, or over HTTP with --listen, starts the server or speaks to it over HTTP
/// with --url, and passes messages on. A call that is not allowed is answered with an error that names the rule and the
/// reason. The documents are read again when they change; they, and the log, are protected paths.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Guard {
    #[command(flatten)]
    setup: Setup,
    /// The name of the server in the policy and the annotations
    #[arg(long, value_name = "NAME")]
    server: String,
    /// Ask a person about calls that escalate, by `callgate approvals` and by a form of the client where it has them, and wait
    /// so many seconds for an answer
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    ask: Option<u64>,
    /// Run this program, with what follows up to `--` or a flag of the guard as its arguments, for each question too: it gets the
    /// question as JSON, and answers `once`, `session`, `always` or `deny`
    #[arg(long = ASK_COMMAND, value_name = "PROGRAM", num_args = 1.., requires = "ask")]
    ask_command: Option<Vec<OsString>>,
    /// Do not have the client show questions as forms (MCP's elicitation), which it does where it can
    #[arg(long, requires = "ask")]
    ask_without_forms: bool,
    /// Where questions and approvals are, and what is counted [default: $XDG_STATE_HOME/callgate or ~/.local/state/callgate]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    counting: Counting,
    /// The lock file of `callgate pin`: tools that it does not have, or not like this, are held back
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Write each decision to this file, one JSON line each; if it cannot be written, nothing is allowed
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    collector: Collector,
    /// The agent's configuration that `callgate wrap` has put this guard into: no call may touch it, or what is kept beside it
    #[arg(long, value_name = "FILE")]
    wrapped: Option<PathBuf>,
    /// Judge and log, but enforce nothing
    #[arg(long, requires = "audit")]
    observe: bool,
    /// Answer requests for anything but tools (resources, prompts, completions) with an error: no rule decides about them
    #[arg(long)]
    only_tools: bool,
    /// The context of every call, an object such as '{"mode": "dev", "command": "read"}'
    #[arg(long, value_name = "JSON")]
    context: Option<String>,
    /// The person or the service that makes every call, for rules that look at it (`if.context`)
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// The program that makes every call, for rules that look at it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The directory that the server's container calls its workspace; paths under it are moved onto the sandbox
    #[arg(long, value_name = "DIR")]
    container_workspace_dir: Option<String>,
    #[command(flatten)]
    http: http::Http,
    /// The program that is the server, and its arguments
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = http::ADDRESS,
        conflicts_with = http::ADDRESS
    )]
    command: Vec<OsString>,
}

const ASK_COMMAND: &str = "ask-command";

const EXAMPLES: &str = "\
Examples:
  callgate guard --server filesystem -- npx -y @modelcontextprotocol/server-filesystem /srv/app
  callgate guard --bundle conf/callgate.json --server git --audit ~/.local/state/callgate.jsonl -- mcp-server-git
  callgate guard --server docs --url https://example.com/mcp --token-env DOCS_TOKEN
  callgate guard --server git --listen 8642 -- mcp-server-git

Exit codes: 0 the client has left, 1 fault (a bad flag, a server that cannot be started or ended by itself), \
4 a document that is invalid or cannot be read. A signal ends the guard with 128 and its number.";

/// The command line with the arguments of `--ask-command` tied to it, each by itself: they may begin with a hyphen, and a flag of
/// the guard among them is the guard's.
pub(crate) fn with_tied_arguments(line: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    let guard = command.find_subcommand("guard");
    let own = |given: &str| {
        let name = given.strip_prefix("--").and_then(|given| given.split('=').next());
        let known = guard
            .into_iter()
            .chain([command])
            .flat_map(clap::Command::get_arguments);
        name.is_some_and(|name| {
            name.is_empty() || known.into_iter().any(|known| known.get_long() == Some(name))
        })
    };
    let is_guard = line.iter().any(|given| given == "guard");
    let (mut follows, mut is_over) = (None, !is_guard);
    let mut tied = Vec::with_capacity(line.len());
    for given in line {
        let text = given.to_str().unwrap_or_default();
        is_over |= text == "--";
        if text == "--ask-command" && !is_over {
            follows = Some(0);
        } else if own(text) || is_over {
            follows = None;
        } else if let Some(count) = &mut follows {
            *count += 1;
            if *count > 1 {
                let mut one = OsString::from(format!("--{ASK_COMMAND}="));
                one.push(&given);
                tied.push(one);
                continue;
            }
        }
        tied.push(given);
    }
    tied
}

impl Guard {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        check_context(self.context.as_deref())?;
        check_name("--subject", self.subject.as_deref())?;
        check_name("--agent", self.agent.as_deref())?;
        outlive_full_disks()?;
        let begun = SystemTime::now();
        let gate = self.gate()?;
        let mut watched = Watched::new(&self.setup, &gate, self.lock.iter(), begun)?;
        let options = GuardOptions {
            server: self.server.clone(),
            pins: self.pins()?,
            asking: self.asking()?,
            audit: self.audit.clone(),
            observe: self.observe,
            only_tools: self.only_tools,
            context: self.context.clone(),
            caller: Caller {
                subject: self.subject.clone(),
                agent: self.agent.clone(),
                session: None,
            },
            counts: self.counting.counts(self.state.as_deref())?,
            // Clients show this in their logs.
            warn: tell,
            container_workspace_dir: self.container_workspace_dir.clone(),
        };
        let guard = callgate_guard::Guard::new(gate, options).map_err(|error| {
            let log = self
                .audit
                .as_deref()
                .unwrap_or(std::path::Path::new(""))
                .display();
            Failure::Fault(format!("cannot write the log `{log}`: {error}"))
        })?;
        let guard = self.collector.added_to(guard)?;
        if self.observe {
            tell(&format!(
                "{}: only observing: NOTHING IS ENFORCED, every call is forwarded",
                self.server
            ));
        }
        let guard = Arc::new(guard);
        let running = self.running(Arc::clone(&guard))?;
        let renewed = Arc::clone(&guard);
        renew(&self.setup, self.own_files()?, move |why| {
            renewed.reload_refused(why);
        });
        let ended = watched.until(running, || self.reload(&guard), |reason| guard.expire(reason))?;
        self.exit(ended)
    }

    /// Relays messages between client and server until one of them leaves.
    fn running(&self, guard: Arc<callgate_guard::Guard>) -> Result<Running<Ended>, Failure> {
        let program = self.command.split_first().map(|(command, arguments)| Program {
            command: command.clone(),
            arguments: arguments.to_vec(),
        });
        let listening = self.http.listening()?;
        let remote = self.http.remote()?.map(|remote| Behind::Url(Box::new(remote)));
        let behind = remote.or(program.map(Behind::Program));
        let behind = behind.ok_or_else(|| Failure::Fault("there is no command after `--`".to_owned()))?;
        Ok(match (listening, behind) {
            (Some(listening), behind) => {
                if self.http.is_open() {
                    tell("whoever reaches this machine may call tools: --client-token-env asks for a token");
                }
                let server = self.server.clone();
                let ready = move |address| tell(&format!("{server}: listening on http://{address}/mcp"));
                Box::new(move || {
                    let ended = guard.run_listening(listening, behind, ready);
                    ended.map_err(|error| error.to_string())
                })
            }
            (None, Behind::Url(remote)) => {
                Box::new(move || guard.run_remote(*remote).map_err(|error| error.to_string()))
            }
            (None, Behind::Program(program)) => {
                Box::new(move || guard.run_stdio(&program).map_err(|error| error.to_string()))
            }
        })
    }

    fn gate(&self) -> Result<Gate, Failure> {
        let own = self.own_files()?;
        self.setup
            .build(&|builder| protecting(&self.setup, &own, builder))
    }

    /// What this guard has and nobody may write, as absolute paths.
    fn own_files(&self) -> Result<Vec<String>, Failure> {
        // Whoever writes there approves calls, also those of other guards; and so does who writes the program that asks, or a
        // script that it runs.
        let state = approvals::folder(self.state.as_deref());
        let asks = self.ask_command.iter().flatten().enumerate();
        let asks = asks.map(|(at, word)| (at, PathBuf::from(word)));
        let asks = asks.filter(|(at, file)| (*at == 0 && file.components().count() > 1) || file.is_file());
        let asks: Vec<PathBuf> = asks.map(|(_, file)| file).collect();
        // Whoever writes the configuration, or what is put back in its place, takes the guard away.
        let wrapped = self.wrapped.iter().cloned();
        let wrapped: Vec<PathBuf> = wrapped
            .flat_map(|file| [wrap::beside(&file), wrap::unfinished(&file), file])
            .collect();
        let files = self.audit.iter().chain(&self.lock).chain(&state);
        absolute(files.chain(&asks).chain(&wrapped))
    }

    fn asking(&self) -> Result<Option<Asking>, Failure> {
        let Some(seconds) = self.ask else { return Ok(None) };
        let queue = approvals::queue(self.state.as_deref())?;
        Ok(Some(Asking {
            queue,
            patience: Duration::from_secs(seconds),
            forms: !self.ask_without_forms,
            command: self.ask_command.clone(),
        }))
    }

    fn pins(&self) -> Result<Option<Pins>, Failure> {
        let Some(file) = &self.lock else { return Ok(None) };
        Ok(Some(pin::read(file)?.unwrap_or_default().pins(&self.server)))
    }

    /// Judges by the documents as they are now, all or nothing; `false` if the old ones stay.
    fn reload(&self, guard: &callgate_guard::Guard) -> bool {
        let read = self.pins().and_then(|pins| Ok((self.gate()?, pins)));
        let reloaded = match read {
            Ok((gate, pins)) => {
                let reloaded = guard.reload(gate, pins);
                reloaded.map_err(|error| format!("the log cannot be written: {error}"))
            }
            Err(failure) => Err(failure.told()),
        };
        if let Err(reason) = &reloaded {
            guard.reload_refused(reason);
        }
        reloaded.is_ok()
    }

    fn exit(&self, ended: Ended) -> Result<ExitCode, Failure> {
        match ended {
            Ended::ClientLeft => Ok(ExitCode::SUCCESS),
            Ended::Signal(signal) => Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))),
            Ended::ServerLeft(status) => Err(Failure::Fault(format!(
                "{}: the server has ended: {status}",
                self.server
            ))),
        }
    }
}
