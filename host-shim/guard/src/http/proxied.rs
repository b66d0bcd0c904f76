//! One request of Streamable HTTP and its answer, as a proxy shows them to whoever decides what becomes of them.
//!
//! The proxy has the connections and the sessions. A request stands by itself here: what a client sends is judged as it is before
//! the guard's own connections, nothing is asked of the server or of a person, and nothing is remembered for the next request.

use std::sync::Arc;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use http::{Method, StatusCode};

use super::envelope::Envelope;
use super::events::Reader;
use super::headers;
use super::status;
use crate::Guard;
use crate::lines::{FROM_CLIENT, FROM_SERVER, unbroken};
use crate::message::{Id, Message};
use crate::relay::{Delivery, Relay};
use crate::reply;

/// Why there is no answer of the server in its place.
const UNREADABLE: &str = "the server's answer cannot be read";

/// A request and its answer.
pub struct Exchange {
    relay: Relay,
    headers: HeaderMap,
    asked: Asked,
    answer: Reading,
}

/// The kinds of requests.
enum Asked {
    /// A message; with its id, if it is a request of JSON-RPC.
    Message(Option<Id>),
    /// A stream on which the server speaks by itself, or goes on with an earlier one.
    Stream,
    /// Nothing of which the answer is read.
    Other,
}

/// How an answer is read.
enum Reading {
    /// It has not begun.
    NotYet,
    /// Not, or not any further.
    No,
    /// One message. An answer that is an error of HTTP need not be one.
    Whole {
        bytes: Vec<u8>,
        is_error: bool,
    },
    Events(Reader),
}

/// The next step for the head of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Head {
    /// It goes on, and has no body.
    Pass,
    /// Its body is to be shown.
    Body,
    /// It goes no further: this is its answer.
    Answer(Reply),
}

/// The next step for a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// It goes on as it came.
    Pass,
    /// It goes on with this text in its place.
    Replace(String),
    /// It goes no further: this is its answer.
    Answer(Reply),
}

/// The next step for the head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerHead {
    /// It goes on, and its body need not be shown.
    Pass,
    /// Its body is to be shown, which is one message: nothing of it passes before its end.
    Message,
    /// Its body is to be shown, which is a stream of events: they pass one by one.
    Events,
    /// This takes its place.
    Replace(Reply),
}

/// An answer over HTTP in place of the server's.
#[derive(Debug, PartialEq, Eq)]
pub struct Reply {
    /// The code of the status.
    pub status: u16,
    /// JSON, or a line of text, or nothing.
    pub content_type: Option<&'static str>,
    /// The content.
    pub body: String,
}

impl Reply {
    /// A message of JSON-RPC.
    fn message(status: StatusCode, body: String) -> Self {
        Self {
            status: status.as_u16(),
            content_type: Some("application/json"),
            body,
        }
    }

    /// An error of JSON-RPC that answers no request that could be read.
    pub fn refusal(status: StatusCode, reason: &str) -> Self {
        Self::message(status, reply::error(None, reply::INVALID_REQUEST, reason))
    }
}

impl Exchange {
    /// A request to the server of a guard.
    pub fn new(guard: Arc<Guard>) -> Self {
        Self::of(Relay::at_proxy(guard))
    }

    fn of(relay: Relay) -> Self {
        Self {
            relay,
            headers: HeaderMap::new(),
            asked: Asked::Other,
            answer: Reading::NotYet,
        }
    }

    /// The same at a proxy that cannot rewrite a body: a call is sent as it came, and only where that is what is judged.
    pub fn exact(guard: Arc<Guard>) -> Self {
        Self::of(Relay::at_proxy(guard).exact())
    }

    /// The method and the headers of the request.
    pub fn head(&mut self, method: &Method, headers: HeaderMap, has_body: bool) -> Head {
        let refused = |status, reason: &str| Head::Answer(Reply::refusal(status, reason));
        // What passes through such a connection is nobody's to see.
        if headers.contains_key(UPGRADE) {
            return refused(
                StatusCode::NOT_IMPLEMENTED,
                "the header `upgrade` is not known here",
            );
        }
        if *method != Method::POST {
            let is_known = [Method::GET, Method::DELETE, Method::OPTIONS, Method::HEAD].contains(method);
            if !is_known {
                return refused(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "expected POST; GET and DELETE are for sessions",
                );
            }
            if has_body {
                return refused(
                    StatusCode::BAD_REQUEST,
                    "a body, expected one with the method POST alone",
                );
            }
            if *method == Method::GET {
                self.asked = Asked::Stream;
            }
            return Head::Pass;
        }
        if !has_body {
            return refused(StatusCode::BAD_REQUEST, "no body, expected a message of JSON-RPC");
        }
        if !headers::one(&headers, &CONTENT_TYPE).is_ok_and(|kind| kind.is_some_and(is_json)) {
            return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected `application/json`");
        }
        if is_encoded(&headers) {
            return refused(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a body that is compressed, expected one without `content-encoding`",
            );
        }
        self.headers = headers;
        self.asked = Asked::Message(None);
        Head::Body
    }

