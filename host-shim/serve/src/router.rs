//! The way from a request to its door.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_guard::http::is_here;
use envoy_types::pb::envoy::service::auth::v3::authorization_server::{
    AuthorizationServer, SERVICE_NAME as EXT_AUTHZ,
};
use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::{
    ExternalProcessorServer, SERVICE_NAME as EXT_PROC,
};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN, WWW_AUTHENTICATE};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode, Uri};
use tokio::time::timeout;
use tonic::body::Body;
use tower_service::Service as _;

use crate::authzen::{self, requests};
use crate::ext_authz::ExtAuthz;
use crate::ext_mcp::ExtMcpDoor;
use crate::ext_mcp::wire::server::{ExtMcpServer, SERVICE_NAME as EXT_MCP};
use crate::ext_proc::ExtProc;
use crate::held::{Arriving, Held, Room, has_no_room};
use crate::metrics::{AccessRequest, Door, Outcome};
use crate::service::{Asker, Service};
use crate::tokens::{Subject, Tokens};
use crate::toolhive::{self, Webhook};

/// Bytes of the longest body: a message of a client of the largest size, and what stands around it.
const BODY: usize = 21 * 1024 * 1024;

/// How long a body may take to arrive.
const ARRIVING: Duration = Duration::from_secs(60);

/// Why a request is not taken.
const NO_ROOM: &str = "other messages have all the room, try again later";

/// By it a request is found again in the logs of several programs.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// By it a request that is sent again is known.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The doors.
pub(crate) struct Router {
    service: Arc<Service>,
    tokens: Arc<Tokens>,
    /// What is sent over TCP is encrypted.
    has_tls: bool,
    /// Names of this machine.
    hosts: Vec<String>,
    room: Room,
    ext_proc: ExternalProcessorServer<ExtProc>,
    ext_authz: AuthorizationServer<ExtAuthz>,
    ext_mcp: ExtMcpServer<ExtMcpDoor>,
}

