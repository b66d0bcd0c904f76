//! One client, its relay and its server, whatever they speak over.

use std::fs::File;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::task::block_in_place;

use super::envelope::{Envelope, Kind};
use super::events::Event;
use super::remote::{Connection, Events, Failure, Reply};
use super::streams::{Piece, Streams};
use crate::guard::Guard;
use crate::guard::child::{Running, write_line};
use crate::guard::message::Id;
use crate::guard::relay::{Relay, Step};
use crate::guard::reply;

/// How often it is looked whether a person has answered.
const ASKED: Duration = Duration::from_millis(200);

/// How often a broken stream is gone on with, and how long is waited if the server does not say.
const RESUMED: usize = 5;
const RESUMING: Duration = Duration::from_secs(1);

/// The longest that a server may make a client wait.
const LONGEST: Duration = Duration::from_secs(60);

/// What a client speaks over.
pub(super) enum Client {
    /// This process's output.
    Output(Mutex<File>),
    /// Answers to its requests over HTTP.
    Streams(Streams),
}

/// What a server speaks over.
pub(super) enum Server {
    Program(Arc<Running>),
    Url(Connection),
}

pub(super) struct Session {
    pub(super) guard: Arc<Guard>,
    relay: Mutex<Relay>,
    pub(super) client: Client,
    pub(super) server: Server,
    used: Mutex<Instant>,
    /// The server has ended, or does not know the session any more.
    is_over: AtomicBool,
    is_listening: AtomicBool,
}

/// A future that calls itself.
type Boxed<'f> = Pin<Box<dyn Future<Output = ()> + Send + 'f>>;

impl Session {
    pub(super) fn new(guard: Arc<Guard>, client: Client, server: Server) -> Arc<Self> {
        let asks = guard.asked.is_some();
        let session = Arc::new(Self {
            relay: Mutex::new(Relay::new(Arc::clone(&guard))),
            guard,
            client,
            server,
            used: Mutex::new(Instant::now()),
            is_over: AtomicBool::new(false),
            is_listening: AtomicBool::new(false),
        });
        if asks {
            tokio::spawn(watch(Arc::downgrade(&session)));
        }
        session
    }

