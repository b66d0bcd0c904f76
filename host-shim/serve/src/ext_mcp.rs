//! agentgateway's hooks of MCP: requests and answers of one method each, without their envelope.
//!
//! `params` of a call are rewritten to what was judged, and lists of tools filtered in results:
//! <https://github.com/agentgateway/agentgateway/blob/main/crates/protos/proto/ext_mcp.proto>.

pub(crate) mod wire;

use std::sync::Arc;
use std::time::Instant;

use callgate_guard::Guard;
use callgate_guard::http::{AnswerHead, Exchange, Head, Reply, Step};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tonic::{Request, Response, Status};

use crate::metrics::{Door, Outcome};
use crate::server_name::{server_of, subject_of};
use crate::service::Service;
use crate::tokens::Subject;
use wire::server::ExtMcp;
use wire::{
    AuthorizationError, ErrorCode, McpRequest, McpRequestResult, McpResponse, McpResponseResult, Pass,
    RequestVerdict, ResponseVerdict,
};

/// The door.
pub(crate) struct ExtMcpDoor {
    service: Arc<Service>,
}

/// The server that a message names, if it names one, and who asks.
type Asked = (Option<String>, Subject);

/// What becomes of `params` or of a result.
enum Judged {
    Pass,
    /// JSON text in their place.
    Mutated(String),
    Refused(AuthorizationError),
}

impl ExtMcpDoor {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        Self { service }
    }

    /// The guard of the server that a message is for: the gateway's own configuration names one, or the message does.
    fn guard(&self, (named, subject): Asked, services: &[String]) -> Result<Arc<Guard>, AuthorizationError> {
        let named = match (named, services) {
            (Some(named), _) => Some(named),
            (None, [one]) => Some(one.clone()),
            (None, []) => None,
            (None, _) => return Err(failed("a message for several servers, expected one")),
        };
        self.service
            .guard(named.as_deref(), subject)
            .map_err(|reason| failed(&reason))
    }

    fn request(&self, asked: Asked, request: McpRequest) -> Judged {
        let exchange = self
            .guard(asked, &request.service_names)
            .and_then(|guard| begun(guard, &request.method, request.mcp_request));
        match exchange {
            Ok((_, None)) => Judged::Pass,
            Ok((_, Some(text))) => match member(&text, "params") {
                Some(params) => Judged::Mutated(params),
                None => Judged::Refused(failed("the params cannot be written")),
            },
            Err(error) => Judged::Refused(error),
        }
    }

    fn response(&self, asked: Asked, response: McpResponse) -> Judged {
        let request = match &*response.method {
            // Its params are not known here, and it was judged before.
            "tools/call" => "ping",
            method => method,
        };
        let exchange = self
            .guard(asked, &response.service_names)
            .and_then(|guard| begun(guard, request, None));
        let mut exchange = match exchange {
            Ok((exchange, _)) => exchange,
            Err(error) => return Judged::Refused(error),
        };
        let Ok(result) = std::str::from_utf8(&response.mcp_response) else {
            return Judged::Refused(failed("a result that is not UTF-8"));
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if exchange.answer_head(200, &headers, true) != AnswerHead::Message {
            return Judged::Refused(failed("the result cannot be read"));
        }
        let passed = exchange.answer_piece(text.as_bytes(), true);
        if passed == text.as_bytes() {
            return Judged::Pass;
        }
        let passed = String::from_utf8(passed).ok();
        match passed.and_then(|passed| member(&passed, "result")) {
            Some(result) => Judged::Mutated(result),
            None => Judged::Refused(failed("the result cannot be read")),
        }
    }

    fn note(&self, judged: &Judged, begun: Instant) {
        let outcome = match judged {
            Judged::Pass => Outcome::Passed,
            Judged::Mutated(_) => Outcome::Rewritten,
            Judged::Refused(_) => Outcome::Answered,
        };
        self.service
            .metrics
            .decided(Door::ExtMcp, outcome, begun.elapsed());
    }
}

