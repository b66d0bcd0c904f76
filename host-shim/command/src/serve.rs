//! `callgate serve`: verdicts for proxies and gateways.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use callgate_guard::Asking;
use callgate_host::Gate;
use callgate_serve::{Address, Identity, Listening, Service, ServiceOptions, Tokens};
use clap::Args;

use crate::approvals;
use crate::counting::Counting;
use crate::guard::http::{address_of, fault, hosts_of, variable_of};
use crate::setup::Setup;
use crate::terminal::Failure;
use crate::watched::{Watched, absolute, check_context, outlive_full_disks, protecting, renew, tell};

/// Answer proxies and gateways that stand before MCP servers: what becomes of each message
///
/// A proxy asks over gRPC or HTTP, on a port or a Unix socket. The documents are read again when they change; they, and the log, are
/// protected paths.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Serve {
    #[command(flatten)]
    setup: Setup,
    /// The server of requests that do not name one
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Listen on this address or port, or, as `unix:FILE`, on a Unix socket; may be repeated
    #[arg(long, value_name = "ADDRESS", required = true)]
    listen: Vec<String>,
    /// Let --listen take an address that other machines reach
    #[arg(long)]
    allow_remote: bool,
    /// A name of this machine that requests may be sent to where no token is asked for, besides localhost; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// The environment variable that holds the bearer token that requests must have
    #[arg(long, value_name = "VARIABLE", conflicts_with = "token_file")]
    token_env: Option<String>,
    /// The file with the bearer tokens, one a line, of which requests must have one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificate for TLS, with its chain, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Take AuthZEN's access requests for calls that escalate: a person answers them by `callgate approvals`, in so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    ask: Option<u64>,
    /// Write each decision to this file, one JSON line each; if it cannot be written, nothing is allowed
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Answer requests for anything but tools (resources, prompts, completions) with an error: no rule decides about them
    #[arg(long)]
    only_tools: bool,
    /// Who asks, for rules that look at it (`if.context`), is whom AuthZEN's evaluations name (`subject.id`, `context.agent` and
    /// `context.session`), as far as neither the token nor --context says it: only where nobody but gateways may ask
    #[arg(long)]
    callers_from_evaluations: bool,
    /// The context of every call, an object such as '{"mode": "dev", "command": "read"}'
    #[arg(long, value_name = "JSON")]
    context: Option<String>,
    /// Where it is kept what is counted, asked and approved; several services may share it [default: $XDG_STATE_HOME/callgate or
    /// ~/.local/state/callgate]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    counting: Counting,
    /// The address under which others reach the service, for AuthZEN's configuration [default: the one that they use]
    #[arg(long, value_name = "URL")]
    address: Option<String>,
    /// How many seconds requests are taken after a signal to end, while `/readyz` says that no more are to be sent
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    notice: u64,
    /// How many seconds requests may take to end after that
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u64,
}

const EXAMPLES: &str = "\
Examples:
  callgate serve --server docs --listen 9191
  callgate serve --bundle /etc/callgate --listen unix:/run/callgate.sock --audit /var/log/callgate.jsonl
  callgate serve --listen 0.0.0.0:9191 --allow-remote --token-file tokens --tls-cert tls.crt --tls-key tls.key

Exit codes: 1 fault (a bad flag, an address that cannot be listened on), 4 a document that is invalid or cannot be read. A signal \
ends the service with 128 and its number.";