    fn relay(&self) -> MutexGuard<'_, Relay> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn calls_in_flight(&self) -> usize {
        self.relay().calls_in_flight()
    }

    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// For how long nobody has used the session; not at all while a stream of it is open.
    pub(super) fn idle(&self) -> Duration {
        match &self.client {
            Client::Streams(streams) if streams.are_open() => Duration::ZERO,
            Client::Streams(_) | Client::Output(_) => {
                self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// What becomes of a message of the client. Judging may read the disk.
    pub(super) fn judge(&self, text: String) -> Step {
        self.touch();
        block_in_place(|| self.relay().client_sent(text))
    }

    /// What becomes of a text that is no message.
    pub(super) fn unreadable(&self, what: &str) -> Step {
        self.relay().unreadable(what)
    }

    /// A message of the server, on the stream that belongs to a request of the client's, or on its own.
    pub(super) async fn server_said(self: &Arc<Self>, text: String, origin: Option<&Id>, event: Event) {
        let step = block_in_place(|| self.relay().server_sent(text));
        self.take(step, origin, event).await;
    }

    /// Does what a step says.
    pub(super) async fn take(self: &Arc<Self>, step: Step, origin: Option<&Id>, event: Event) {
        match step {
            Step::ToServer(text) => self.forward(text, origin.cloned()),
            Step::ToClient(text) => self.deliver(text, origin, event).await,
            // A client that goes on after an event has to know of it.
            Step::Nowhere if event.id.is_some() => self.deliver(String::new(), origin, event).await,
            Step::Nowhere => {}
        }
    }

    async fn deliver(&self, text: String, origin: Option<&Id>, event: Event) {
        match &self.client {
            Client::Output(_) if text.is_empty() => {}
            Client::Output(output) => block_in_place(|| {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                // A client that does not read any more has left, which its own thread notices.
                let _ = write_line(&mut *output, text);
            }),
            Client::Streams(streams) => streams.deliver(text, origin, event).await,
        }
    }

    /// Sends a message to the server. `origin` is the request on whose stream its answers belong, if it is none itself.
    pub(super) fn forward(self: &Arc<Self>, text: String, origin: Option<Id>) {
        match &self.server {
            Server::Program(program) => block_in_place(|| program.send(text)),
            Server::Url(connection) => {
                let Some(envelope) = Envelope::read(&text) else {
                    return;
                };
                if self.is_cancelled(connection, &envelope) {
                    return;
                }
                let session = Arc::clone(self);
                let id = envelope.id().map(|id| id.text.clone());
                // Held until the task is known, so that it does not end before.
                let mut waiting = connection.waiting();
                let task = tokio::spawn(async move { session.exchange(text, envelope, origin).await });
                if let Some(id) = id {
                    waiting.insert(id, task.abort_handle());
                }
            }
        }
    }

    /// In the modern era whoever closes the stream of a request cancels it, and there is no message for that.
    fn is_cancelled(&self, connection: &Connection, envelope: &Envelope) -> bool {
        if self.relay().has_begun() {
            return false;
        }
        let Some(id) = envelope.cancels() else {
            return false;
        };
        if let Some(task) = connection.waiting().remove(&id.text) {
            task.abort();
            let _ = self.relay().lost(&id.text, "the client cancelled the request");
        }
        true
    }

    /// The client does not wait for the answer to a request any more.
    pub(super) fn left(&self, id: &Id) {
        if let Server::Url(connection) = &self.server
            && let Some(task) = connection.waiting().remove(&id.text)
        {
            task.abort();
        }
        let _ = self.relay().lost(&id.text, "the client has left");
    }

    /// A message on its way to a server over HTTP, and what comes back.
    fn exchange(self: Arc<Self>, text: String, envelope: Envelope, origin: Option<Id>) -> Boxed<'static> {
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
                    Ok(()) => connection.post(&body, &envelope).await,
                    Err(failure) => Err(failure),
                };
            }
            drop(body);
            let stream = envelope.id().or(origin.as_ref());
            let mut is_resumable = false;
            match answered {
                Ok(Reply::Accepted) => {}
                Ok(Reply::Message(text)) => {
                    self.heard(connection, &envelope, text, stream, Event::default())
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
            if envelope.method() == "notifications/initialized" && matches!(self.client, Client::Output(_)) {
                self.listen(connection).await;
            }
        })
    }

    async fn heard(
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
            Some(text) => self.heard(connection, envelope, text, origin, event).await,
            None => self.take(Step::Nowhere, origin, event).await,
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
        // What says who may ask says nothing of the message.
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

    /// Passes on what the server says by itself, until it has no such stream any more.
    async fn listen(self: &Arc<Self>, connection: &Connection) {
        if self.is_listening.swap(true, Ordering::Relaxed) {
            return;
        }
        let (mut last, mut pause, mut tries): (Option<String>, _, _) = (None, RESUMING, 0);
        while tries < RESUMED {
            match connection.listen(last.as_deref()).await {
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
                // It has none, or the session is begun again with the next message.
                Err(failure) if failure.status.is_some_and(|status| status.is_client_error()) => {
                    if failure.expired.is_none() {
                        return;
                    }
                    last = None;
                }
                Err(_) => {}
            }
            tries += 1;
            tokio::time::sleep(pause).await;
        }
        self.is_listening.store(false, Ordering::Relaxed);
    }

    /// Passes on what the server says on a stream that the client asked for.
    pub(super) async fn overhear(
        self: Arc<Self>,
        mut events: Events,
        origin: Option<Id>,
        number: Option<u64>,
    ) {
        while let Ok(Some(mut event)) = events.next().await {
            match event.data.take().filter(|data| !data.is_empty()) {
                Some(text) => self.server_said(text, origin.as_ref(), event).await,
                None => self.take(Step::Nowhere, origin.as_ref(), event).await,
            }
        }
        if let Client::Streams(streams) = &self.client {
            origin.iter().for_each(|id| streams.close(id));
            number.into_iter().for_each(|number| streams.close_own(number));
        }
    }

    /// The server is gone: everything that waits is answered.
    pub(super) async fn server_left(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let answers = self.relay().server_left();
        for answer in answers {
            self.deliver(answer, None, Event::default()).await;
        }
    }

    /// Ends the server's side.
    pub(super) async fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        match &self.server {
            Server::Program(program) => {
                program.close();
                // How it ended says nothing: it was told to.
                let _ = block_in_place(|| program.stop());
            }
            Server::Url(connection) => connection.end().await,
        }
        self.server_left().await;
    }
}

/// Goes on with calls that a person was asked about.
async fn watch(session: Weak<Session>) {
    loop {
        tokio::time::sleep(ASKED).await;
        let Some(session) = session.upgrade() else { return };
        let steps = block_in_place(|| session.relay().answered());
        for step in steps {
            session.take(step, None, Event::default()).await;
        }
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
