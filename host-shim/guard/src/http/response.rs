//! Answers of a server over HTTP, and why there is none.

use std::collections::VecDeque;
use std::error::Error;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};

use super::events::{Event, Reader};
use crate::lines::FROM_SERVER;

/// How long the answer to a message may take that is not a call: an opening, a notification, an end.
const ANSWERING: Duration = Duration::from_secs(60);

/// Bytes of the longest error that is read.
const ERROR: usize = 64 * 1024;

/// Characters that are shown of an error.
const SHOWN: usize = 200;

/// Why there is no answer.
pub(super) struct Failure {
    pub(super) status: Option<StatusCode>,
    pub(super) reason: String,
    /// The text of the answer, if it is an error of JSON-RPC.
    pub(super) error: Option<String>,
    /// The session that the server does not know any more.
    pub(super) expired: Option<HeaderValue>,
}

impl Failure {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            status: None,
            reason: reason.into(),
            error: None,
            expired: None,
        }
    }
}

pub(super) enum Content {
    Json,
    Events,
    Other(String),
}

pub(super) fn kind_of(response: &reqwest::Response) -> Content {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("no content type");
    let essence = kind.split(';').next().unwrap_or(kind).trim().to_ascii_lowercase();
    match &*essence {
        "application/json" => Content::Json,
        "text/event-stream" => Content::Events,
        _ => Content::Other(brief(kind)),
    }
}

pub(super) async fn within<F>(sent: F) -> Result<reqwest::Response, Failure>
where
    F: Future<Output = Result<reqwest::Response, reqwest::Error>>,
{
    match tokio::time::timeout(ANSWERING, sent).await {
        Ok(response) => response.map_err(|error| unreached(&error)),
        Err(_) => Err(Failure::new(format!(
            "the server did not answer within {} s",
            ANSWERING.as_secs()
        ))),
    }
}

/// The response, if its status is one of success.
pub(super) async fn succeeded(
    response: reqwest::Response,
    session: Option<HeaderValue>,
) -> Result<reqwest::Response, Failure> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let is_json = matches!(kind_of(&response), Content::Json);
    let location = response
        .headers()
        .get("location")
        .and_then(|place| place.to_str().ok())
        .map(brief);
    let text = read(response, ERROR).await.unwrap_or_default();
    let advice = match (status, location) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
            "; `--token-env` and `--header-env` say what the guard sends along".to_owned()
        }
        (_, Some(place)) if status.is_redirection() => {
            format!(" to `{place}`, and the guard follows none: give it that address")
        }
        (_, _) => String::new(),
    };
    Err(Failure {
        status: Some(status),
        reason: format!("the server answered HTTP {status}{advice}"),
        error: is_json.then_some(text),
        expired: session.filter(|_| status == StatusCode::NOT_FOUND),
    })
}

/// The whole of a body.
pub(super) async fn read(mut response: reqwest::Response, limit: usize) -> Result<String, Failure> {
    let too_long = || Failure::new(format!("the server answered with more than {limit} bytes"));
    if response
        .content_length()
        .is_some_and(|length| length > limit as u64)
    {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
        if bytes.len() + piece.len() > limit {
            return Err(too_long());
        }
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8(bytes).map_err(|_| Failure::new("the server answered with bytes that are not UTF-8"))
}

/// A stream of events.
pub(super) struct Events {
    response: reqwest::Response,
    reader: Reader,
    read: VecDeque<Event>,
}

impl Events {
    pub(super) fn new(response: reqwest::Response) -> Self {
        Self {
            response,
            reader: Reader::new(FROM_SERVER),
            read: VecDeque::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(Some(event));
            }
            let Some(piece) = self.response.chunk().await.map_err(|error| broken(&error))? else {
                return Ok(None);
            };
            let events = self.reader.read(&piece);
            let too_long = |_| {
                Failure::new(format!(
                    "the server sent an event of more than {FROM_SERVER} bytes"
                ))
            };
            self.read.extend(events.map_err(too_long)?);
        }
    }
}

pub(super) fn unreached(error: &reqwest::Error) -> Failure {
    let what = match error.is_timeout() {
        true => "the server cannot be reached in time",
        false => "the server cannot be reached",
    };
    Failure::new(format!("{what}: {}", cause(error)))
}

fn broken(error: &reqwest::Error) -> Failure {
    Failure::new(format!("the connection to the server broke: {}", cause(error)))
}

/// The first cause of an error. The others repeat the address, which may hold a secret.
pub(super) fn cause(error: &dyn Error) -> String {
    let mut first = error;
    while let Some(cause) = first.source() {
        first = cause;
    }
    match std::ptr::eq(first, error) {
        true => "no cause is known".to_owned(),
        false => brief(&first.to_string()),
    }
}

fn brief(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
