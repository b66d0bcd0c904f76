//! What every question to a server of bundles has in common.

use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{ClientBuilder, Response, Url};

use crate::address::{is_own, is_private};

/// How long a connection may take, and the whole answer.
const CONNECTING: Duration = Duration::from_secs(3);
const ANSWERING: Duration = Duration::from_secs(10);

/// How long a bundle may take to fetch, of all its questions and answers. Hooks have little time.
pub(crate) const FETCHING: Duration = Duration::from_secs(10);

const TOO_LATE: &str = "the server does not answer in time";

/// How often an answer may lead elsewhere.
const MOST_REDIRECTS: usize = 5;

/// The options of a client that fetches bundles.
pub(crate) fn options(client: ClientBuilder) -> ClientBuilder {
    client
        .connect_timeout(CONNECTING)
        .timeout(ANSWERING)
        .redirect(Policy::custom(follow))
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
}

/// What a server answered.
pub(crate) enum Fetched {
    /// It has what it had before.
    Unchanged,
    /// It has this, under this name.
    New { text: Vec<u8>, etag: Option<String> },
}

/// Why nothing was fetched.
pub(crate) enum Unfetched {
    Http(reqwest::Error),
    Other(String),
}

impl Unfetched {
    pub(crate) fn said(self) -> String {
        match self {
            Self::Http(error) => format!("it cannot be fetched: {}", cause(&error)),
            Self::Other(why) => why,
        }
    }
}

impl From<reqwest::Error> for Unfetched {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

impl From<String> for Unfetched {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// The body of an answer, if it is not longer than `most` bytes.
pub(crate) async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Unfetched> {
    let mut text = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if text.len() + piece.len() > most {
            let why = format!("the server answered with more than {most} bytes");
            return Err(Unfetched::Other(why));
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}

/// Runs what waits for servers.
pub(crate) fn run<T>(asking: impl Future<Output = Result<T, Unfetched>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(asking).map_err(Unfetched::said)
}

/// Ends what takes longer than `most`, however many servers and answers it waits for.
pub(crate) async fn within<T>(
    most: Duration,
    asking: impl Future<Output = Result<T, Unfetched>>,
) -> Result<T, Unfetched> {
    let late = |_| Err(Unfetched::Other(TOO_LATE.to_owned()));
    tokio::time::timeout(most, asking).await.unwrap_or_else(late)
}

/// Returns `true` for an address that a server may lead to. A server elsewhere has nothing to ask of this machine's own.
pub(crate) fn may_lead(from: &Url, to: &Url) -> bool {
    is_private(to) && (!is_own(to) || is_own(from))
}

fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let may = attempt
        .previous()
        .first()
        .is_some_and(|first| may_lead(first, attempt.url()));
    let is_followed = attempt.previous().len() <= MOST_REDIRECTS && may;
    match is_followed {
        true => attempt.follow(),
        false => attempt.error("the server leads to an address that is not followed"),
    }
}

/// The first cause of an error. The others repeat the address, which may hold a secret.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    match error.is_timeout() {
        true => TOO_LATE.to_owned(),
        false if cause.is::<reqwest::Error>() => "the server's answer is broken".to_owned(),
        false => cause.to_string(),
    }
}
