//! Access requests: a person is asked about a call that escalates, and what they approve is shown when the call is judged again.
//!
//! <https://openid.github.io/authzen/authzen-access-request-approval-profile-1_0.html>. An approval holds for the whole subject,
//! action and resource of the evaluation, with the arguments, and for who asked.

use callgate_guard::{AccessRequest, Task, TaskStatus, Unrequested};
use hyper::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Asked, asked_of, read};
use crate::service::{Asker, Service};

/// Where requests are sent; a request of its own follows it.
pub(crate) const PATH: &str = "/access/v1/requests";

/// What a service that takes requests says of itself.
pub(crate) const CAPABILITY: &str = "urn:openid:authzen:capability:access-request";

/// Bytes of the longest name of a request, and of whom it is for.
const NAME: usize = 256;

/// An answer to a request.
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    /// Where what was made is.
    pub(crate) location: Option<String>,
}

/// What is wrong with a request: <https://www.rfc-editor.org/rfc/rfc9457>.
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    kind: &'static str,
    detail: String,
}

#[derive(Deserialize)]
struct Submission {
    #[serde(default)]
    denial: Denial,
    #[serde(default)]
    requested_access: Requested,
    items: Option<serde::de::IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct Denial {
    binding_token: Option<String>,
}

#[derive(Default, Deserialize)]
struct Requested {
    requested_until: Option<String>,
}

impl Problem {
    fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            detail: detail.into(),
        }
    }

    /// As `application/problem+json`.
    pub(crate) fn said(&self) -> Value {
        json!({
            "type": format!("urn:openid:authzen:access-request:error:{}", self.kind),
            "status": self.status.as_u16(),
            "detail": self.detail,
        })
    }
}

impl From<Unrequested> for Problem {
    fn from(why: Unrequested) -> Self {
        match why {
            Unrequested::NotRequestable(reason) => not_requestable(reason),
            Unrequested::NotBound => unbound("`denial.binding_token` was given out for another evaluation"),
            Unrequested::Expired => Self::new(
                StatusCode::GONE,
                "expired_denial",
                "`denial.binding_token` has expired: evaluate again",
            ),
            Unrequested::Duplicate => Self::new(
                StatusCode::CONFLICT,
                "duplicate_request",
                "the `Idempotency-Key` is that of another request",
            ),
            Unrequested::Full => Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_requests",
                "too many requests wait for a person already",
            ),
            Unrequested::Unwritten(_) => unwritten(),
        }
    }
}

fn not_requestable(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "not_requestable", detail)
}

fn unbound(detail: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_denial_binding", detail)
}

fn unwritten() -> Problem {
    let reason = "the questions to a person cannot be read or written";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "unavailable", reason)
}

/// Takes a request. `key` is its `Idempotency-Key`, and `address` that of the service.
///
/// # Errors
/// Why no person is asked.
pub(crate) fn submit(
    service: &Asker<'_>,
    body: &str,
    key: Option<&str>,
    address: &str,
) -> Result<Said, Problem> {
    let evaluation = read(body).map_err(not_requestable)?;
    let submission: Submission =
        serde_json::from_str(body).map_err(|error| not_requestable(error.to_string()))?;
    if submission.items.is_some() {
        return Err(not_requestable(
            "`items` is not supported: send a request for each",
        ));
    }
    let asked = asked_of(service.service, &evaluation).map_err(not_requestable)?;
    let Asked::Call(call) = asked else {
        return Err(not_requestable("nobody is asked about such a message"));
    };
    let token = submission.denial.binding_token;
    let token = token.ok_or_else(|| unbound("`denial.binding_token` is absent"))?;
    let until = submission.requested_access.requested_until;
    let until = until.map(|until| until.parse::<Timestamp>()).transpose();
    let until =
        until.map_err(|_| not_requestable("`requested_access.requested_until` is not a time of RFC 3339"))?;
    let subject = evaluation.subject.as_ref();
    let named = subject.and_then(|subject| subject.kind.as_deref().zip(subject.id.as_deref()));
    let whom = named.map_or_else(String::new, |(kind, id)| format!("{kind} {id}"));
    if whom.len() > NAME || key.is_some_and(|key| key.len() > NAME) {
        return Err(not_requestable(format!(
            "the subject or the `Idempotency-Key` is longer than {NAME} bytes"
        )));
    }
    let guard = service.guard(call.server.as_deref()).map_err(not_requestable)?;
    let request = AccessRequest {
        token: &token,
        whom: &whom,
        until,
        key,
    };
    let task = Service::judging(|| guard.request(call.asked(), request)).inspect_err(|error| {
        if let Unrequested::Unwritten(error) = error {
            service.service.warn(&format!("nobody can be asked: {error}"));
        }
    })?;
    Ok(Said {
        status: StatusCode::ACCEPTED,
        body: said(&task, address),
        location: Some(place(&task, address)),
    })
}

/// What has become of a request.
///
/// # Errors
/// It is none of who asks, or over.
pub(crate) fn status(service: &Asker<'_>, id: &str, address: &str) -> Result<Said, Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "unknown_task", "there is no such request");
    let queue = service.service.queue().ok_or_else(unknown)?;
    let task = Service::judging(|| queue.task(id, service.subject.as_deref()));
    let task = task.map_err(|error| {
        service
            .service
            .warn(&format!("a request cannot be read: {error}"));
        unwritten()
    })?;
    Ok(Said {
        status: StatusCode::OK,
        body: said(&task.ok_or_else(unknown)?, address),
        location: None,
    })
}

fn said(task: &Task, address: &str) -> Value {
    let status = match task.status {
        TaskStatus::Pending => "pending",
        TaskStatus::Approved => "approved",
        TaskStatus::Denied => "denied",
        TaskStatus::Expired => "expired",
    };
    let handle = json!({
        "id": task.id,
        "status": status,
        "status_endpoint": place(task, address),
        "expires_at": task.ends.to_string(),
    });
    if task.status != TaskStatus::Approved {
        return json!({"task": handle});
    }
    let approval = json!({"id": task.id, "approved_until": task.ends.to_string()});
    json!({"task": handle, "result": {"mode": "reevaluate", "approval": approval}})
}

/// Where the status of a request is.
fn place(task: &Task, address: &str) -> String {
    format!("{address}{PATH}/{}", task.id)
}

#[cfg(test)]
mod tests;
