//! A server over Streamable HTTP.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use callgate_jsontext::Members;
use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::envelope::Envelope;
use super::events::Event;
use super::headers::{self, LAST_EVENT, Mirrored, REVISION, SESSION};
use super::response::{Content, Events, Failure, cause, kind_of, read, succeeded, unreached, within};
use crate::lines::FROM_SERVER;
use crate::message::text_of;

/// How long connecting may take.
const CONNECTING: Duration = Duration::from_secs(10);

/// How many messages may be on their way to a server.
const ON_THE_WAY: usize = 1024;

/// Bytes of the longest name of a session.
const NAME: usize = 1024;

/// Where a server is, and what is sent along.
pub struct Remote {
    url: Url,
    client: Client,
    headers: HeaderMap,
    pub(super) mirrored: Mirrored,
    on_the_way: Semaphore,
}

/// Why a server cannot be spoken to: its address, or a header.
#[derive(Debug)]
pub struct RemoteError(String);

impl fmt::Display for RemoteError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for RemoteError {}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Remote").finish_non_exhaustive()
    }
}

impl Remote {
    /// A server at an address, which is sent these headers with each message. Their values are never shown or logged.
    ///
    /// # Errors
    /// The address is not one of HTTP, or a header is not valid, or the guard writes it itself.
    pub fn new(url: &str, headers: &[(String, String)]) -> Result<Self, RemoteError> {
        let fault = |error: String| RemoteError(error);
        let parsed = Url::parse(url).map_err(|error| fault(format!("`{url}` is not a URL: {error}")))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(fault(format!(
                "`{url}` is not a URL of HTTP, expected `https://…`"
            )));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let known = HeaderName::try_from(name)
                .map_err(|_| fault(format!("`{name}` is not the name of a header")))?;
            if is_own(&known) {
                return Err(fault(format!(
                    "the header `{name}` is written by the guard itself"
                )));
            }
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                fault(format!(
                    "the value of the header `{name}` is not ASCII text of one line"
                ))
            })?;
            value.set_sensitive(true);
            map.append(known, value);
        }
        let client = crate::tls::client(|options| {
            options
                .connect_timeout(CONNECTING)
                // A message and its credentials go nowhere else.
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        });
        let client =
            client.map_err(|error| fault(format!("no client of HTTP can be made: {}", cause(&error))))?;
        Ok(Self {
            url: parsed,
            client,
            headers: map,
            mirrored: Mirrored::default(),
            on_the_way: Semaphore::new(ON_THE_WAY),
        })
    }

    fn request(&self, method: Method) -> RequestBuilder {
        self.client
            .request(method, self.url.clone())
            .headers(self.headers.clone())
    }
}

fn is_own(name: &HeaderName) -> bool {
    const OWN: [&str; 8] = [
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "te",
        "transfer-encoding",
    ];
    OWN.contains(&name.as_str()) || name.as_str().starts_with("mcp-")
}

/// One client's way to a server.
pub(super) struct Connection {
    pub(super) remote: Arc<Remote>,
    agreed: Mutex<Agreed>,
    /// The tasks that wait for answers, by the text of the request's id.
    waiting: Mutex<BTreeMap<String, AbortHandle>>,
    /// One at a time begins a session again.
    renewing: tokio::sync::Mutex<()>,
}

/// The result of `initialize`, on which the client and the server have agreed.
#[derive(Clone, Default)]
struct Agreed {
    session: Option<HeaderValue>,
    revision: Option<String>,
    /// The client's message, with which a session is begun again.
    opening: Option<Bytes>,
}

/// A server's answer to a message.
pub(super) enum Reply {
    Accepted,
    Message(String),
    Events(Box<Events>),
}

