//! The guard's options for clients and servers over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};

use callgate_guard::http::{Listening, Remote, Visitors};
use clap::Args;

use crate::terminal::Failure;

/// The flags that say where the server is.
pub(super) const ADDRESS: &str = "address";

#[derive(Args)]
#[command(next_help_heading = "HTTP")]
pub(super) struct Http {
    /// The address of the server, which speaks Streamable HTTP
    #[arg(long, value_name = "URL", group = ADDRESS)]
    url: Option<String>,
    /// The environment variable that holds the address of the server, which others may see in arguments, with the secrets in it
    #[arg(long, value_name = "VARIABLE", group = ADDRESS)]
    url_env: Option<String>,
    /// Send the server a header with the value of an environment variable; may be repeated
    #[arg(long, value_name = "NAME=VARIABLE", requires = ADDRESS)]
    header_env: Vec<String>,
    /// Send the server a header that is not a secret, such as 'X-Team: a'; may be repeated
    #[arg(long, value_name = "HEADER", requires = ADDRESS)]
    header: Vec<String>,
    /// The environment variable that holds the bearer token for --url
    #[arg(long, value_name = "VARIABLE", requires = ADDRESS)]
    token_env: Option<String>,
    /// Be a server over Streamable HTTP on this address or port, at the path /mcp, with a session for each client
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// Let --listen take an address that other machines reach
    #[arg(long, requires = "listen")]
    allow_remote: bool,
    /// A name of this machine that requests may be sent to, besides localhost; may be repeated
    #[arg(long, value_name = "NAME", requires = "listen")]
    allow_host: Vec<String>,
    /// An origin of pages in browsers that may speak to the guard; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    allow_origin: Vec<String>,
    /// The environment variable that holds the bearer token that clients have to send
    #[arg(long, value_name = "VARIABLE", requires = "listen")]
    client_token_env: Option<String>,
    /// How many sessions there may be at a time
    #[arg(long, value_name = "NUMBER", requires = "listen", value_parser = clap::value_parser!(u16).range(1..))]
    max_sessions: Option<u16>,
}

impl Http {
    /// The server over HTTP, if it is one.
    pub(super) fn remote(&self) -> Result<Option<Remote>, Failure> {
        let (flag, url) = match (&self.url, &self.url_env) {
            (Some(url), _) => ("--url", url.clone()),
            (None, Some(variable)) => ("--url-env", variable_of("--url-env", variable)?),
            (None, None) => return Ok(None),
        };
        let mut headers = Vec::new();
        for header in &self.header {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| fault("--header", "expected `NAME: VALUE`"))?;
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        for header in &self.header_env {
            let (name, variable) = header
                .split_once('=')
                .ok_or_else(|| fault("--header-env", "expected `NAME=VARIABLE`"))?;
            headers.push((name.trim().to_owned(), variable_of("--header-env", variable)?));
        }
        if let Some(variable) = &self.token_env {
            let token = variable_of("--token-env", variable)?;
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        let remote = Remote::new(&url, &headers).map_err(|error| fault(flag, &error.to_string()))?;
        Ok(Some(remote))
    }

    /// Where the guard listens, if it does.
    pub(super) fn listening(&self) -> Result<Option<Listening>, Failure> {
        let Some(listen) = &self.listen else {
            return Ok(None);
        };
        let address = address_of(listen)?;
        if !address.ip().is_loopback() && !self.allow_remote {
            return Err(Failure::Helped {
                message: format!("--listen: other machines reach `{address}`"),
                help: "--allow-remote says that they may call tools".to_owned(),
            });
        }
        let mut listening = Listening::on(address);
        listening.visitors = self.visitors()?;
        listening.sessions = self.max_sessions.map_or(listening.sessions, usize::from);
        Ok(Some(listening))
    }

    /// Who may speak to the guard. What no request can have would keep everybody out, without a word.
    fn visitors(&self) -> Result<Visitors, Failure> {
        if let Some(origin) = self.allow_origin.iter().find(|origin| !is_origin(origin)) {
            let reason = format!("found `{origin}`, expected an origin such as `https://example.com`");
            return Err(fault("--allow-origin", &reason));
        }
        let flag = "--client-token-env";
        let token = self.client_token_env.as_deref();
        let token = token.map(|variable| variable_of(flag, variable)).transpose()?;
        if token.as_deref().is_some_and(|token| !is_token(token)) {
            let reason = "the token is empty, or holds white space or other characters that no header has";
            return Err(fault(flag, reason));
        }
        Ok(Visitors {
            hosts: hosts_of(&self.allow_host)?,
            origins: self.allow_origin.clone(),
            token,
        })
    }

    /// Returns `true` if other machines may call tools without saying who they are.
    pub(super) fn is_open(&self) -> bool {
        self.allow_remote && self.client_token_env.is_none()
    }
}

/// A port is one of the loopback interface.
pub(crate) fn address_of(listen: &str) -> Result<SocketAddr, Failure> {
    if let Ok(port) = listen.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let found = listen
        .to_socket_addrs()
        .map_err(|error| fault("--listen", &format!("`{listen}`: {error}")))?;
    let mut found: Vec<SocketAddr> = found.collect();
    // `localhost` has several.
    found.sort_by_key(SocketAddr::is_ipv6);
    found
        .first()
        .copied()
        .ok_or_else(|| fault("--listen", &format!("`{listen}` has no address")))
}

/// Names of this machine, as `--allow-host` has them.
pub(crate) fn hosts_of(named: &[String]) -> Result<Vec<String>, Failure> {
    match named.iter().find(|host| !is_host(host)) {
        Some(host) => {
            let reason = format!("found `{host}`, expected a name without a port, such as `gate.example`");
            Err(fault("--allow-host", &reason))
        }
        None => Ok(named.to_vec()),
    }
}

fn is_host(host: &str) -> bool {
    let is_address = |host: &str| host.parse::<IpAddr>().is_ok();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_name = !host.is_empty() && !host.contains([':', '/', '*', '@', ' ']);
    is_name || is_address(host) || bare.is_some_and(is_address)
}

/// <https://fetch.spec.whatwg.org/#origin-header>
fn is_origin(origin: &str) -> bool {
    let parts = origin.split_once("://");
    origin == "null"
        || parts.is_some_and(|(scheme, host)| {
            !scheme.is_empty() && !host.is_empty() && !host.contains(['/', '?', '#', '*', '@', ' '])
        })
}

fn is_token(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

pub(crate) fn variable_of(flag: &str, variable: &str) -> Result<String, Failure> {
    std::env::var(variable).map_err(|_| fault(flag, &format!("the environment has no variable `{variable}`")))
}

pub(crate) fn fault(flag: &str, reason: &str) -> Failure {
    Failure::Fault(format!("{flag}: {reason}"))
}
