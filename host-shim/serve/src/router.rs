//! The way from a request to its door.

use std::convert::Infallible;
use std::sync::Arc;

use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::{
    ExternalProcessorServer, SERVICE_NAME as EXT_PROC,
};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use tonic::body::Body;
use tower_service::Service as _;

use crate::ext_proc::ExtProc;
use crate::service::Service;
use crate::tokens::Tokens;

/// Bytes of the longest message of gRPC: a message of a client of the largest size, and what stands around it.
const MESSAGE: usize = 21 * 1024 * 1024;

/// The doors.
pub(crate) struct Router {
    service: Arc<Service>,
    tokens: Tokens,
    ext_proc: ExternalProcessorServer<ExtProc>,
}

impl Router {
    pub(crate) fn new(service: Arc<Service>, tokens: Tokens) -> Self {
        let ext_proc = ExternalProcessorServer::new(ExtProc::new(Arc::clone(&service)));
        Self {
            ext_proc: ext_proc.max_decoding_message_size(MESSAGE),
            service,
            tokens,
        }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path();
        // Whoever starts and stops the service has no token.
        match (request.method(), path) {
            (&Method::GET, "/healthz") => return text(StatusCode::OK, "ok\n"),
            (&Method::GET, "/readyz") => {
                return match self.service.is_ready() {
                    true => text(StatusCode::OK, "ok\n"),
                    false => text(StatusCode::SERVICE_UNAVAILABLE, "the service ends\n"),
                };
            }
            (_, _) => {}
        }
        // A page in a browser has no business here.
        if request.headers().contains_key(ORIGIN) {
            return text(
                StatusCode::FORBIDDEN,
                "requests of pages in a browser are not answered\n",
            );
        }
        if !self.tokens.admit(request.headers()) {
            self.service.metrics.refused();
            let mut response = text(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong\n");
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return response;
        }
        let service = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        match service {
            Some((EXT_PROC, _)) => infallible(self.ext_proc.clone().call(request).await),
            _ if path == "/metrics" && *request.method() == Method::GET => {
                let page = self.service.metrics.page(&self.service.tallies());
                respond(
                    StatusCode::OK,
                    "text/plain; version=0.0.4; charset=utf-8",
                    page.into_bytes(),
                )
            }
            _ => text(StatusCode::NOT_FOUND, "there is nothing here\n"),
        }
    }
}

fn infallible(answered: Result<Response<Body>, Infallible>) -> Response<Body> {
    let Ok(response) = answered;
    response
}

fn text(status: StatusCode, body: &str) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", body.as_bytes().to_vec())
}

fn respond(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::new(Full::new(Bytes::from(body))));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
