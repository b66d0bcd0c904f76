//! A processor for Envoy that lets everything pass, unread: what the hop alone costs, beside which the service is measured.
//!
//! `cargo run --release -p callgate-serve --example pass_through SOCKET` answers on a Unix socket until it is ended.

use std::pin::Pin;

use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::{
    ExternalProcessor, ExternalProcessorServer,
};
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Part;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Answer;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyMutation, BodyResponse, CommonResponse, HeadersResponse, HttpBody, ProcessingRequest,
    ProcessingResponse, StreamedBodyResponse, TrailersResponse,
};
use futures_util::stream::{Stream, try_unfold};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::UnixListener;
use tonic::{Request, Response, Status, Streaming};
use tower_service::Service as _;

/// How many streams a connection has at once.
const STREAMS: u32 = 1024;

struct PassThrough;

type Answers = Pin<Box<dyn Stream<Item = Result<ProcessingResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ExternalProcessor for PassThrough {
    type ProcessStream = Answers;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let answers = try_unfold(request.into_inner(), |mut parts| async move {
            let Some(part) = parts.message().await? else {
                return Ok(None);
            };
            let answer = ProcessingResponse {
                response: part.request.map(passed),
                ..ProcessingResponse::default()
            };
            Ok(Some((answer, parts)))
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

fn passed(part: Part) -> Answer {
    match part {
        Part::RequestHeaders(_) => Answer::RequestHeaders(HeadersResponse::default()),
        Part::ResponseHeaders(_) => Answer::ResponseHeaders(HeadersResponse::default()),
        Part::RequestBody(_) => Answer::RequestBody(BodyResponse::default()),
        Part::ResponseBody(body) => Answer::ResponseBody(streamed(body)),
        Part::RequestTrailers(_) => Answer::RequestTrailers(TrailersResponse::default()),
        Part::ResponseTrailers(_) => Answer::ResponseTrailers(TrailersResponse::default()),
    }
}

/// A piece of an answer is sent back as it came, which `FULL_DUPLEX_STREAMED` asks for.
fn streamed(body: HttpBody) -> BodyResponse {
    let piece = StreamedBodyResponse {
        body: body.body,
        end_of_stream: body.end_of_stream,
        ..StreamedBodyResponse::default()
    };
    BodyResponse {
        response: Some(CommonResponse {
            body_mutation: Some(BodyMutation {
                mutation: Some(Mutation::StreamedResponse(piece)),
            }),
            ..CommonResponse::default()
        }),
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let socket = std::env::args_os()
        .nth(1)
        .unwrap_or_else(|| "processor.sock".into());
    let listener = UnixListener::bind(&socket)?;
    eprintln!("listening on {}", socket.display());
    let processor = ExternalProcessorServer::new(PassThrough);
    loop {
        let (stream, _) = listener.accept().await?;
        let processor = processor.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let mut processor = processor.clone();
                async move { processor.call(request).await }
            });
            let mut builder = auto::Builder::new(TokioExecutor::new());
            // As the service does: by itself hyper ends the connection when twenty streams are reset before they were read.
            let mut http2 = builder.http2();
            http2
                .max_concurrent_streams(STREAMS)
                .max_pending_accept_reset_streams(STREAMS as usize);
            // Who breaks off has reasons of their own.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
