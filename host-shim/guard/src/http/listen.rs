//! Clients over Streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use super::answer::{self, Answer, Stream, Whole, events, message, refusal, text_answer};
use super::door::show;
use super::envelope::{Envelope, Kind, progress_token};
use super::events::Event;
use super::headers::{self, LAST_EVENT, SESSION};
use super::leaving::Leaving;
use super::names::wants_messages;
use super::remote::Connection;
use super::request::{Accepts, no_room, no_session, not_allowed, text_of};
use super::session::{Client, Server, Session};
use super::sessions::{Behind, Listener};
use super::status;
use super::streams::{Piece, Streams};
use super::workers::Worker;
use crate::message::Id;
use crate::relay::{Delivery, Relay};
use crate::reply;
use crate::revisions::{Revisions, only_handshake};

/// How long an answer may take before its stream begins without it, so that a client knows that its request has arrived.
const QUIET: Duration = Duration::from_secs(5);

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";

/// An answer as it was asked for, or one that says why not.
type Answered = Result<Whole, Whole>;

impl Listener {
    pub(super) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Answer> {
        let origin = request.headers().get(ORIGIN).cloned();
        let mut response = match self.visitors.refuse(&request, self.here) {
            Some(refused) => *refused,
            None => Arc::clone(&self).admitted(request).await,
        };
        let may_read = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| self.visitors.lets(origin));
        if let Some(origin) = origin.filter(may_read) {
            show(&mut response, origin);
        }
        response
    }

    async fn admitted(self: Arc<Self>, request: Request<Incoming>) -> Response<Answer> {
        if request.uri().path() != PATH {
            return *text_answer(
                StatusCode::NOT_FOUND,
                &format!("there is nothing here, expected `{PATH}`"),
            );
        }
        if self.is_closed.load(Ordering::Relaxed) {
            return *text_answer(StatusCode::SERVICE_UNAVAILABLE, "the guard ends");
        }
        let method = request.method().clone();
        let answered = match method {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()).await,
            Method::DELETE => self.delete(request.headers()),
            _ => Err(not_allowed()),
        };
        *answered.unwrap_or_else(|refused| refused)
    }

    async fn post(self: &Arc<Self>, request: Request<Incoming>) -> Answered {
        let headers = request.headers().clone();
        let accepts = Accepts::of(&headers)?;
        let text = text_of(request, &self.bodies, self.has_session(&headers)).await?;
        let envelope = Envelope::try_read(&text).map_err(|refused| {
            let refused = Relay::new(Arc::clone(&self.guard)).unread(&text, &refused);
            message(StatusCode::BAD_REQUEST, refused)
        })?;
        let mirrored = match &self.behind {
            Behind::Url(remote) => Some(&remote.mirrored),
            Behind::Program(_) => None,
        };
        if let Err(reason) = headers::check(&headers, &envelope, &text, mirrored) {
            let id = envelope.id().map(|id| &*id.json);
            let refused = Relay::new(Arc::clone(&self.guard)).mismatched(id, &reason);
            return Err(message(StatusCode::BAD_REQUEST, refused));
        }
        if envelope.revision.is_some() {
            return self.without_session(text, envelope, &accepts).await;
        }
        if envelope.method() == "initialize" && envelope.id().is_some() {
            return self.begin(text, envelope, &accepts).await;
        }
        let (_, session) = self.session(&headers)?;
        let leaving = Leaving::of(&session);
        self.pass(session, text, envelope, &accepts, leaving, None).await
    }

    /// A message on a session's stream, and its answer.
    async fn pass(
        self: &Arc<Self>,
        session: Arc<Session>,
        text: String,
        envelope: Envelope,
        accepts: &Accepts,
        mut leaving: Leaving,
        begun: Option<&str>,
    ) -> Answered {
        let Client::Streams(streams) = &session.client else {
            return Err(text_answer(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the session has no streams",
            ));
        };
        let Some(id) = envelope.id().cloned() else {
            match session.judge(text) {
                Delivery::Refused(refused) => return Err(message(StatusCode::BAD_REQUEST, refused)),
                // It may be the answer to another request, which waited for this message.
                step => session.take(step, None, Event::default()).await,
            }
            if let Some(id) = envelope.cancels() {
                session.cancelled(&id);
            }
            return Ok(text_answer(StatusCode::ACCEPTED, ""));
        };
        let Some(mut from) = streams.open(&id, progress_token(&text)) else {
            return Err(message(StatusCode::BAD_REQUEST, session.repeated(&id)));
        };
        leaving.request = Some(id.clone());
        let is_modern = envelope.revision.is_some();
        let step = match session.judge(text) {
            Delivery::ToClient(text) if answered(&text).is_some_and(|answered| answered == id) => {
                leaving.is_answered = true;
                return Ok(self.last(text, is_modern, begun));
            }
            step => step,
        };
        session.take(step, Some(&id), Event::default()).await;
        drop(session);
        let mut first = Vec::new();
        loop {
            let piece = match accepts.events {
                true => timeout(QUIET, answer::next(&mut from)).await,
                false => Ok(answer::next(&mut from).await),
            };
            match piece {
                Ok(Some(Piece::Last(event))) => {
                    leaving.is_answered = true;
                    return Ok(self.last(event.data.unwrap_or_default(), is_modern, begun));
                }
                Ok(Some(Piece::Expired)) => return Err(no_session()),
                Ok(Some(Piece::Cancelled)) => return Ok(text_answer(StatusCode::ACCEPTED, "")),
                Ok(None) => {
                    return Err(refusal(
                        StatusCode::BAD_GATEWAY,
                        "the server ended before it answered",
                    ));
                }
                // The client cannot be told.
                Ok(Some(Piece::Part(_))) if !accepts.events => {}
                Ok(Some(Piece::Part(event))) => {
                    first.push(event);
                    break;
                }
                Err(_) => break,
            }
        }
        let mut response = events(Stream::new(first, Some(from), leaving));
        name(&mut response, begun);
        Ok(response)
    }

    /// The answer to a request as a whole.
    fn last(&self, text: String, is_modern: bool, begun: Option<&str>) -> Whole {
        let is_handshake = self.guard.revisions() == Revisions::Handshake;
        let is_error = status::code_of(&text).is_some();
        let mut response = message(status::of_answer(&text, is_modern, is_handshake), text);
        name(&mut response, begun.filter(|_| !is_error));
        response
    }

    /// A request of the modern era, which stands by itself.
    async fn without_session(
        self: &Arc<Self>,
        text: String,
        envelope: Envelope,
        accepts: &Accepts,
    ) -> Answered {
        if matches!(envelope.kind, Kind::Response { .. }) {
            return Err(refusal(StatusCode::BAD_REQUEST, "an answer, expected a request"));
        }
        let (server, worker) = match &self.behind {
            Behind::Url(remote) => (Server::Url(Connection::new(Arc::clone(remote))), None),
            Behind::Program(_) if envelope.id().is_none() => {
                // It belongs to no request that a program has.
                return match Relay::new(Arc::clone(&self.guard)).client_sent(text) {
                    Delivery::Refused(refused) => Err(message(StatusCode::BAD_REQUEST, refused)),
                    Delivery::ToServer(_) | Delivery::ToClient(_) | Delivery::Nowhere => {
                        Ok(text_answer(StatusCode::ACCEPTED, ""))
                    }
                };
            }
            Behind::Program(program) => {
                if let (Revisions::Handshake, Some(revision)) = (self.guard.revisions(), &envelope.revision) {
                    return Err(self.refuse_era(&envelope, revision));
                }
                let worker = self.workers.take(
                    &self.guard,
                    wants_messages(&text),
                    || self.room_for_request(),
                    || self.started.start(program),
                );
                let worker = worker.map_err(|error| self.cannot_start(program, &error))?;
                let worker = worker.ok_or_else(no_room)?;
                (Server::Worker(worker.program()), Some(worker))
            }
        };
        let listed = worker.as_ref().map(Worker::listed);
        let session = Session::of_request(
            Arc::clone(&self.guard),
            listed.unwrap_or_else(|| Arc::clone(&self.listed)),
            Client::Streams(Streams::default()),
            server,
        );
        if let Some(worker) = &worker {
            worker.serve(&session);
        }
        self.stands(&session);
        let mut leaving = Leaving::of(&session);
        leaving.cancels = true;
        leaving.worker = worker;
        self.pass(session, text, envelope, accepts, leaving, None).await
    }

    fn refuse_era(&self, envelope: &Envelope, revision: &str) -> Whole {
        let reason = only_handshake(revision);
        self.guard.warn(&reason);
        let code = match envelope.method() {
            "server/discover" => reply::METHOD_NOT_FOUND,
            _ => reply::INVALID_REQUEST,
        };
        let id = envelope.id().map(|id| &*id.json);
        message(StatusCode::BAD_REQUEST, reply::error(id, code, &reason))
    }

    /// Begins a session.
    async fn begin(self: &Arc<Self>, text: String, envelope: Envelope, accepts: &Accepts) -> Answered {
        let (named, session) = self.open()?;
        let leaving = Leaving::of(&session);
        let answered = self
            .pass(session, text, envelope, accepts, leaving, Some(&named))
            .await;
        let is_begun = answered
            .as_ref()
            .is_ok_and(|response| response.headers().contains_key(SESSION));
        if !is_begun {
            self.forget(&named);
        }
        answered
    }

    async fn get(self: &Arc<Self>, headers: &HeaderMap) -> Answered {
        if !headers.contains_key(SESSION) {
            return Err(not_allowed());
        }
        let (_, session) = self.session(headers)?;
        if !Accepts::of(headers)?.events {
            return Err(text_answer(
                StatusCode::NOT_ACCEPTABLE,
                "the header `accept` must name `text/event-stream`",
            ));
        }
        let after = headers::one(headers, &LAST_EVENT);
        let after = after.map_err(|reason| text_answer(StatusCode::BAD_REQUEST, &reason))?;
        let Client::Streams(streams) = &session.client else {
            return Err(not_allowed());
        };
        let mut leaving = Leaving::of(&session);
        let theirs = match &session.server {
            Server::Program(_) | Server::Worker(_) => None,
            Server::Url(connection) => match connection.listen(after).await {
                Ok(events) => Some(events),
                Err(failure) if failure.expired.is_some() => {
                    self.forget_session(&session);
                    return Err(no_session());
                }
                Err(failure) => {
                    let status = failure
                        .status
                        .filter(|status| *status == StatusCode::METHOD_NOT_ALLOWED);
                    return Err(text_answer(
                        status.unwrap_or(StatusCode::BAD_GATEWAY),
                        &failure.reason,
                    ));
                }
            },
        };
        // A stream that goes on with that of a request stands beside the one on which the server speaks by itself.
        let (origin, from, queued) = match (after, &theirs) {
            (Some(after), Some(_)) => {
                let text = format!("callgate/after/{after}");
                let json = serde_json::Value::from(&*text).to_string();
                let id = Id { json, text };
                let Some(from) = streams.open(&id, None) else {
                    return Err(text_answer(
                        StatusCode::CONFLICT,
                        "somebody goes on after this event already",
                    ));
                };
                leaving.request = Some(id.clone());
                (Some(id), from, Vec::new())
            }
            (_, _) => {
                let (number, from, queued) = streams.open_own();
                leaving.own = Some(number);
                (None, from, queued)
            }
        };
        if let Some(theirs) = theirs {
            let reader = Arc::clone(&session);
            let number = leaving.own;
            let task = tokio::spawn(async move { reader.relay_stream(theirs, origin, number).await });
            leaving.task = Some(task.abort_handle());
        }
        Ok(events(Stream::new(queued, Some(from), leaving)))
    }

    fn delete(&self, headers: &HeaderMap) -> Answered {
        if !headers.contains_key(SESSION) {
            return Err(not_allowed());
        }
        let (name, _) = self.session(headers)?;
        self.forget(&name);
        Ok(text_answer(StatusCode::OK, ""))
    }
}

/// The id of the request that a message answers.
fn answered(text: &str) -> Option<Id> {
    match Envelope::read(text)?.kind {
        Kind::Response { id } => id,
        Kind::Request { .. } | Kind::Notification { .. } => None,
    }
}

/// Says which session was begun.
fn name(response: &mut Response<Answer>, begun: Option<&str>) {
    if let Some(name) = begun.and_then(|name| HeaderValue::from_str(name).ok()) {
        response.headers_mut().insert(SESSION, name);
    }
}