/// A door that takes JSON: its answer, or what is wrong with the request.
type Json = fn(&Asker<'_>, &str) -> Result<String, String>;

/// The doors that take JSON, by their paths.
const JSON: [(&str, Door, Json); 5] = [
    ("/access/v1/evaluation", Door::AuthZen, |service, body| {
        authzen::evaluation(service, body).map(|said| said.to_string())
    }),
    ("/access/v1/evaluations", Door::AuthZen, |service, body| {
        authzen::evaluations(service, body).map(|said| said.to_string())
    }),
    ("/toolhive/validating", Door::ToolHive, |service, body| {
        toolhive::webhook(service, Webhook::Validating, body)
    }),
    ("/toolhive/mutating", Door::ToolHive, |service, body| {
        toolhive::webhook(service, Webhook::Mutating, body)
    }),
    ("/toolhive/decision", Door::ToolHive, toolhive::decision),
];

impl Router {
    pub(crate) fn new(
        service: Arc<Service>,
        tokens: Arc<Tokens>,
        has_tls: bool,
        mut hosts: Vec<String>,
    ) -> Self {
        let own = service.address().and_then(|own| own.parse::<Uri>().ok());
        hosts.extend(own.as_ref().and_then(Uri::host).map(str::to_owned));
        let ext_proc = ExternalProcessorServer::new(ExtProc::new(Arc::clone(&service)));
        let ext_authz = AuthorizationServer::new(ExtAuthz::new(Arc::clone(&service)));
        Self {
            ext_proc: ext_proc.max_decoding_message_size(BODY),
            ext_authz: ext_authz.max_decoding_message_size(BODY),
            ext_mcp: ExtMcpServer::new(ExtMcpDoor::new(Arc::clone(&service)), BODY),
            service,
            tokens,
            has_tls,
            hosts,
            room: Room::default(),
        }
    }

    /// Answers a request. `open` is the address of a connection that a page in a browser can make.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        open: Option<SocketAddr>,
    ) -> Response<Body> {
        let path = request.uri().path();
        // Whoever starts and stops the service has no token.
        match (request.method(), path) {
            (&Method::GET, "/healthz") => return text(StatusCode::OK, "ok"),
            (&Method::GET, "/readyz") => {
                return match self.service.is_ready() {
                    true => text(StatusCode::OK, "ok"),
                    false => text(StatusCode::SERVICE_UNAVAILABLE, "the service ends"),
                };
            }
            (_, _) => {}
        }
        // A page in a browser has no business here.
        if request.headers().contains_key(ORIGIN) {
            return text(
                StatusCode::FORBIDDEN,
                "requests of pages in a browser are not answered",
            );
        }
        let Some(subject) = self.tokens.admit(request.headers()) else {
            self.service.metrics.refused();
            let mut response = text(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong");
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return response;
        };
        if open.is_some_and(|here| self.tokens.is_empty() && !self.is_sent_here(&request, here)) {
            return text(
                StatusCode::FORBIDDEN,
                "this host is not known here; `--allow-host` says under which names requests are sent to the service",
            );
        }
        let Ok(held) = self.room.enter() else {
            return text(StatusCode::SERVICE_UNAVAILABLE, NO_ROOM);
        };
        let answer = self.at_door(request, &held, subject).await;
        drop(held);
        answer
    }

    /// Returns `true` for a request that names this machine. A page in a browser can have a name of its own lead here (DNS rebinding),
    /// and reads the answers then; it cannot speak gRPC, whose clients name a service as they like.
    fn is_sent_here(&self, request: &Request<Incoming>, here: SocketAddr) -> bool {
        let headers = request.headers();
        let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        if kind.is_some_and(|kind| kind.starts_with(b"application/grpc")) && *request.method() == Method::POST
        {
            return true;
        }
        let named = headers.get_all(HOST).iter().map(|host| host.to_str().ok());
        let authority = request.uri().authority().map(Authority::as_str);
        let mut named = named.chain(authority.map(Some)).peekable();
        named.peek().is_some() && named.all(|host| host.is_some_and(|host| is_here(host, here, &self.hosts)))
    }

    async fn at_door(
        &self,
        request: Request<Incoming>,
        held: &Arc<Held>,
        subject: Subject,
    ) -> Response<Body> {
        let path = request.uri().path();
        if let Some((_, door, answer)) = JSON.iter().find(|(known, _, _)| *known == path) {
            let id = request.headers().get(REQUEST_ID).cloned();
            let mut response = self.json(request, held, subject, (*door, *answer)).await;
            if let Some(id) = id {
                response.headers_mut().insert(REQUEST_ID, id);
            }
            return response;
        }
        if let Some(rest) = path.strip_prefix(requests::PATH)
            && self.service.queue().is_some()
        {
            let id = rest.strip_prefix('/').map(str::to_owned);
            if id.is_some() || rest.is_empty() {
                return self.access_request(request, held, subject, id).await;
            }
        }
        let path = path.to_owned();
        let service = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let arriving = |request: Request<Incoming>| {
            let mut request = request.map(|body| Arriving::new(body, Arc::clone(held)));
            request.extensions_mut().insert(Arc::clone(held));
            request.extensions_mut().insert(subject.clone());
            request
        };
        match service {
            Some((EXT_PROC, _)) => infallible(self.ext_proc.clone().call(arriving(request)).await),
            Some((EXT_AUTHZ, _)) => infallible(self.ext_authz.clone().call(arriving(request)).await),
            Some((EXT_MCP, _)) => infallible(self.ext_mcp.clone().call(arriving(request)).await),
            _ if *request.method() == Method::GET => self.page(&path, &request),
            _ => text(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }

    /// The address under which others reach the service, as far as it is known.
    fn address<B>(&self, request: &Request<B>) -> Option<String> {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| request.uri().authority().map(Authority::as_str));
        let scheme = if self.has_tls { "https" } else { "http" };
        let own = host.map(|host| format!("{scheme}://{host}"));
        let address = self.service.address().map(str::to_owned).or(own)?;
        Some(address.trim_end_matches('/').to_owned())
    }

    fn page<B>(&self, path: &str, request: &Request<B>) -> Response<Body> {
        match path {
            "/metrics" => {
                let page = self.service.metrics.page(&self.service.tallies());
                respond(
                    StatusCode::OK,
                    "text/plain; version=0.0.4; charset=utf-8",
                    page.into_bytes(),
                )
            }
            "/.well-known/authzen-configuration" => match self.address(request) {
                Some(address) => {
                    let said = authzen::configuration(&address, self.service.queue().is_some());
                    respond(StatusCode::OK, "application/json", said.to_string().into_bytes())
                }
                None => text(StatusCode::BAD_REQUEST, "the header `host` is missing"),
            },
            _ => text(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }

    async fn json(
        &self,
        request: Request<Incoming>,
        held: &Arc<Held>,
        subject: Subject,
        (door, answer): (Door, Json),
    ) -> Response<Body> {
        let body = match body_of(request, held).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        let begun = Instant::now();
        let asker = Asker {
            service: &self.service,
            subject,
        };
        let answered = std::str::from_utf8(&body)
            .map_err(|_| "the body is not UTF-8".to_owned())
            .and_then(|body| answer(&asker, body));
        let outcome = match &answered {
            Ok(_) => Outcome::Passed,
            Err(_) => Outcome::Answered,
        };
        self.service.metrics.decided(door, outcome, begun.elapsed());
        match answered {
            Ok(answer) => respond(StatusCode::OK, "application/json", answer.into_bytes()),
            Err(reason) => text(StatusCode::BAD_REQUEST, &reason),
        }
    }

    /// Takes an access request, or says what has become of the one with this name.
    async fn access_request(
        &self,
        request: Request<Incoming>,
        held: &Arc<Held>,
        subject: Subject,
        id: Option<String>,
    ) -> Response<Body> {
        let asker = Asker {
            service: &self.service,
            subject,
        };
        let Some(address) = self.address(&request) else {
            return text(StatusCode::BAD_REQUEST, "the header `host` is missing");
        };
        let answered = match (request.method(), id) {
            (&Method::GET, Some(id)) => requests::status(&asker, &id, &address),
            (_, Some(_)) => return not_allowed("GET"),
            (_, None) => {
                let key = request.headers().get(IDEMPOTENCY_KEY).cloned();
                let body = match body_of(request, held).await {
                    Ok(body) => body,
                    Err(refused) => return refused,
                };
                let key = key.as_ref().map(HeaderValue::to_str).transpose();
                let (Ok(key), Ok(body)) = (key, std::str::from_utf8(&body)) else {
                    return text(
                        StatusCode::BAD_REQUEST,
                        "the body or the `Idempotency-Key` is not text",
                    );
                };
                let submitted = requests::submit(&asker, body, key, &address);
                self.service.metrics.access_request(match submitted {
                    Ok(_) => AccessRequest::Requested,
                    Err(_) => AccessRequest::Refused,
                });
                submitted
            }
        };
        match answered {
            Ok(said) => {
                let body = said.body.to_string().into_bytes();
                let mut response = respond(said.status, "application/json", body);
                let place = said.location.and_then(|place| HeaderValue::from_str(&place).ok());
                if let Some(place) = place {
                    response.headers_mut().insert(LOCATION, place);
                }
                response
            }
            Err(problem) => respond(
                problem.status,
                "application/problem+json",
                problem.said().to_string().into_bytes(),
            ),
        }
    }
}

/// Reads the JSON text that is sent with a request.
///
/// # Errors
/// The answer to one that sends none.
async fn body_of(request: Request<Incoming>, held: &Arc<Held>) -> Result<Bytes, Response<Body>> {
    if *request.method() != Method::POST {
        return Err(not_allowed("POST"));
    }
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(text(StatusCode::BAD_REQUEST, "expected `application/json`"));
    }
    let arriving = Arriving::new(request.into_body(), Arc::clone(held));
    match timeout(ARRIVING, Limited::new(arriving, BODY).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if has_no_room(error.as_ref()) => Err(text(StatusCode::SERVICE_UNAVAILABLE, NO_ROOM)),
        Ok(Err(_)) => Err(text(
            StatusCode::BAD_REQUEST,
            "the body cannot be read, or is too long",
        )),
        Err(_) => Err(text(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time",
        )),
    }
}

fn not_allowed(method: &'static str) -> Response<Body> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, &format!("expected {method}"));
    let allowed = HeaderValue::from_static(method);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

fn infallible(answered: Result<Response<Body>, Infallible>) -> Response<Body> {
    let Ok(response) = answered;
    response
}

fn text(status: StatusCode, line: &str) -> Response<Body> {
    respond(
        status,
        "text/plain; charset=utf-8",
        format!("{line}\n").into_bytes(),
    )
}

fn respond(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::new(Full::new(Bytes::from(body))));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
