//! The parts of a message that a transport has to know: its kind, and what headers repeat of it.

use callgate_jsontext::Members;
use serde_json::value::RawValue;

use crate::message::{Id, Message, Refused, text_of};
use crate::reply::revision_of;

/// The kind of a message, and the headers' part of it.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) kind: Kind,
    /// The revision that a message of the modern era says.
    pub(super) revision: Option<String>,
    /// The name that `Mcp-Name` repeats.
    pub(super) name: Option<String>,
    /// The token of a progress notification, or the id of the request that a notification cancels, as JSON.
    pub(super) refers: Option<String>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Request { id: Id, method: String },
    Notification { method: String },
    Response { id: Option<Id> },
}

impl Envelope {
    /// Reads a message that was read before.
    pub(super) fn read(text: &str) -> Option<Self> {
        Self::try_read(text).ok()
    }

    /// # Errors
    /// Why the text is not a message that can be passed on.
    pub(super) fn try_read(text: &str) -> Result<Self, Refused> {
        let (kind, members) = match Message::read(text)? {
            Message::Request(request) => {
                let (id, method) = (request.id, request.method);
                (Kind::Request { id, method }, request.members)
            }
            Message::Notification { method, members } => (Kind::Notification { method }, members),
            Message::Response { id, members } => (Kind::Response { id }, members),
        };
        let params = members.get("params");
        let inner: Option<Members<'_>> = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let member = |name: &str| inner.as_ref().and_then(|params| params.get(name));
        let (name, refers) = match kind.method() {
            "notifications/progress" => (None, member("progressToken")),
            "notifications/cancelled" => (None, member("requestId")),
            method => (named_by(method).and_then(|name| text_of(member(name))), None),
        };
        Ok(Self {
            revision: revision_of(params),
            name,
            refers: refers.map(RawValue::get).map(str::to_owned),
            kind,
        })
    }

    pub(super) fn method(&self) -> &str {
        self.kind.method()
    }

    /// The id of a request.
    pub(super) fn id(&self) -> Option<&Id> {
        match &self.kind {
            Kind::Request { id, .. } => Some(id),
            Kind::Notification { .. } | Kind::Response { .. } => None,
        }
    }

    /// The id of a request that a notification cancels.
    pub(super) fn cancels(&self) -> Option<Id> {
        if self.method() != "notifications/cancelled" {
            return None;
        }
        let id: &RawValue = serde_json::from_str(self.refers.as_deref()?).ok()?;
        Id::read(id).ok()
    }
}

impl Kind {
    fn method(&self) -> &str {
        match self {
            Self::Request { method, .. } | Self::Notification { method } => method,
            Self::Response { .. } => "",
        }
    }
}

/// The member of `params` that `Mcp-Name` repeats.
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers>
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        // The extension of tasks.
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// The token by which the answers to a request are told that are not yet the last, as JSON.
pub(super) fn progress_token(text: &str) -> Option<String> {
    let member = |object: &RawValue, name: &str| -> Option<String> {
        let members: Members<'_> = serde_json::from_str(object.get()).ok()?;
        members.get(name).map(|value| value.get().to_owned())
    };
    let whole: &RawValue = serde_json::from_str(text).ok()?;
    let params: Box<RawValue> = RawValue::from_string(member(whole, "params")?).ok()?;
    let meta = RawValue::from_string(member(&params, "_meta")?).ok()?;
    member(&meta, "progressToken")
}
