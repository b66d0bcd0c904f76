//! Asking a server over HTTP for its tools as it writes them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::envelope::{Envelope, Kind};
use super::events::Event;
use super::remote::{Connection, Remote, Reply};
use super::response::Failure;
use crate::asked_tools::{INITIALIZED, ListRequest, late, list};
use crate::message::Id;

/// The tools of a server, all pages together, as JSON text.
///
/// # Errors
/// It cannot be reached, does not answer `within` this time, or answers with something else.
pub fn tools_of_remote(remote: Remote, within: Duration) -> Result<String, String> {
    let deadline = Instant::now() + within;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no client can be started: {error}"))?;
    let connection = Connection::new(Arc::new(remote));
    let listed = list(
        |ListRequest { id, text }| {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = runtime.block_on(async { timeout(left, exchange(&connection, id, text)).await });
            let answer = answer.map_err(|_| late(within))?;
            answer.map_err(|failure| format!("cannot be asked: {}", failure.reason))
        },
        || {
            // A server that does not take it says so at the next request.
            let _ = runtime.block_on(async { timeout(within, notify(&connection)).await });
        },
    );
    runtime.block_on(connection.end());
    listed
}

async fn notify(connection: &Connection) -> Option<Reply> {
    let envelope = Envelope::read(INITIALIZED)?;
    let body = Bytes::from_static(INITIALIZED.as_bytes());
    connection.post(&body, &envelope).await.ok()
}

async fn exchange(connection: &Connection, id: &Id, text: String) -> Result<String, Failure> {
    let ended = || Failure::new("the connection ended before the answer");
    let envelope = Envelope::read(&text).ok_or_else(ended)?;
    let is_answer = |text: &str| {
        let answered = Envelope::read(text).map(|envelope| envelope.kind);
        matches!(answered, Some(Kind::Response { id: Some(given) }) if given == *id)
    };
    let answer = match connection.post(&Bytes::from(text), &envelope).await? {
        Reply::Message(text) => Some(text),
        Reply::Accepted => None,
        Reply::Events(mut events) => loop {
            match events.next().await? {
                Some(Event { data: Some(text), .. }) if is_answer(&text) => break Some(text),
                Some(_) => {}
                None => break None,
            }
        },
    };
    let answer = answer.ok_or_else(ended)?;
    if envelope.method() == "initialize" {
        connection.learn(&answer);
    }
    Ok(answer)
}
