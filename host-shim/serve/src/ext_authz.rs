//! Envoy's external authorization: a call passes only as it came.
//!
//! The answer says yes or no and cannot rewrite a body, so that a call passes only where what is judged is what was given:
//! <https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/auth/v3/external_auth.proto>.

use std::sync::Arc;
use std::time::Instant;

use callgate_guard::http::{Exchange, Head, Reply, Step};
use envoy_types::pb::envoy::config::core::v3::{HeaderValue as WireHeader, HeaderValueOption};
use envoy_types::pb::envoy::service::auth::v3::attribute_context::HttpRequest;
use envoy_types::pb::envoy::service::auth::v3::authorization_server::Authorization;
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{
    AttributeContext, CheckRequest, CheckResponse, DeniedHttpResponse, OkHttpResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use envoy_types::pb::google::rpc::Status as RpcStatus;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use tonic::{Code, Request, Response, Status};

use crate::metrics::{Door, Outcome};
use crate::server_name::{SERVER, server_of, subject_of};
use crate::service::Service;
use crate::tokens::Subject;

/// Envoy says by it that the body is only the beginning.
const PARTIAL: HeaderName = HeaderName::from_static("x-envoy-auth-partial-body");

/// The door.
pub(crate) struct ExtAuthz {
    service: Arc<Service>,
}

impl ExtAuthz {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        Self { service }
    }

    /// The answer in the server's place, or that the request passes.
    fn decide(
        &self,
        named: Option<String>,
        subject: Subject,
        context: AttributeContext,
    ) -> Result<(), Reply> {
        let failed = |reason: &str| {
            self.service.warn(&format!("ext_authz: {reason}"));
            Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, reason)
        };
        // A route says it more exactly than the cluster.
        let named = context.context_extensions.get(SERVER).cloned().or(named);
        let guard = self
            .service
            .guard(named.as_deref(), subject)
            .map_err(|reason| failed(&reason))?;
        let request = context.request.and_then(|request| request.http);
        let request = request.ok_or_else(|| failed("Envoy sent no request"))?;
        let headers = read(&request).ok_or_else(|| failed("the headers of the request cannot be read"))?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| failed("the method of the request cannot be read"))?;
        let is_partial = headers
            .get(PARTIAL)
            .is_some_and(|partial| partial.as_bytes() != b"false");
        let body = match request.raw_body.is_empty() {
            true => request.body.into_bytes(),
            false => request.raw_body,
        };
        // Envoy says -1 where it does not know.
        let is_short = usize::try_from(request.size).is_ok_and(|size| size != body.len());
        if is_partial || is_short {
            return Err(failed(
                "Envoy's filter does not send whole bodies, expected `with_request_body` without `allow_partial_message`",
            ));
        }
        let mut exchange = Exchange::exact(guard);
        match exchange.head(&method, headers, !body.is_empty()) {
            Head::Pass => Ok(()),
            Head::Answer(reply) => Err(reply),
            Head::Body => match Service::judging(|| exchange.body(body)) {
                Step::Pass => Ok(()),
                Step::Answer(reply) => Err(reply),
                Step::Replace(_) => Err(failed("a call that is not as it was judged")),
            },
        }
    }
}

#[tonic::async_trait]
impl Authorization for ExtAuthz {
    async fn check(&self, request: Request<CheckRequest>) -> Result<Response<CheckResponse>, Status> {
        let begun = Instant::now();
        let named = server_of(request.metadata()).map_err(Status::invalid_argument)?;
        let subject = subject_of(request.extensions());
        let context = request.into_inner().attributes.unwrap_or_default();
        let decided = self.decide(named, subject, context);
        let outcome = match &decided {
            Ok(()) => Outcome::Passed,
            Err(_) => Outcome::Answered,
        };
        self.service
            .metrics
            .decided(Door::ExtAuthz, outcome, begun.elapsed());
        let (code, response) = match decided {
            Ok(()) => (Code::Ok, HttpResponse::OkResponse(OkHttpResponse::default())),
            Err(reply) => (
                Code::PermissionDenied,
                HttpResponse::DeniedResponse(denied(reply)),
            ),
        };
        Ok(Response::new(CheckResponse {
            status: Some(RpcStatus {
                code: code.into(),
                ..RpcStatus::default()
            }),
            http_response: Some(response),
            ..CheckResponse::default()
        }))
    }
}

fn denied(reply: Reply) -> DeniedHttpResponse {
    let kind = reply.content_type.map(|kind| HeaderValueOption {
        header: Some(WireHeader {
            key: "content-type".to_owned(),
            value: kind.to_owned(),
            ..WireHeader::default()
        }),
        ..HeaderValueOption::default()
    });
    DeniedHttpResponse {
        status: Some(HttpStatus {
            code: i32::from(reply.status),
        }),
        headers: kind.into_iter().collect(),
        body: reply.body,
    }
}

/// Headers as they are sent, in either form; `None` if one cannot be read.
fn read(request: &HttpRequest) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let plain = request.headers.iter();
    let plain = plain.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let raw = request.header_map.iter().flat_map(|map| &map.headers);
    let raw = raw.map(|header| match header.raw_value.is_empty() {
        true => (header.key.as_str(), header.value.as_bytes()),
        false => (header.key.as_str(), header.raw_value.as_slice()),
    });
    for (name, value) in plain.chain(raw).filter(|(name, _)| !name.starts_with(':')) {
        let name = HeaderName::try_from(name).ok()?;
        headers.append(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(headers)
}

#[cfg(test)]
mod tests;
