//! Asking a server of MCP for its tools.
//!
//! The client is MCP's own library; here are the limits of time and size, and the words for what can go wrong. The list is what
//! the server says, so it is no more trustworthy than the server.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use reqwest::redirect::{Action, Attempt, Policy};
use rmcp::model::PaginatedRequestParams;
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::Value;

/// The most pages of a list that are asked for.
const PAGES: usize = 1_000;

/// The most tools of a list, on all its pages.
const TOOLS: usize = 10_000;

/// How often a server may name another path of its own.
const REDIRECTS: usize = 10;

/// How long a server may take to end once it was asked to.
const ENDING: Duration = Duration::from_secs(5);

/// Where a server is.
#[derive(Clone, Debug)]
pub(crate) enum Server {
    /// A program to start, with its arguments, which speaks on its standard input and output.
    Command(Vec<OsString>),
    /// The address of a server that speaks streamable HTTP.
    Url {
        /// The address.
        url: String,
        /// A bearer token to send along.
        token: Option<String>,
    },
}

/// Why a server did not say which tools it has. The message names the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListError(String);

impl fmt::Display for ListError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for ListError {}

/// The tools of a server, as its answer to `tools/list` has them, all pages together. A program that is started for it is ended
/// afterwards.
///
/// # Errors
/// The server cannot be started or reached, does not answer `within` this time, or answers with something else.
pub(crate) fn list_tools(server: &Server, within: Duration) -> Result<Value, ListError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ListError(format!("no client can be started: {error}")))?;
    let listed = runtime.block_on(async {
        let listed = tokio::time::timeout(within, listed(server)).await;
        let listed = listed.unwrap_or_else(|_| Err(format!("did not answer within {} s", within.as_secs())));
        // A client that was dropped in the middle ends its program in a task of its own.
        tokio::time::sleep(Duration::from_millis(if listed.is_ok() { 0 } else { 50 })).await;
        listed
    });
    listed.map_err(|reason| ListError(format!("the server {} {reason}", server.shown())))
}

impl Server {
    fn shown(&self) -> String {
        match self {
            Self::Command(words) => {
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                format!("`{}`", words.join(" "))
            }
            Self::Url { url, .. } => format!("`{url}`"),
        }
    }
}

type Client = RunningService<RoleClient, ()>;

async fn listed(server: &Server) -> Result<Value, String> {
    let mut client = match server {
        Server::Command(words) => start(words).await?,
        Server::Url { url, token } => connect(url, token.as_deref()).await?,
    };
    let tools = pages(&client).await;
    // A program that does not end in time is killed.
    let _ = client.close_with_timeout(ENDING).await;
    tools
}

async fn start(words: &[OsString]) -> Result<Client, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("has no program".to_owned());
    };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).kill_on_drop(true);
    // The messages on its standard error may say why it does not answer.
    let child = TokioChildProcess::builder(command)
        .stderr(Stdio::inherit())
        .spawn();
    let (child, _) = child.map_err(|error| format!("cannot be started: {error}"))?;
    ().serve(child)
        .await
        .map_err(|error| format!("is not a server of MCP: {}", unreached(&error)))
}

async fn connect(url: &str, token: Option<&str>) -> Result<Client, String> {
    let client = callgate_guard::http::client(|options| {
        // A connection that is used again may wait for an acknowledgement that is late.
        options
            .pool_max_idle_per_host(0)
            .redirect(Policy::custom(redirected))
    });
    let client = client.map_err(|error| format!("cannot be asked: {}", brief(&error)))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let client = ().serve(transport).await;
    client.map_err(|error| format!("cannot be reached as a server of MCP: {}", unreached(&error)))
}

/// Follows a server to another path of its own, with the message as it is. The credentials go nowhere else.
fn redirected(attempt: Attempt<'_>) -> Action {
    let keeps_message = matches!(attempt.status().as_u16(), 307 | 308);
    let is_same = attempt
        .previous()
        .last()
        .is_some_and(|from| from.origin() == attempt.url().origin());
    match keeps_message && is_same && attempt.previous().len() <= REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

async fn pages(client: &Client) -> Result<Value, String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let asked = PaginatedRequestParams::default().with_cursor(cursor);
        let page = client
            .list_tools(Some(asked))
            .await
            .map_err(|error| match error {
                ServiceError::TransportClosed => "ended before it said which tools it has".to_owned(),
                ServiceError::TransportSend(error) => format!("is gone: {}", brief(&*error.error)),
                error => format!("does not say which tools it has: {}", brief(&error)),
            })?;
        tools.extend(page.tools);
        if tools.len() > TOOLS {
            return Err(format!("has more than {TOOLS} tools"));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return serde_json::to_value(tools)
                .map_err(|error| format!("has tools that are not JSON: {error}"));
        }
    }
    Err(format!("has more than {PAGES} pages of tools"))
}

/// Why a server was not reached: what the transport says, rather than which transport says it.
fn unreached(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => brief(&*error.error),
        error => brief(error),
    }
}

/// The message of an error and of its first cause, at most a few hundred characters. It may hold what the server sent.
fn brief(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut first = error;
    while let Some(cause) = first.source() {
        first = cause;
    }
    let cause = first.to_string();
    if !text.contains(&cause) {
        text = format!("{text}: {cause}");
    }
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The most characters of a message.
const MOST_SHOWN: usize = 200;
