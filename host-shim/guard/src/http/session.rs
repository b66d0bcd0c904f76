//! One client, its relay and its server, whatever they speak over.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::block_in_place;
use tokio::time::timeout;

use super::envelope::Envelope;
use super::events::Event;
use super::remote::Connection;
use super::response::Events;
use super::streams::Streams;
use crate::Guard;
use crate::child::Running;
use crate::listed::Listed;
use crate::message::Id;
use crate::outlet::Outlet;
use crate::relay::{Delivery, Relay};
use crate::stdio::TELLING;

/// How often it is looked whether a person has answered, or other tools are hidden.
const NEWS: Duration = Duration::from_millis(200);

/// How long a client waits for the stream on which the server speaks by itself.
const BEGINNING: Duration = Duration::from_secs(2);

/// Said by a client once a session has begun.
pub(super) const INITIALIZED: &str = "notifications/initialized";

/// The transport to a client.
pub(super) enum Client {
    /// This process's output.
    Output(Outlet<File>),
    /// Answers to its requests over HTTP.
    Streams(Streams),
}

/// A program that serves one client after the other.
pub(super) trait Shared: Send + Sync {
    /// Sends the program a message of the session's client, if that is the one that it serves.
    fn send(&self, session: &Arc<Session>, text: String);

    /// Ends the program.
    fn end(&self);
}

/// The transport to a server.
pub(super) enum Server {
    Program(Arc<Running>),
    /// A program that serves other clients before and after.
    Worker(Arc<dyn Shared>),
    Url(Connection),
}

pub(super) struct Session {
    pub(super) guard: Arc<Guard>,
    relay: Mutex<Relay>,
    pub(super) client: Client,
    pub(super) server: Server,
    used: Mutex<Instant>,
    /// The server has ended, or does not know the session any more.
    pub(super) is_over: AtomicBool,
    pub(super) is_listening: AtomicBool,
    /// The server has been asked for the stream on which it speaks by itself.
    pub(super) has_asked: Notify,
}

impl Session {
    pub(super) fn new(guard: Arc<Guard>, client: Client, server: Server) -> Arc<Self> {
        let relay = Relay::new(Arc::clone(&guard));
        Self::with(guard, relay, client, server)
    }

    /// The session of a request that stands by itself.
    pub(super) fn of_request(
        guard: Arc<Guard>,
        listed: Arc<Listed>,
        client: Client,
        server: Server,
    ) -> Arc<Self> {
        let relay = Relay::of_request(Arc::clone(&guard), listed);
        Self::with(guard, relay, client, server)
    }

    fn with(guard: Arc<Guard>, relay: Relay, client: Client, server: Server) -> Arc<Self> {
        let session = Arc::new(Self {
            relay: Mutex::new(relay),
            guard,
            client,
            server,
            used: Mutex::new(Instant::now()),
            is_over: AtomicBool::new(false),
            is_listening: AtomicBool::new(false),
            has_asked: Notify::new(),
        });
        tokio::spawn(watch(Arc::downgrade(&session)));
        session
    }

    pub(super) fn relay(&self) -> MutexGuard<'_, Relay> {
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

    /// Judges a message of the client, which may read the disk.
    pub(super) fn judge(&self, text: String) -> Delivery {
        self.touch();
        block_in_place(|| self.relay().client_sent(text))
    }

    /// The answer to a request whose id another one has.
    pub(super) fn repeated(&self, id: &Id) -> String {
        self.relay().repeated(id)
    }

    /// Refuses a text that is not a message.
    pub(super) fn unreadable(&self, what: &str) -> Delivery {
        self.relay().unreadable(what)
    }

    /// A message of the server, on the stream that belongs to a request of the client's, or on its own.
    pub(super) async fn server_said(self: &Arc<Self>, text: String, origin: Option<&Id>, event: Event) {
        let (step, released) = block_in_place(|| {
            let mut relay = self.relay();
            (relay.server_sent(text), relay.released())
        });
        self.take(step, origin, event).await;
        for step in released {
            self.take(step, None, Event::default()).await;
        }
    }

    /// Does what a step says.
    pub(super) async fn take(self: &Arc<Self>, step: Delivery, origin: Option<&Id>, event: Event) {
        match step {
            Delivery::ToServer(text) => {
                if self.forward(text, origin.cloned()) {
                    // A client on a stream misses nothing that the server says once it has begun.
                    let _ = timeout(BEGINNING, self.has_asked.notified()).await;
                }
            }
            Delivery::ToClient(text) => self.deliver(text, origin, event).await,
            // A client that goes on after an event has to know of it.
            Delivery::Nowhere if event.id.is_some() => self.deliver(String::new(), origin, event).await,
            Delivery::Refused(_) | Delivery::Nowhere => {}
        }
    }