#[tonic::async_trait]
impl ExtMcp for ExtMcpDoor {
    async fn check_request(
        &self,
        request: Request<McpRequest>,
    ) -> Result<Response<McpRequestResult>, Status> {
        let begun = Instant::now();
        let named = server_of(request.metadata()).map_err(Status::invalid_argument)?;
        let subject = subject_of(request.extensions());
        let judged = self.request((named, subject), request.into_inner());
        self.note(&judged, begun);
        let verdict = match judged {
            Judged::Pass => RequestVerdict::Pass(Pass {}),
            Judged::Mutated(params) => RequestVerdict::Mutated(params.into_bytes()),
            Judged::Refused(error) => RequestVerdict::Error(error),
        };
        Ok(Response::new(McpRequestResult {
            result: Some(verdict),
        }))
    }

    async fn check_response(
        &self,
        request: Request<McpResponse>,
    ) -> Result<Response<McpResponseResult>, Status> {
        let begun = Instant::now();
        let named = server_of(request.metadata()).map_err(Status::invalid_argument)?;
        let subject = subject_of(request.extensions());
        let judged = self.response((named, subject), request.into_inner());
        self.note(&judged, begun);
        let verdict = match judged {
            Judged::Pass => ResponseVerdict::Pass(Pass {}),
            Judged::Mutated(result) => ResponseVerdict::Mutated(result.into_bytes()),
            Judged::Refused(error) => ResponseVerdict::Error(error),
        };
        Ok(Response::new(McpResponseResult {
            result: Some(verdict),
        }))
    }
}

/// A request with its envelope, and its text where it is not the one that was given.
fn begun(
    guard: Arc<Guard>,
    method: &str,
    params: Option<Vec<u8>>,
) -> Result<(Exchange, Option<String>), AuthorizationError> {
    let params = params.map(String::from_utf8).transpose();
    let params = params.map_err(|_| failed("params that are not UTF-8"))?;
    let params = params.filter(|params| !params.trim().is_empty());
    if let Some(params) = &params
        && serde_json::from_str::<&RawValue>(params).is_err()
    {
        return Err(failed("params that are not JSON"));
    }
    let params = params.map_or_else(String::new, |params| format!(r#","params":{params}"#));
    let method = serde_json::Value::from(method);
    let text = format!(r#"{{"jsonrpc":"2.0","id":0,"method":{method}{params}}}"#);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut exchange = Exchange::new(guard);
    if exchange.head(&Method::POST, headers, true) != Head::Body {
        return Err(failed("the request cannot be read"));
    }
    match Service::judging(|| exchange.body(text.into_bytes())) {
        Step::Pass => Ok((exchange, None)),
        Step::Replace(text) => Ok((exchange, Some(text))),
        Step::Answer(reply) => Err(refused(&reply)),
    }
}

/// A member of an object, as it is written.
fn member(text: &str, name: &str) -> Option<String> {
    let members: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    members.get(name).map(|value| value.get().to_owned())
}

fn failed(reason: &str) -> AuthorizationError {
    AuthorizationError {
        code: ErrorCode::Invalid.into(),
        reason: reason.to_owned(),
        mcp_error: None,
    }
}

/// A denial or an error in place of the server's answer.
fn refused(reply: &Reply) -> AuthorizationError {
    #[derive(Deserialize)]
    struct Answer {
        result: Option<ToolResult>,
        error: Option<Message>,
    }
    #[derive(Deserialize)]
    struct ToolResult {
        content: Vec<Content>,
    }
    #[derive(Deserialize)]
    struct Content {
        text: String,
    }
    #[derive(Deserialize)]
    struct Message {
        message: String,
    }
    let answer: Option<Answer> = serde_json::from_str(&reply.body).ok();
    let denial = answer.as_ref().and_then(|answer| answer.result.as_ref());
    let denial = denial.and_then(|denial| denial.content.first());
    let error = answer.as_ref().and_then(|answer| answer.error.as_ref());
    match (denial, error) {
        (Some(denial), _) => AuthorizationError {
            code: ErrorCode::PermissionDenied.into(),
            reason: denial.text.clone(),
            mcp_error: Some(
                serde_json::json!({"code": -32001, "message": denial.text})
                    .to_string()
                    .into_bytes(),
            ),
        },
        (None, Some(error)) => failed(&error.message),
        (None, None) => failed(StatusCode::BAD_REQUEST.as_str()),
    }
}

#[cfg(test)]
mod tests;
