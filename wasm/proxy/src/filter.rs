//! One request and its answer, as a proxy shows them.

use std::rc::Rc;

use callgate_guard::http::{AnswerHead, Exchange, Head, Reply, Step};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::{Action, Bytes, LogLevel};

use crate::configuration::Loaded;

/// Bytes of events that have begun and not ended, of all answers at a time. The module's memory has an end, and with it all requests.
const KEPT: usize = 256 * 1024 * 1024;

/// More than any body has: a proxy takes it for all that there is.
const WHOLE: usize = u32::MAX as usize;

/// What is expected next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The head of the request.
    Head,
    /// The body of the request, of which nothing goes on before it was judged.
    Body,
    /// The request is on its way.
    Sent,
    /// An answer that is one message.
    Message,
    /// An answer that is a stream of events.
    Events,
    /// Nothing more has to be read.
    Done,
}

pub(crate) struct Filter {
    /// `None` if the configuration was refused.
    loaded: Option<Rc<Loaded>>,
    exchange: Option<Exchange>,
    stage: Stage,
    /// Bytes that the exchange keeps.
    kept: usize,
}

impl Context for Filter {}

impl HttpContext for Filter {
    fn on_http_request_headers(&mut self, _: usize, end_of_stream: bool) -> Action {
        let Some(loaded) = &self.loaded else {
            return self.refused("the filter has no configuration that can be used");
        };
        let mut exchange = Exchange::new(loaded.guard(self.get_current_time()));
        let Some((pseudo, headers)) = read(self.get_http_request_headers_bytes()) else {
            return self.refused("the headers of the request cannot be read");
        };
        let Some(method) = pseudo.method else {
            return self.refused("the request has no method");
        };
        let head = exchange.head(&method, headers, !end_of_stream);
        self.exchange = Some(exchange);
        // The server's answer is to come as it is read here.
        self.set_http_request_header("accept-encoding", None);
        match head {
            Head::Answer(reply) => self.answered(&reply),
            Head::Pass => {
                self.stage = Stage::Sent;
                Action::Continue
            }
            Head::Body => {
                self.stage = Stage::Body;
                Action::Pause
            }
        }
    }

    fn on_http_request_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        match self.stage {
            Stage::Body if !end_of_stream => return Action::Pause,
            Stage::Body => {}
            Stage::Done => return Action::Pause,
            // A body that was not announced.
            Stage::Head | Stage::Sent | Stage::Message | Stage::Events => {
                return match size {
                    0 => Action::Continue,
                    _ => self.refused("the body of the request came without its headers"),
                };
            }
        }
        let body = self.get_http_request_body(0, WHOLE).unwrap_or_default();
        let now = self.get_current_time();
        let (Some(loaded), Some(exchange)) = (&self.loaded, &mut self.exchange) else {
            return self.refused("the body of the request came without its headers");
        };
        // The bundle may have expired since.
        loaded.guard(now);
        if body.len() != size {
            return self.refused("the body of the request is not whole");
        }
        self.stage = Stage::Sent;
        match exchange.body(body) {
            Step::Pass => Action::Continue,
            Step::Replace(text) => {
                self.set_http_request_header("content-length", Some(&text.len().to_string()));
                self.set_http_request_body(0, WHOLE, text.as_bytes());
                Action::Continue
            }
            Step::Answer(reply) => self.answered(&reply),
        }
    }

    fn on_http_request_trailers(&mut self, _: usize) -> Action {
        match self.stage {
            Stage::Head | Stage::Body => self.refused("the body of the request is not whole"),
            Stage::Done => Action::Pause,
            Stage::Sent | Stage::Message | Stage::Events => Action::Continue,
        }
    }

    fn on_http_response_headers(&mut self, _: usize, end_of_stream: bool) -> Action {
        let (now, given) = (self.get_current_time(), self.get_http_response_headers_bytes());
        let (Some(loaded), Some(exchange), false) =
            (&self.loaded, &mut self.exchange, self.stage == Stage::Done)
        else {
            // The answer is the filter's own.
            return Action::Continue;
        };
        loaded.guard(now);
        let Some((pseudo, headers)) = read(given) else {
            return self.refused("the headers of the answer cannot be read");
        };
        let Some(status) = pseudo.status else {
            return self.refused("the answer has no status");
        };
        let (stage, action) = match exchange.answer_head(status, &headers, !end_of_stream) {
            AnswerHead::Replace(reply) => return self.answered(&reply),
            AnswerHead::Pass => (Stage::Done, Action::Continue),
            // The proxy can still say in its place that it is too long.
            AnswerHead::Message => (Stage::Message, Action::Pause),
            AnswerHead::Events => (Stage::Events, Action::Continue),
        };
        self.stage = stage;
        if stage != Stage::Done {
            self.set_http_response_header("content-length", None);
        }
        action
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        match self.stage {
            Stage::Message if !end_of_stream => return Action::Pause,
            Stage::Message | Stage::Events => {}
            Stage::Head | Stage::Body | Stage::Sent | Stage::Done => return Action::Continue,
        }
        let piece = self.get_http_response_body(0, size).unwrap_or_default();
        let passed = self.looked_through(&piece, end_of_stream);
        self.set_http_response_body(0, WHOLE, &passed);
        Action::Continue
    }

    fn on_http_response_trailers(&mut self, _: usize) -> Action {
        // A message that trailers follow has not passed yet, if there is one. What a server has not ended of an event is nothing.
        if self.stage == Stage::Message
            && let Some(message) = self.get_http_response_body(0, WHOLE)
        {
            let passed = self.looked_through(&message, true);
            self.set_http_response_body(0, WHOLE, &passed);
        }
        Action::Continue
    }
}