impl Serve {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        check_context(self.context.as_deref())?;
        outlive_full_disks()?;
        let listening = self.listening()?;
        let (identity, tokens) = (listening.identity.clone(), Arc::clone(&listening.tokens));
        if self.allow_remote && listening.tokens.is_empty() {
            tell("whoever reaches this machine may ask: --token-env and --token-file ask for a token");
        }
        let begun = SystemTime::now();
        let gate = self.gate()?;
        let mut watched = Watched::new(&self.setup, &gate, self.admitting(), begun)?;
        let options = ServiceOptions {
            server: self.server.clone(),
            asking: self.asking()?,
            audit: self.audit.clone(),
            only_tools: self.only_tools,
            callers_from_evaluations: self.callers_from_evaluations,
            context: self.context.clone(),
            counts: self.counting.counts(self.state.as_deref())?,
            address: self.address.clone(),
            warn: tell,
        };
        let service = Service::new(gate, options)
            .map_err(|error| Failure::Fault(format!("the log cannot be written: {error}")))?;
        let service = Arc::new(service);
        let renewed = Arc::clone(&service);
        renew(&self.setup, self.own_files()?, move |why| {
            renewed.reload_refused(why);
        });
        let running = Arc::clone(&service);
        let ready = |bound: Vec<Address>| {
            for address in bound {
                tell(&format!("listening on {address}"));
            }
        };
        let signal = watched.until(
            Box::new(move || running.run(listening, ready).map_err(|error| error.to_string())),
            || {
                self.readmit(identity.as_deref(), &tokens);
                self.reload(&service)
            },
            |reason| service.expire(reason),
        )?;
        Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
    }

    fn asking(&self) -> Result<Option<Asking>, Failure> {
        let Some(seconds) = self.ask else { return Ok(None) };
        Ok(Some(Asking {
            queue: approvals::queue(self.state.as_deref())?,
            patience: Duration::from_secs(seconds),
            forms: false,
            command: None,
        }))
    }

    /// Judges by the documents as they are now, all or nothing; `false` if the old ones stay.
    fn reload(&self, service: &Service) -> bool {
        match self.gate() {
            Ok(gate) => {
                if let Err(error) = service.reload(gate) {
                    tell(&format!(
                        "the log cannot be written, so nothing is allowed: {error}"
                    ));
                }
                true
            }
            Err(failure) => {
                service.reload_refused(&failure.told());
                false
            }
        }
    }

    /// The files that say who may ask, and who answers.
    fn admitting(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.token_file, &self.tls_cert, &self.tls_key];
        files.into_iter().flatten()
    }

    /// Asks for the tokens as they are now, and shows the certificate as it is now; the old ones stay where those cannot be used.
    fn readmit(&self, identity: Option<&Identity>, tokens: &Tokens) {
        match self.tokens() {
            Ok(others) => tokens.replace(others),
            Err(failure) => tell(&format!("the old tokens stay: {}", failure.told())),
        }
        match (identity, self.identity()) {
            (Some(identity), Ok(Some(other))) => identity.replace(other),
            (Some(_), Err(failure)) => tell(&format!("the old certificate stays: {}", failure.told())),
            (_, _) => {}
        }
    }

    fn gate(&self) -> Result<Gate, Failure> {
        let own = self.own_files()?;
        self.setup
            .build(&|builder| protecting(&self.setup, &own, builder))
    }

    /// Whoever writes the tokens or the key lets in whom they like, and whoever puts another socket in the place of this one answers for
    /// the service. Whoever writes what was counted has it forgotten.
    fn own_files(&self) -> Result<Vec<String>, Failure> {
        // Whoever writes there approves calls, too.
        let state = approvals::folder(self.state.as_deref());
        let files = self.audit.iter().chain(self.admitting()).cloned().chain(state);
        let sockets = self
            .listen
            .iter()
            .filter_map(|listen| listen.strip_prefix("unix:"));
        let all: Vec<PathBuf> = files.chain(sockets.map(PathBuf::from)).collect();
        absolute(all.iter())
    }

    fn listening(&self) -> Result<Listening, Failure> {
        let addresses: Result<Vec<Address>, Failure> =
            self.listen.iter().map(|listen| self.place(listen)).collect();
        Ok(Listening {
            addresses: addresses?,
            identity: self.identity()?.map(Arc::new),
            tokens: Arc::new(self.tokens()?),
            hosts: hosts_of(&self.allow_host)?,
            notice: Duration::from_secs(self.notice),
            drain: Duration::from_secs(self.drain),
        })
    }

    fn place(&self, listen: &str) -> Result<Address, Failure> {
        if let Some(path) = listen.strip_prefix("unix:") {
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        let address = address_of(listen)?;
        if !address.ip().is_loopback() && !self.allow_remote {
            return Err(Failure::Helped {
                message: format!("--listen: other machines reach `{address}`"),
                help: "--allow-remote says that they may ask".to_owned(),
            });
        }
        Ok(Address::Tcp(address))
    }

    fn identity(&self) -> Result<Option<Identity>, Failure> {
        let files = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        let identity = files.map(|(certificate, key)| Identity::read(certificate, key));
        identity
            .transpose()
            .map_err(|error| Failure::Fault(error.to_string()))
    }

    fn tokens(&self) -> Result<Tokens, Failure> {
        let (flag, text) = match (&self.token_env, &self.token_file) {
            (Some(variable), _) => ("--token-env", variable_of("--token-env", variable)?),
            (None, Some(file)) => {
                let text = fs::read_to_string(file);
                let unread = |error| fault("--token-file", &format!("`{}`: {error}", file.display()));
                ("--token-file", text.map_err(unread)?)
            }
            (None, None) => return Ok(Tokens::default()),
        };
        Tokens::read(&text).map_err(|error| fault(flag, &error.to_string()))
    }
}