    /// The whole body of the request.
    pub fn body(&mut self, body: Vec<u8>) -> Step {
        if body.len() > FROM_CLIENT {
            let reason = format!("a body of more than {FROM_CLIENT} bytes");
            return Step::Answer(Reply::refusal(StatusCode::PAYLOAD_TOO_LARGE, &reason));
        }
        let bad = |text| Step::Answer(Reply::message(StatusCode::BAD_REQUEST, text));
        let Ok(text) = String::from_utf8(body) else {
            return bad(reply::error(None, reply::PARSE_ERROR, "a body that is not UTF-8"));
        };
        let envelope = match Envelope::try_read(&text) {
            Ok(envelope) => envelope,
            Err(refused) => return bad(self.relay.unread(&text, &refused)),
        };
        if let Err(reason) = headers::check(&self.headers, &envelope, &text, None) {
            let id = envelope.id().map(|id| &*id.json);
            return bad(self.relay.mismatched(id, &reason));
        }
        self.asked = Asked::Message(envelope.id().cloned());
        let text = unbroken(text);
        match self.relay.client_sent(text.clone()) {
            Delivery::ToServer(sent) if sent == text => Step::Pass,
            Delivery::ToServer(sent) if headers::check_arguments(&self.headers, &sent).is_err() => {
                let id = envelope.id();
                let reason = "the headers `Mcp-Param-*` repeat arguments that were judged in another form than they came";
                self.end(reason);
                bad(reply::error(
                    id.map(|id| &*id.json),
                    reply::HEADER_MISMATCH,
                    reason,
                ))
            }
            Delivery::ToServer(sent) => Step::Replace(sent),
            Delivery::ToClient(answer) => {
                let status = status::of_answer(&answer, envelope.revision.is_some(), false);
                Step::Answer(Reply::message(status, answer))
            }
            Delivery::Refused(answer) => bad(answer),
            Delivery::Nowhere => Step::Answer(Reply {
                status: StatusCode::ACCEPTED.as_u16(),
                content_type: None,
                body: String::new(),
            }),
        }
    }

    /// The status and the headers of the server's answer.
    pub fn answer_head(&mut self, status: u16, headers: &HeaderMap, has_body: bool) -> AnswerHead {
        let is_error = !(200..300).contains(&status);
        self.answer = Reading::No;
        if !has_body {
            self.end("the server answered without a body");
            return AnswerHead::Pass;
        }
        let kind = headers::one(headers, &CONTENT_TYPE).ok().flatten();
        let is_events = kind.is_some_and(is_event_stream);
        let is_json = kind.is_some_and(is_json);
        let reads = match &self.asked {
            Asked::Other => false,
            // A client may take the answer for events or a message although it is said in an odd way.
            Asked::Stream => kind.is_none_or(|kind| {
                let kind = kind.to_ascii_lowercase();
                kind.contains("event-stream") || kind.contains("json")
            }),
            Asked::Message(Some(_)) => is_events || is_json || !is_error,
            // What is said to a notification answers nothing.
            Asked::Message(None) => is_events || is_json,
        };
        if !reads {
            self.end("the server answered with an error of HTTP");
            return AnswerHead::Pass;
        }
        let instead = match (is_encoded(headers), is_events || is_json) {
            (true, _) => Some("the server's answer is compressed, and cannot be looked through"),
            (false, false) => Some("the server's answer is neither JSON nor a stream of events"),
            (false, true) => None,
        };
        if let Some(reason) = instead {
            let body = self.end(reason);
            let body = body.unwrap_or_else(|| reply::error(None, reply::INTERNAL_ERROR, reason));
            return AnswerHead::Replace(Reply::message(StatusCode::BAD_GATEWAY, body));
        }
        if is_events {
            self.answer = Reading::Events(Reader::new(FROM_SERVER));
            return AnswerHead::Events;
        }
        self.answer = Reading::Whole {
            bytes: Vec::new(),
            is_error,
        };
        AnswerHead::Message
    }