impl Filter {
    pub(crate) fn new(loaded: Option<Rc<Loaded>>) -> Self {
        Self {
            loaded,
            exchange: None,
            stage: Stage::Head,
            kept: 0,
        }
    }

    /// What the client gets of a piece of the answer.
    fn looked_through(&mut self, piece: &[u8], is_last: bool) -> Vec<u8> {
        let now = self.get_current_time();
        let (Some(loaded), Some(exchange)) = (&self.loaded, &mut self.exchange) else {
            return Vec::new();
        };
        loaded.guard(now);
        let mut passed = exchange.answer_piece(piece, is_last);
        let others = loaded.kept.get() - self.kept;
        self.kept = exchange.kept();
        if others + self.kept > KEPT {
            crate::log(
                LogLevel::Warn,
                "too many answers are half there, so one of them ends",
            );
            passed.extend(exchange.answer_piece(&[], true));
            self.kept = 0;
        }
        loaded.kept.set(others + self.kept);
        passed
    }

    /// Refuses whatever this is, because the proxy does not show it as it must be.
    fn refused(&mut self, reason: &str) -> Action {
        crate::log(LogLevel::Warn, reason);
        self.answered(&Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, reason))
    }

    /// Answers in the server's place.
    fn answered(&mut self, reply: &Reply) -> Action {
        self.stage = Stage::Done;
        let kind = reply.content_type.map(|kind| ("content-type", kind));
        self.send_http_response(
            u32::from(reply.status),
            kind.into_iter().collect(),
            Some(reply.body.as_bytes()),
        );
        Action::Pause
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        if let Some(loaded) = &self.loaded {
            loaded.kept.set(loaded.kept.get() - self.kept);
        }
    }
}

/// What HTTP/2 says beside the headers.
#[derive(Default)]
struct Pseudo {
    method: Option<Method>,
    status: Option<u16>,
}

/// Headers as they are sent; `None` if one cannot be read.
fn read(given: Vec<(String, Bytes)>) -> Option<(Pseudo, HeaderMap)> {
    let mut pseudo = Pseudo::default();
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        match name.as_str() {
            ":method" => pseudo.method = Some(Method::from_bytes(&value).ok()?),
            ":status" => pseudo.status = Some(std::str::from_utf8(&value).ok()?.parse().ok()?),
            name if name.starts_with(':') => {}
            name => {
                let name = HeaderName::try_from(name).ok()?;
                headers.append(name, HeaderValue::from_bytes(&value).ok()?);
            }
        }
    }
    Some((pseudo, headers))
}