impl Connection {
    pub(super) fn new(remote: Arc<Remote>) -> Self {
        Self {
            remote,
            agreed: Mutex::default(),
            waiting: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
        }
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, AbortHandle>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message.
    pub(super) async fn post(&self, body: &Bytes, envelope: &Envelope) -> Result<Reply, Failure> {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let is_opening = envelope.method() == "initialize";
        let agreed = match is_opening {
            true => {
                self.agreed().opening = Some(body.clone());
                Agreed::default()
            }
            false => self.agreed().clone(),
        };
        let mut request = self
            .remote
            .request(Method::POST)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        for (name, value) in headers::of(envelope, text, agreed.revision.as_deref(), &self.remote.mirrored) {
            request = request.header(name, value);
        }
        let session = agreed.session.filter(|_| envelope.revision.is_none());
        if let Some(session) = &session {
            request = request.header(SESSION, session);
        }
        // The server may be slow with one; all the others go on.
        let _permit = self.remote.on_the_way.acquire().await;
        // A clone of bytes is not a copy.
        let sent = request.body(body.clone()).send();
        let is_call = envelope.id().is_some() && !is_opening && envelope.method() != "server/discover";
        let response = match is_call {
            true => sent.await.map_err(|error| unreached(&error))?,
            false => within(sent).await?,
        };
        let response = succeeded(response, session).await?;
        if is_opening {
            let given = response.headers().get(SESSION).cloned();
            if given
                .as_ref()
                .is_some_and(|name| name.len() > NAME || name.to_str().is_err())
            {
                return Err(Failure::new(
                    "the server gave a session a name that is not ASCII text, or too long",
                ));
            }
            self.agreed().session = given;
        }
        if envelope.id().is_none() {
            return Ok(Reply::Accepted);
        }
        match kind_of(&response) {
            Content::Json => Ok(Reply::Message(read(response, FROM_SERVER).await?)),
            Content::Events => Ok(Reply::Events(Box::new(Events::new(response)))),
            Content::Other(kind) => Err(Failure::new(format!(
                "the server answered with `{kind}`, expected `application/json` or `text/event-stream`"
            ))),
        }
    }

    /// Opens the stream of a session on which the server speaks by itself, or goes on with one after an event.
    pub(super) async fn listen(&self, after: Option<&str>) -> Result<Events, Failure> {
        let agreed = self.agreed().clone();
        let mut request = self
            .remote
            .request(Method::GET)
            .header(ACCEPT, "text/event-stream");
        if let Some(revision) = &agreed.revision {
            request = request.header(REVISION, revision);
        }
        if let Some(session) = &agreed.session {
            request = request.header(SESSION, session);
        }
        if let Some(after) = after {
            request = request.header(LAST_EVENT, after);
        }
        let response = succeeded(within(request.send()).await?, agreed.session).await?;
        match kind_of(&response) {
            Content::Events => Ok(Events::new(response)),
            Content::Json => Err(Failure::new("the server has no stream of its own")),
            Content::Other(kind) => Err(Failure::new(format!(
                "the server answered with `{kind}`, expected `text/event-stream`"
            ))),
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn end(&self) {
        let agreed = std::mem::take(&mut *self.agreed());
        let Some(session) = agreed.session else { return };
        let mut request = self.remote.request(Method::DELETE).header(SESSION, session);
        if let Some(revision) = agreed.revision {
            request = request.header(REVISION, revision);
        }
        // Servers need not know how to end a session.
        let _ = tokio::time::timeout(crate::child::ENDING, request.send()).await;
    }

    /// Learns what was agreed on from the server's answer to `initialize`.
    pub(super) fn learn(&self, answer: &str) {
        let member = |object: &str, name: &str| -> Option<Box<RawValue>> {
            let members: Members<'_> = serde_json::from_str(object).ok()?;
            members.get(name).map(ToOwned::to_owned)
        };
        let result = member(answer, "result");
        let revision = result.and_then(|result| member(result.get(), "protocolVersion"));
        if let Some(revision) = revision.and_then(|revision| text_of(Some(&revision))) {
            self.agreed().revision = Some(revision);
        }
    }

    /// Begins a session again in place of one that the server does not know any more.
    pub(super) async fn renew(&self, expired: &HeaderValue) -> Result<(), Failure> {
        const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let _one = self.renewing.lock().await;
        let Agreed { session, opening, .. } = self.agreed().clone();
        if session.as_ref() != Some(expired) {
            // Somebody was faster.
            return Ok(());
        }
        let envelope = opening
            .as_deref()
            .and_then(|text| std::str::from_utf8(text).ok())
            .and_then(Envelope::read);
        let (Some(opening), Some(envelope)) = (opening, envelope) else {
            return Err(Failure::new(
                "the session has ended, and nothing is known that began it",
            ));
        };
        let welcome = match self.post(&opening, &envelope).await? {
            Reply::Message(text) => Some(text),
            Reply::Events(mut events) => loop {
                match events.next().await? {
                    Some(Event { data: Some(text), .. }) if !text.is_empty() => break Some(text),
                    Some(_) => {}
                    None => break None,
                }
            },
            Reply::Accepted => None,
        };
        let welcome =
            welcome.ok_or_else(|| Failure::new("the session has ended, and no other can be begun"))?;
        self.learn(&welcome);
        if let Some(envelope) = Envelope::read(INITIALIZED) {
            self.post(&Bytes::from_static(INITIALIZED.as_bytes()), &envelope)
                .await?;
        }
        Ok(())
    }
}
