//! Requirements on a request over HTTP.

use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Request, StatusCode};
use tokio::time::timeout;

use super::answer::{Whole, message, refusal, text_answer};
use super::bodies::{Bodies, Unread};
use crate::lines::FROM_CLIENT;
use crate::reply;

/// How long a body may take to arrive.
const ARRIVING: Duration = Duration::from_secs(60);

/// The content types that a client reads.
pub(super) struct Accepts {
    pub(super) events: bool,
}

impl Accepts {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Whole> {
        let mut kinds = Vec::new();
        for value in headers.get_all(ACCEPT) {
            let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
            let ranges = value.split(',').filter_map(|range| range.split(';').next());
            kinds.extend(ranges.map(|range| range.trim().to_owned()));
        }
        let has = |kind: &str| kinds.iter().any(|known| known == kind);
        let any = kinds.is_empty() || has("*/*");
        let events = any || has("text/event-stream") || has("text/*");
        if !events && !has("application/json") && !has("application/*") {
            return Err(text_answer(
                StatusCode::NOT_ACCEPTABLE,
                "the header `accept` must name `application/json` and `text/event-stream`",
            ));
        }
        Ok(Self { events })
    }
}

/// The text of a request's body.
pub(super) async fn text_of(
    request: Request<Incoming>,
    bodies: &Bodies,
    has_session: bool,
) -> Result<String, Whole> {
    let headers = request.headers();
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    // A page of another origin may send anything else without asking first.
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(text_answer(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "expected `application/json`",
        ));
    }
    let too_long = || {
        refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("a body of more than {FROM_CLIENT} bytes"),
        )
    };
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    if length
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| length > FROM_CLIENT as u64)
    {
        return Err(too_long());
    }
    let body = timeout(ARRIVING, bodies.read(request.into_body(), has_session)).await;
    let body = body.map_err(|_| refusal(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))?;
    let body = body.map_err(|unread| match unread {
        Unread::TooLong => too_long(),
        Unread::NoRoom => refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many bytes of other requests arrive: try again",
        ),
        Unread::Broken => refusal(StatusCode::BAD_REQUEST, "the body cannot be read"),
    })?;
    String::from_utf8(body).map_err(|_| {
        message(
            StatusCode::BAD_REQUEST,
            reply::error(None, reply::PARSE_ERROR, "a body that is not UTF-8"),
        )
    })
}

pub(super) fn not_allowed() -> Whole {
    let mut response = text_answer(
        StatusCode::METHOD_NOT_ALLOWED,
        "expected POST; GET and DELETE are for sessions",
    );
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
    response
}

pub(super) fn no_session() -> Whole {
    refusal(
        StatusCode::NOT_FOUND,
        "there is no such session, or it has ended: begin with `initialize`",
    )
}

pub(super) fn no_room() -> Whole {
    refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "there is no room for another session",
    )
}
