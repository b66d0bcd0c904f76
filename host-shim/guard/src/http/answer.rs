//! Answers to a client over HTTP.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::events::Event;
use super::leaving::Leaving;
use super::streams::Piece;
use crate::reply;

/// How often a stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(15);

/// The body of an answer.
pub(super) enum Answer {
    Whole(Option<Bytes>),
    Events(Box<Stream>),
}

/// A stream of events.
pub(super) struct Stream {
    /// The events that come before all others.
    first: Vec<Event>,
    rest: Option<Receiver<Piece>>,
    alive: Interval,
    leaving: Leaving,
}

impl Stream {
    pub(super) fn new(mut first: Vec<Event>, rest: Option<Receiver<Piece>>, leaving: Leaving) -> Self {
        let mut alive = interval(ALIVE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is now.
        alive.reset();
        first.reverse();
        Self {
            first,
            rest,
            alive,
            leaving,
        }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        if let Some(event) = self.first.pop() {
            return Poll::Ready(Some(event.written()));
        }
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(None);
        };
        match rest.poll_recv(context) {
            Poll::Ready(Some(Piece::Part(event))) => return Poll::Ready(Some(event.written())),
            Poll::Ready(Some(Piece::Last(event))) => {
                self.rest = None;
                self.leaving.is_answered = true;
                return Poll::Ready(Some(event.written()));
            }
            Poll::Ready(Some(Piece::Expired | Piece::Cancelled) | None) => {
                self.rest = None;
                return Poll::Ready(None);
            }
            Poll::Pending => {}
        }
        self.alive.poll_tick(context).map(|_| Some(":\n\n".to_owned()))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let text = match self.get_mut() {
            Self::Whole(whole) => Poll::Ready(whole.take()),
            Self::Events(stream) => stream.next(context).map(|text| text.map(Bytes::from)),
        };
        text.map(|text| text.map(|text| Ok(Frame::data(text))))
    }
}

/// An answer.
pub(super) type Whole = Box<Response<Answer>>;

/// An answer without a body, or with a line of text.
pub(super) fn text_answer(status: StatusCode, text: &str) -> Whole {
    let body = (!text.is_empty()).then(|| Bytes::from(format!("{text}\n")));
    respond(status, "text/plain; charset=utf-8", Answer::Whole(body))
}

/// A message.
pub(super) fn message(status: StatusCode, text: String) -> Whole {
    respond(status, "application/json", Answer::Whole(Some(Bytes::from(text))))
}

/// An error of JSON-RPC that answers no request that could be read.
pub(super) fn refusal(status: StatusCode, reason: &str) -> Whole {
    message(status, reply::error(None, reply::INVALID_REQUEST, reason))
}

/// A stream of events.
pub(super) fn events(stream: Stream) -> Whole {
    let mut response = respond(
        StatusCode::OK,
        "text/event-stream",
        Answer::Events(Box::new(stream)),
    );
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

fn respond(status: StatusCode, kind: &'static str, body: Answer) -> Whole {
    let is_empty = matches!(body, Answer::Whole(None));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if !is_empty {
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    Box::new(response)
}

/// The next piece of a stream.
pub(super) async fn next(from: &mut Receiver<Piece>) -> Option<Piece> {
    poll_fn(|context| from.poll_recv(context)).await
}
