//! Messages on their way to a server over HTTP, and what comes back.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::body::Bytes;

use super::envelope::{Envelope, Kind};
use super::events::Event;
use super::remote::{Connection, Reply};
use super::response::{Events, Failure};
use super::session::{Client, INITIALIZED, Server, Session};
use super::streams::Piece;
use crate::message::Id;
use crate::relay::Delivery;
use crate::reply;

/// How often a broken stream is gone on with, and how long is waited if the server does not say.
const RESUMED: usize = 5;
const RESUMING: Duration = Duration::from_secs(1);

/// How often the stream on which a server speaks by itself is opened in vain, and how long one lasts that was not in vain.
const LISTENED: u32 = 20;
const STEADY: Duration = Duration::from_secs(5);

/// The longest that a server may make a client wait.
const LONGEST: Duration = Duration::from_secs(60);

/// A future that calls itself.
type Boxed<'f> = Pin<Box<dyn Future<Output = ()> + Send + 'f>>;

impl Session {
    /// A message on its way to a server over HTTP, and what comes back.
    pub(super) fn exchange(
        self: Arc<Self>,
        text: String,
        envelope: Envelope,
        origin: Option<Id>,
    ) -> Boxed<'static> {
        Box::pin(async move {
            let Server::Url(connection) = &self.server else {
                return;
            };
            let body = Bytes::from(text);
            let mut answered = connection.post(&body, &envelope).await;
            if let (
                Err(Failure {
                    expired: Some(name), ..
                }),
                Client::Output(_),
            ) = (&answered, &self.client)
            {
                // A client on a stream has no session that it could begin again.
                self.guard
                    .warn("the server does not know the session any more; it is begun again");
                answered = match connection.renew(name).await {
                    Ok(()) => {
                        let session = Arc::clone(&self);
                        tokio::spawn(async move { session.listen_for_client().await });
                        connection.post(&body, &envelope).await
                    }
                    Err(failure) => Err(failure),
                };
            }
            drop(body);
            let stream = envelope.id().or(origin.as_ref());
            let mut is_resumable = false;
            match answered {
                Ok(Reply::Accepted) => {}
                Ok(Reply::Message(text)) => {
                    self.pass_to_client(connection, &envelope, text, stream, Event::default())
                        .await
                }
                Ok(Reply::Events(events)) => {
                    is_resumable = self.follow(connection, &envelope, *events, stream).await
                }
                Err(failure) => self.failed(&envelope, failure, stream).await,
            }
            if let Some(id) = envelope.id() {
                connection.waiting().remove(&id.text);
                self.close(id, is_resumable).await;
            }
            if envelope.method() == INITIALIZED {
                self.listen_for_client().await;
            }
        })
    }

    async fn pass_to_client(
        self: &Arc<Self>,
        connection: &Connection,
        envelope: &Envelope,
        text: String,
        origin: Option<&Id>,
        event: Event,
    ) {
        match envelope.method() {
            "initialize" => connection.learn(&text),
            "tools/list" if envelope.revision.is_some() => connection.remote.mirrored.learn(&text),
            _ => {}
        }
        self.server_said(text, origin, event).await;
    }

    /// Passes the events of a stream on. Returns `true` if the client may go on after the last of them.
    async fn follow(
        self: &Arc<Self>,
        connection: &Connection,
        envelope: &Envelope,
        mut events: Events,
        origin: Option<&Id>,
    ) -> bool {
        let mut last = None;
        let mut pause = RESUMING;
        let mut tries = 0;
        loop {
            let ended = loop {
                match events.next().await {
                    Ok(Some(event)) => {
                        tries = 0;
                        last = event.id.clone().or(last);
                        pause = event.retry.map_or(pause, Duration::from_millis).min(LONGEST);
                        self.pass(connection, envelope, event, origin).await;
                    }
                    Ok(None) => break None,
                    Err(failure) => break Some(failure),
                }
            };
            let is_open = envelope.id().is_some_and(|id| self.relay().waits(&id.text));
            let Some(after) = last.as_deref().filter(|_| is_open && envelope.revision.is_none()) else {
                if let (Some(failure), true) = (ended, is_open) {
                    self.guard.warn(&failure.reason);
                }
                return false;
            };
            if matches!(self.client, Client::Streams(_)) {
                return true;
            }
            events = loop {
                if tries >= RESUMED {
                    return false;
                }
                tries += 1;
                tokio::time::sleep(pause).await;
                if let Ok(events) = connection.listen(Some(after)).await {
                    break events;
                }
            };
        }
    }

    async fn pass(
        self: &Arc<Self>,
        connection: &Connection,
        envelope: &Envelope,
        mut event: Event,
        origin: Option<&Id>,
    ) {
        match event.data.take().filter(|data| !data.is_empty()) {
            Some(text) => {
                self.pass_to_client(connection, envelope, text, origin, event)
                    .await
            }
            None => self.take(Delivery::Nowhere, origin, event).await,
        }
    }

    async fn failed(self: &Arc<Self>, envelope: &Envelope, failure: Failure, origin: Option<&Id>) {
        if failure.expired.is_some() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        let Some(id) = envelope.id() else {
            self.guard.warn(&format!(
                "`{}` did not arrive: {}",
                shown(envelope),
                failure.reason
            ));
            return;
        };
        if let (Client::Streams(streams), Some(_)) = (&self.client, &failure.expired) {
            let _ = self.relay().lost(&id.text, &failure.reason);
            streams.send(id, Piece::Expired).await;
            return;
        }
        // Headers about who may ask say nothing of the message.
        let says_nothing = [
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            StatusCode::TOO_MANY_REQUESTS,
        ];
        let answer = failure.error.as_deref().and_then(|error| error_to(error, id));
        let speaks = |status: StatusCode| {
            !says_nothing.contains(&status) && (status.is_client_error() || answer.is_some())
        };
        if failure.status.is_some_and(speaks) {
            let answer = answer
                .unwrap_or_else(|| reply::error(Some(&id.json), reply::INVALID_REQUEST, &failure.reason));
            return self.server_said(answer, origin, Event::default()).await;
        }
        self.guard.warn(&failure.reason);
        let answer = self.relay().lost(&id.text, &failure.reason);
        if let Some(answer) = answer {
            self.deliver(answer, origin, Event::default()).await;
        }
    }

    /// Nothing more comes for a request.
    async fn close(&self, id: &Id, is_resumable: bool) {
        if self.relay().holds(&id.text) {
            return;
        }
        if !is_resumable {
            let answer = self
                .relay()
                .lost(&id.text, "the connection to the server ended before it answered");
            if let Some(answer) = answer {
                self.deliver(answer, Some(id), Event::default()).await;
            }
        }
        if let Client::Streams(streams) = &self.client {
            streams.close(id);
        }
    }

    /// Listens to the server for a client that cannot do so itself.
    async fn listen_for_client(self: &Arc<Self>) {
        if let (Server::Url(connection), Client::Output(_)) = (&self.server, &self.client) {
            self.listen(connection).await;
        }
    }

    /// Passes on what the server says by itself, until it has no such stream any more.
    async fn listen(self: &Arc<Self>, connection: &Connection) {
        if self.is_listening.swap(true, Ordering::Relaxed) {
            return;
        }
        let (mut last, mut pause): (Option<String>, _) = (None, RESUMING);
        let mut tries = 0;
        while tries < LISTENED {
            let begun = Instant::now();
            let listened = connection.listen(last.as_deref()).await;
            self.has_asked.notify_one();
            match listened {
                Ok(mut events) => {
                    while let Ok(Some(mut event)) = events.next().await {
                        tries = 0;
                        last = event.id.clone().or(last);
                        pause = event.retry.map_or(pause, Duration::from_millis).min(LONGEST);
                        if let Some(text) = event.data.take().filter(|data| !data.is_empty()) {
                            self.server_said(text, None, Event::default()).await;
                        }
                    }
                }
                // The session is begun again with the next message.
                Err(failure) if failure.expired.is_some() => last = None,
                // It has none.
                Err(failure) if failure.status.is_some_and(|status| status.is_client_error()) => break,
                Err(_) => {}
            }
            // Servers and proxies close streams on which nothing is said.
            if begun.elapsed() >= STEADY {
                tries = 0;
            }
            tokio::time::sleep(pause.saturating_mul(1 << tries.min(10)).min(LONGEST)).await;
            tries += 1;
        }
        self.is_listening.store(false, Ordering::Relaxed);
    }
}

/// An error that a server gave without the id of the request.
fn error_to(text: &str, id: &Id) -> Option<String> {
    let envelope = Envelope::read(text)?;
    let Kind::Response { id: given } = envelope.kind else {
        return None;
    };
    if given.is_some_and(|given| given == *id) {
        return Some(text.to_owned());
    }
    let answer: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let error = answer.get("error")?;
    Some(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.json))
}

fn shown(envelope: &Envelope) -> &str {
    match &envelope.kind {
        Kind::Response { .. } => "an answer",
        Kind::Request { method, .. } | Kind::Notification { method } => method,
    }
}