    /// A piece of the body of the server's answer; gives what the client gets now.
    pub fn answer_piece(&mut self, piece: &[u8], is_last: bool) -> Vec<u8> {
        match &mut self.answer {
            Reading::NotYet | Reading::No => Vec::new(),
            Reading::Whole { bytes, .. } if bytes.len() + piece.len() > FROM_SERVER => {
                let said = self.end("the server's answer is too long");
                self.answer = Reading::No;
                said.unwrap_or_default().into_bytes()
            }
            Reading::Whole { bytes, is_error } => {
                bytes.extend_from_slice(piece);
                if !is_last {
                    return Vec::new();
                }
                let (bytes, is_error) = (std::mem::take(bytes), *is_error);
                self.answer = Reading::No;
                self.whole(bytes, is_error)
            }
            Reading::Events(reader) => {
                let Ok(events) = reader.read(piece) else {
                    self.answer = Reading::No;
                    return self.last_event("the server sent an event that is too long");
                };
                let mut passed = String::new();
                for mut event in events {
                    let data = event.data.take().filter(|data| !data.is_empty());
                    event.data = match data {
                        Some(data) => match self.said(data) {
                            Some(said) => Some(said),
                            None if event.id.is_none() => continue,
                            None => None,
                        },
                        None => None,
                    };
                    passed.push_str(&event.written());
                }
                let mut passed = passed.into_bytes();
                if is_last {
                    self.answer = Reading::No;
                    passed.extend(self.last_event("the connection to the server ended before it answered"));
                }
                passed
            }
        }
    }

    /// Bytes of the server's answer that are kept until more of it has come.
    pub fn kept(&self) -> usize {
        match &self.answer {
            Reading::NotYet | Reading::No => 0,
            Reading::Whole { bytes, .. } => bytes.len(),
            Reading::Events(reader) => reader.kept(),
        }
    }

    /// The server's whole answer.
    fn whole(&mut self, bytes: Vec<u8>, is_error: bool) -> Vec<u8> {
        let text = String::from_utf8(bytes).map_err(|error| error.into_bytes());
        let is_message = text.as_ref().is_ok_and(|text| Message::read(text).is_ok());
        let text = match text {
            // An error of HTTP, which says why in its own way.
            Ok(text) if is_error && !is_message => Err(text.into_bytes()),
            Ok(text) => Ok(text),
            Err(bytes) if is_error => Err(bytes),
            Err(_) => Ok(String::new()),
        };
        match text {
            Ok(text) => {
                let said = self.said(text).or_else(|| self.end(UNREADABLE));
                said.unwrap_or_default().into_bytes()
            }
            Err(bytes) => {
                self.end("the server answered with an error of HTTP");
                bytes
            }
        }
    }

    /// A message of the server as the client gets it.
    fn said(&mut self, text: String) -> Option<String> {
        let step = match &self.asked {
            Asked::Stream => self.relay.server_spoke(text),
            Asked::Message(_) | Asked::Other => self.relay.server_sent(text),
        };
        match step {
            Delivery::ToClient(text) => Some(text),
            // Nothing is asked of a server here.
            Delivery::ToServer(_) | Delivery::Refused(_) | Delivery::Nowhere => None,
        }
    }

    /// Says that no answer comes any more, where one is missing.
    fn last_event(&mut self, reason: &str) -> Vec<u8> {
        let data = self.end(reason);
        let event = data.map(|data| format!("event: message\ndata: {data}\n\n"));
        event.unwrap_or_default().into_bytes()
    }

    /// The server answers no more. Gives what the client is told, if it still waits.
    fn end(&mut self, reason: &str) -> Option<String> {
        match &self.asked {
            Asked::Message(Some(id)) => self.relay.lost(&id.text, reason),
            Asked::Message(None) | Asked::Stream | Asked::Other => None,
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // The log says how a call ended, where its answer is shown.
        if !matches!(self.answer, Reading::NotYet) {
            self.end("the request ended before the server answered");
        }
    }
}

fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn is_json(kind: &str) -> bool {
    // Bytes of another encoding are other characters.
    let is_utf8 = |parameter: &str| {
        let charset = parameter.split_once('=');
        let charset = charset.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        charset.is_none_or(|(_, value)| value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"))
    };
    essence(kind).eq_ignore_ascii_case("application/json") && kind.split(';').skip(1).all(is_utf8)
}

fn is_event_stream(kind: &str) -> bool {
    essence(kind).eq_ignore_ascii_case("text/event-stream")
}

/// Returns `true` if the bytes of a body are not those of its content.
fn is_encoded(headers: &HeaderMap) -> bool {
    let plain = |value: &HeaderValue, known: &[&str]| {
        let value = value.to_str().unwrap_or("?").to_ascii_lowercase();
        known.contains(&value.trim())
    };
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    let mut transfers = headers.get_all(TRANSFER_ENCODING).iter();
    !encodings.all(|value| plain(value, &["identity", ""]))
        || !transfers.all(|value| plain(value, &["chunked"]))
}
