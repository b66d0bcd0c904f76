//! Envoy's external processing: every message is judged, and bodies are rewritten to what was judged.
//!
//! Envoy sends the parts of a request and of its answer on one stream of gRPC, and waits for what becomes of each:
//! <https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/ext_proc/v3/external_processor.proto>.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use callgate_guard::http::{AnswerHead, Exchange, Head, Reply, Step};
use envoy_types::pb::envoy::config::core::v3::{
    HeaderMap as WireHeaders, HeaderValue as WireHeader, HeaderValueOption,
    header_value_option::HeaderAppendAction,
};
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode;
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::ExternalProcessor;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Part;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Answer;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyMutation, BodyResponse, CommonResponse, HeaderMutation, HeadersResponse, HttpBody, HttpHeaders,
    ImmediateResponse, ProcessingRequest, ProcessingResponse, StreamedBodyResponse, TrailersResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use futures_util::stream::{Stream, try_unfold};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use tonic::{Request, Response, Status, Streaming};

use crate::held::Held;
use crate::metrics::{Door, Outcome};
use crate::server_name::{server_of, subject_of};
use crate::service::Service;

/// The door.
pub(crate) struct ExtProc {
    service: Arc<Service>,
}

impl ExtProc {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        Self { service }
    }
}

type Answers = Pin<Box<dyn Stream<Item = Result<ProcessingResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ExternalProcessor for ExtProc {
    type ProcessStream = Answers;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let exchange = server_of(request.metadata())
            .and_then(|server| {
                self.service
                    .guard(server.as_deref(), subject_of(request.extensions()))
            })
            .map(Exchange::new);
        let held = request.extensions().get::<Arc<Held>>().cloned();
        let processing = Processing {
            service: Arc::clone(&self.service),
            exchange,
            modes: None,
            stage: Stage::Head,
            is_open: true,
        };
        let state = (request.into_inner(), processing, VecDeque::new(), held);
        let answers = try_unfold(state, |(mut parts, mut processing, mut ready, held)| async move {
            loop {
                if let Some(answer) = ready.pop_front() {
                    return Ok(Some((answer, (parts, processing, ready, held))));
                }
                if !processing.is_open {
                    return Ok(None);
                }
                let Some(part) = parts.message().await? else {
                    return Ok(None);
                };
                ready.extend(processing.take(part)?);
                if let (Some(held), Ok(exchange)) = (&held, &processing.exchange) {
                    held.keep(exchange.kept());
                }
            }
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// How bodies are sent.
#[derive(Clone, Copy)]
struct Modes {
    request: BodySendMode,
    response: BodySendMode,
}

/// What is expected next.
enum Stage {
    Head,
    /// The body of the request.
    Body,
    /// What has no body to judge is on its way.
    Sent,
    /// The body of the answer, of which the pieces pass or are read.
    Answer {
        is_read: bool,
    },
    /// Nothing more has to be read.
    Done,
}

/// One request and its answer.
struct Processing {
    service: Arc<Service>,
    exchange: Result<Exchange, String>,
    modes: Option<Modes>,
    stage: Stage,
    is_open: bool,
}

impl Processing {
    /// What becomes of a part.
    ///
    /// # Errors
    /// It is none that is known, or comes out of turn: Envoy then answers with an error.
    fn take(&mut self, message: ProcessingRequest) -> Result<Vec<ProcessingResponse>, Status> {
        if message.observability_mode {
            // Envoy waits for nothing then, and nothing can be enforced.
            self.service
                .warn("Envoy's filter has `observability_mode`: NOTHING IS ENFORCED");
        }
        if let Some(config) = message.protocol_config {
            let mode = |mode| BodySendMode::try_from(mode).unwrap_or(BodySendMode::None);
            self.modes = Some(Modes {
                request: mode(config.request_body_mode),
                response: mode(config.response_body_mode),
            });
        }
        let part = message
            .request
            .ok_or_else(|| Status::invalid_argument("a part that is not known"))?;
        let answers = match part {
            Part::RequestHeaders(headers) => vec![self.head(&headers)],
            Part::RequestBody(body) => vec![self.body(body)],
            Part::RequestTrailers(_) => vec![Answer::RequestTrailers(TrailersResponse::default())],
            Part::ResponseHeaders(headers) => vec![self.answer_head(&headers)],
            Part::ResponseBody(body) => self.answer_piece(body)?,
            Part::ResponseTrailers(_) => self.answer_trailers(),
        };
        Ok(answers.into_iter().map(written).collect())
    }

    fn head(&mut self, wire: &HttpHeaders) -> Answer {
        if !matches!(self.stage, Stage::Head) {
            return self.refused("the headers of the request came twice");
        }
        let exchange = match &mut self.exchange {
            Ok(exchange) => exchange,
            Err(reason) => {
                let reason = reason.clone();
                return self.refused(&reason);
            }
        };
        let Some((pseudo, headers)) = read(wire.headers.as_ref()) else {
            return self.refused("the headers of the request cannot be read");
        };
        let Some(method) = pseudo.method else {
            return self.refused("the request has no method");
        };
        match exchange.head(&method, headers, !wire.end_of_stream) {
            Head::Answer(reply) => self.answered(reply),
            Head::Pass => {
                self.stage = Stage::Sent;
                Answer::RequestHeaders(uncompressed())
            }
            Head::Body => match self.modes {
                Some(modes) if modes.request == BodySendMode::Buffered => {
                    self.stage = Stage::Body;
                    Answer::RequestHeaders(uncompressed())
                }
                Some(_) | None => self
                    .refused("Envoy's filter does not send bodies, expected `request_body_mode: BUFFERED`"),
            },
        }
    }

    fn body(&mut self, body: HttpBody) -> Answer {
        let begun = Instant::now();
        let is_whole = body.end_of_stream && !body.end_of_stream_without_message;
        let exchange = match (&mut self.exchange, &self.stage) {
            (Ok(exchange), Stage::Body) if is_whole => exchange,
            (Ok(_), Stage::Body) => return self.refused("the body of the request is not whole"),
            (_, _) => return self.refused("the body of the request came without its headers"),
        };
        self.stage = Stage::Sent;
        let step = Service::judging(|| exchange.body(body.body));
        let (answer, outcome) = match step {
            Step::Pass => (Answer::RequestBody(BodyResponse::default()), Outcome::Passed),
            Step::Replace(text) => {
                let body = rewritten(text.into_bytes());
                (Answer::RequestBody(body), Outcome::Rewritten)
            }
            Step::Answer(reply) => (self.answered(reply), Outcome::Answered),
        };
        self.service
            .metrics
            .decided(Door::ExtProc, outcome, begun.elapsed());
        answer
    }

    fn answer_head(&mut self, wire: &HttpHeaders) -> Answer {
        let Ok(exchange) = &mut self.exchange else {
            return self.refused("the answer came without its request");
        };
        let Some((pseudo, headers)) = read(wire.headers.as_ref()) else {
            return self.refused("the headers of the answer cannot be read");
        };
        let Some(status) = pseudo.status else {
            return self.refused("the answer has no status");
        };
        match exchange.answer_head(status, &headers, !wire.end_of_stream) {
            AnswerHead::Pass => {
                self.stage = Stage::Answer { is_read: false };
                Answer::ResponseHeaders(HeadersResponse::default())
            }
            AnswerHead::Replace(reply) => self.answered(reply),
            AnswerHead::Message | AnswerHead::Events => {
                self.stage = Stage::Answer { is_read: true };
                Answer::ResponseHeaders(HeadersResponse {
                    response: Some(CommonResponse {
                        header_mutation: Some(HeaderMutation {
                            remove_headers: vec!["content-length".to_owned()],
                            ..HeaderMutation::default()
                        }),
                        ..CommonResponse::default()
                    }),
                })
            }
        }
    }

    fn answer_piece(&mut self, body: HttpBody) -> Result<Vec<Answer>, Status> {
        let (Ok(exchange), Stage::Answer { is_read }) = (&mut self.exchange, &self.stage) else {
            return Err(Status::invalid_argument("the body of an answer came out of turn"));
        };
        let is_read = *is_read;
        let mode = self.modes.map(|modes| modes.response);
        let is_last = body.end_of_stream;
        match mode {
            Some(BodySendMode::Buffered) if !is_read => {
                Ok(vec![Answer::ResponseBody(BodyResponse::default())])
            }
            Some(BodySendMode::Buffered) => {
                let passed = exchange.answer_piece(&body.body, true);
                Ok(vec![Answer::ResponseBody(replaced(passed))])
            }
            Some(BodySendMode::Streamed) if !is_read => {
                Ok(vec![Answer::ResponseBody(BodyResponse::default())])
            }
            Some(BodySendMode::Streamed) => {
                let passed = exchange.answer_piece(&body.body, is_last);
                Ok(vec![Answer::ResponseBody(replaced(passed))])
            }
            Some(BodySendMode::FullDuplexStreamed) => {
                let passed = match is_read {
                    true => exchange.answer_piece(&body.body, is_last),
                    false => body.body,
                };
                let says_something = is_last || !passed.is_empty();
                Ok(says_something
                    .then(|| streamed(passed, is_last))
                    .into_iter()
                    .collect())
            }
            Some(BodySendMode::None | BodySendMode::BufferedPartial | BodySendMode::Grpc) | None => {
                Err(Status::failed_precondition(
                    "expected `response_body_mode` FULL_DUPLEX_STREAMED, STREAMED or BUFFERED",
                ))
            }
        }
    }

    fn answer_trailers(&mut self) -> Vec<Answer> {
        let trailers = Answer::ResponseTrailers(TrailersResponse::default());
        let is_duplex = self
            .modes
            .is_some_and(|modes| modes.response == BodySendMode::FullDuplexStreamed);
        match (&mut self.exchange, &self.stage) {
            (Ok(exchange), Stage::Answer { is_read: true }) if is_duplex => {
                let rest = exchange.answer_piece(&[], true);
                self.stage = Stage::Done;
                let rest = (!rest.is_empty()).then(|| streamed(rest, false));
                rest.into_iter().chain([trailers]).collect()
            }
            (_, _) => vec![trailers],
        }
    }

    /// Refuses whatever this is, because Envoy is not told how it is to be shown, or shows it otherwise.
    fn refused(&mut self, reason: &str) -> Answer {
        self.service.warn(&format!("ext_proc: {reason}"));
        self.answered(Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, reason))
    }

    /// Answers in the server's place. Envoy sends nothing after that.
    fn answered(&mut self, reply: Reply) -> Answer {
        self.stage = Stage::Done;
        self.is_open = false;
        Answer::ImmediateResponse(immediate(reply))
    }
}

fn written(response: Answer) -> ProcessingResponse {
    ProcessingResponse {
        response: Some(response),
        ..ProcessingResponse::default()
    }
}

/// Goes on; the server's answer is to come as it is read here.
fn uncompressed() -> HeadersResponse {
    HeadersResponse {
        response: Some(CommonResponse {
            header_mutation: Some(HeaderMutation {
                remove_headers: vec!["accept-encoding".to_owned()],
                ..HeaderMutation::default()
            }),
            ..CommonResponse::default()
        }),
    }
}

/// The body of a request, with its length: Envoy refuses another one than the headers announce.
fn rewritten(body: Vec<u8>) -> BodyResponse {
    let length = body.len().to_string();
    let mut answer = replaced(body);
    if let Some(response) = &mut answer.response {
        response.header_mutation = Some(HeaderMutation {
            set_headers: vec![header("content-length", &length)],
            ..HeaderMutation::default()
        });
    }
    answer
}

/// A header in place of any other of its name.
fn header(name: &str, value: &str) -> HeaderValueOption {
    HeaderValueOption {
        header: Some(WireHeader {
            key: name.to_owned(),
            raw_value: value.as_bytes().to_vec(),
            ..WireHeader::default()
        }),
        append_action: HeaderAppendAction::OverwriteIfExistsOrAdd.into(),
        ..HeaderValueOption::default()
    }
}

fn replaced(body: Vec<u8>) -> BodyResponse {
    let mutation = match body.is_empty() {
        true => Mutation::ClearBody(true),
        false => Mutation::Body(body),
    };
    with(mutation)
}

fn streamed(body: Vec<u8>, end_of_stream: bool) -> Answer {
    Answer::ResponseBody(with(Mutation::StreamedResponse(StreamedBodyResponse {
        body,
        end_of_stream,
        ..StreamedBodyResponse::default()
    })))
}

fn with(mutation: Mutation) -> BodyResponse {
    BodyResponse {
        response: Some(CommonResponse {
            body_mutation: Some(BodyMutation {
                mutation: Some(mutation),
            }),
            ..CommonResponse::default()
        }),
    }
}

fn immediate(reply: Reply) -> ImmediateResponse {
    let headers = reply.content_type.map(|kind| HeaderMutation {
        set_headers: vec![header("content-type", kind)],
        ..HeaderMutation::default()
    });
    ImmediateResponse {
        status: Some(HttpStatus {
            code: i32::from(reply.status),
        }),
        headers,
        body: reply.body.into_bytes(),
        details: "callgate".to_owned(),
        ..ImmediateResponse::default()
    }
}

/// What HTTP/2 says beside the headers.
#[derive(Default)]
struct Pseudo {
    method: Option<Method>,
    status: Option<u16>,
}

/// Headers as they are sent; `None` if one cannot be read.
fn read(wire: Option<&WireHeaders>) -> Option<(Pseudo, HeaderMap)> {
    let mut pseudo = Pseudo::default();
    let mut headers = HeaderMap::new();
    for WireHeader {
        key,
        value,
        raw_value,
    } in &wire?.headers
    {
        let value = match raw_value.is_empty() {
            true => value.as_bytes(),
            false => raw_value,
        };
        match key.as_str() {
            ":method" => pseudo.method = Some(Method::from_bytes(value).ok()?),
            ":status" => pseudo.status = Some(std::str::from_utf8(value).ok()?.parse().ok()?),
            key if key.starts_with(':') => {}
            key => {
                let name = HeaderName::try_from(key).ok()?;
                headers.append(name, HeaderValue::from_bytes(value).ok()?);
            }
        }
    }
    Some((pseudo, headers))
}

#[cfg(test)]
mod tests;