    pub(super) async fn deliver(&self, text: String, origin: Option<&Id>, event: Event) {
        match &self.client {
            Client::Output(_) if text.is_empty() => {}
            Client::Output(output) => block_in_place(|| output.send(text)),
            Client::Streams(streams) => streams.deliver(text, origin, event).await,
        }
    }

    /// Sends a message to the server. `origin` is the request on whose stream its answers belong, if it is not a request itself. Returns
    /// `true` if the server is then asked for the stream on which it speaks by itself.
    pub(super) fn forward(self: &Arc<Self>, text: String, origin: Option<Id>) -> bool {
        match &self.server {
            Server::Program(program) => {
                block_in_place(|| program.send(text));
                false
            }
            Server::Worker(program) => {
                block_in_place(|| program.send(self, text));
                false
            }
            Server::Url(connection) => {
                let Some(envelope) = Envelope::read(&text) else {
                    return false;
                };
                if self.is_cancelled(connection, &envelope) {
                    return false;
                }
                let begins = envelope.method() == INITIALIZED && matches!(self.client, Client::Output(_));
                let session = Arc::clone(self);
                let id = envelope.id().map(|id| id.text.clone());
                // Held until the task is known, so that it does not end before.
                let mut waiting = connection.waiting();
                let task = tokio::spawn(async move { session.exchange(text, envelope, origin).await });
                if let Some(id) = id {
                    waiting.insert(id, task.abort_handle());
                }
                begins
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

    /// The client has cancelled a request: nothing more comes on its stream, from the server neither.
    pub(super) fn cancelled(&self, id: &Id) {
        if self.relay().waits(&id.text) {
            return;
        }
        if let Server::Url(connection) = &self.server
            && let Some(task) = connection.waiting().remove(&id.text)
        {
            task.abort();
        }
        if let Client::Streams(streams) = &self.client {
            streams.cancel(id);
        }
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

    /// Passes on what the server says on a stream that the client asked for.
    pub(super) async fn relay_stream(
        self: Arc<Self>,
        mut events: Events,
        origin: Option<Id>,
        number: Option<u64>,
    ) {
        while let Ok(Some(mut event)) = events.next().await {
            match event.data.take().filter(|data| !data.is_empty()) {
                Some(text) => self.server_said(text, origin.as_ref(), event).await,
                None => self.take(Delivery::Nowhere, origin.as_ref(), event).await,
            }
        }
        if let Client::Streams(streams) = &self.client {
            origin.iter().for_each(|id| streams.close(id));
            number.into_iter().for_each(|number| streams.close_own(number));
        }
    }

    /// No call is sent any more; those that wait to be sent are denied.
    pub(super) async fn stop(self: &Arc<Self>) {
        let denied = block_in_place(|| self.relay().stop());
        self.tell(denied).await;
    }

    /// The server is gone: everything that waits is answered.
    pub(super) async fn server_left(self: &Arc<Self>) {
        self.is_over.store(true, Ordering::Relaxed);
        let answers = block_in_place(|| self.relay().server_left());
        self.tell(answers).await;
    }

    /// Tells the client, which may not read: whoever ends waits for it no longer than it must.
    async fn tell(self: &Arc<Self>, answers: Vec<String>) {
        let session = Arc::clone(self);
        let telling = tokio::spawn(async move {
            for answer in answers {
                session.deliver(answer, None, Event::default()).await;
            }
        });
        // What it does not read is lost with it.
        let _ = timeout(TELLING, telling).await;
    }

    /// Returns `true` if the client or the server has not read for too long what is being written to it.
    pub(super) fn is_stuck(&self) -> bool {
        let client = matches!(&self.client, Client::Output(output) if output.is_stuck());
        client || matches!(&self.server, Server::Program(program) if program.is_stuck())
    }

    /// Ends the server's side.
    pub(super) async fn end(self: &Arc<Self>) {
        self.is_over.store(true, Ordering::Relaxed);
        match &self.server {
            Server::Program(program) => {
                program.close();
                // How it ended says nothing: it was told to.
                let _ = block_in_place(|| program.stop());
            }
            Server::Worker(program) => block_in_place(|| program.end()),
            Server::Url(connection) => connection.end().await,
        }
        self.server_left().await;
    }
}

/// Goes on with calls that a person was asked about, and tells of tools that are hidden since.
async fn watch(session: Weak<Session>) {
    loop {
        tokio::time::sleep(NEWS).await;
        let Some(session) = session.upgrade() else { return };
        let steps = block_in_place(|| session.relay().by_itself());
        for step in steps {
            session.take(step, None, Event::default()).await;
        }
    }
}
