//! ToolHive's webhooks, and its decisions over HTTP.
//!
//! A validating webhook and a decision cannot rewrite a call, so that one is allowed only where what is judged is what is given; a
//! mutating webhook answers with a patch.

use callgate_guard::check_unambiguous;
use callgate_guard::http::{Exchange, Head, Reply, Step};
use callgate_host::Decision;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::service::{Asker, Service};

/// The version of the protocol of webhooks.
const VERSION: &str = "v0.1.0";

/// The operation that is a call of a tool.
const CALL: &str = "mcp:tool:call";

/// Whether a webhook may rewrite.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Webhook {
    Validating,
    Mutating,
}

#[derive(Deserialize)]
struct Request<'r> {
    uid: String,
    #[serde(borrow)]
    mcp_request: &'r RawValue,
    context: Option<Context>,
}

#[derive(Deserialize)]
struct Context {
    server_name: Option<String>,
    backend_server: Option<String>,
}

/// Answers a webhook with JSON text.
///
/// # Errors
/// What is wrong with the request.
pub(crate) fn webhook(service: &Asker<'_>, webhook: Webhook, body: &str) -> Result<String, String> {
    let request: Request<'_> = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let context = request.context.as_ref();
    // Behind one server of ToolHive's own there may be several.
    let server = context.and_then(|context| {
        let backend = context.backend_server.as_ref();
        backend
            .or(context.server_name.as_ref())
            .filter(|name| !name.is_empty())
    });
    let judged = service
        .guard(server.map(String::as_str))
        .map(|guard| match webhook {
            Webhook::Validating => Exchange::exact(guard),
            Webhook::Mutating => Exchange::new(guard),
        })
        .and_then(|exchange| judged(exchange, request.mcp_request.get()));
    let mut answer = Answer {
        version: VERSION,
        uid: request.uid,
        allowed: matches!(judged, Ok(Judged::Pass | Judged::Arguments { .. })),
        ..Answer::default()
    };
    let patch = match judged {
        Ok(Judged::Pass) => Some(Vec::new()),
        Ok(Judged::Arguments { operation, arguments }) => Some(vec![Change {
            op: operation,
            path: "/mcp_request/params/arguments",
            value: arguments,
        }]),
        Ok(Judged::Refused { message, rule }) => {
            (answer.code, answer.message, answer.reason) = (Some(403), Some(message), Some(rule));
            None
        }
        Err(reason) => {
            (answer.code, answer.message) = (Some(500), Some(reason));
            None
        }
    };
    if webhook == Webhook::Mutating && patch.is_some() {
        (answer.patch_type, answer.patch) = (Some("json_patch"), patch);
    }
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

/// What a webhook answers.
#[derive(Default, Serialize)]
struct Answer {
    version: &'static str,
    uid: String,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<Vec<Change>>,
}

/// A step of a patch.
#[derive(Serialize)]
struct Change {
    op: &'static str,
    path: &'static str,
    value: Box<RawValue>,
}

#[derive(Deserialize)]
struct Porc<'r> {
    operation: String,
    resource: String,
    #[serde(borrow)]
    context: Option<PorcContext<'r>>,
}

#[derive(Deserialize)]
struct PorcContext<'r> {
    #[serde(borrow)]
    mcp: Option<Mcp<'r>>,
}

#[derive(Deserialize)]
struct Mcp<'r> {
    #[serde(borrow)]
    args: Option<&'r RawValue>,
}

/// Answers a decision with JSON text: principal, operation, resource and context. Calls of tools are judged, and everything else passes, as it does
/// before the guard.
///
/// # Errors
/// What is wrong with the request.
pub(crate) fn decision(service: &Asker<'_>, body: &str) -> Result<String, String> {
    check_unambiguous(body)?;
    let porc: Porc<'_> = serde_json::from_str(body).map_err(|error| error.to_string())?;
    if porc.operation != CALL {
        let is_like = porc.operation.to_ascii_lowercase().replace(['/', '.', '_'], ":") == CALL;
        return match is_like {
            true => Err(format!("`operation` is `{}`, expected `{CALL}`", porc.operation)),
            false => Ok(json!({"allow": !service.service.only_tools()}).to_string()),
        };
    }
    // mrn:mcp:SERVER:tool:NAME, and names may have colons.
    let resource = porc.resource.strip_prefix("mrn:mcp:");
    let (server, tool) = resource
        .and_then(|resource| resource.split_once(":tool:"))
        .ok_or_else(|| {
            format!(
                "`resource` is `{}`, expected `mrn:mcp:SERVER:tool:NAME`",
                porc.resource
            )
        })?;
    let arguments = porc
        .context
        .and_then(|context| context.mcp)
        .and_then(|mcp| mcp.args);
    // Without them nothing is known of the call.
    let arguments = arguments
        .ok_or("`context.mcp.args` is absent: ToolHive's configuration has to set `include_args`")?;
    let decided = service
        .guard(Some(server))
        .and_then(|guard| Service::judging(|| guard.decide(tool, arguments.get())));
    let is_allowed = decided.is_ok_and(|decided| decided.verdict.decision == Decision::Allow);
    Ok(json!({"allow": is_allowed}).to_string())
}

enum Judged {
    Pass,
    /// How the arguments that were judged get in place of those that were given.
    Arguments {
        operation: &'static str,
        /// As they were judged: numbers too.
        arguments: Box<RawValue>,
    },
    Refused {
        message: String,
        rule: String,
    },
}

fn judged(mut exchange: Exchange, message: &str) -> Result<Judged, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if exchange.head(&Method::POST, headers, true) != Head::Body {
        return Err("the request cannot be read".to_owned());
    }
    match Service::judging(|| exchange.body(message.as_bytes().to_vec())) {
        Step::Pass => Ok(Judged::Pass),
        Step::Answer(reply) => Ok(refused(&reply)),
        Step::Replace(text) => {
            let sent = arguments_of(&text).ok_or("the arguments that were judged cannot be written")?;
            Ok(Judged::Arguments {
                operation: match arguments_of(message) {
                    Some(_) => "replace",
                    None => "add",
                },
                arguments: sent.to_owned(),
            })
        }
    }
}

/// The arguments of a call.
fn arguments_of(message: &str) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Message<'m> {
        #[serde(borrow)]
        params: Params<'m>,
    }
    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow)]
        arguments: Option<&'m RawValue>,
    }
    serde_json::from_str::<Message<'_>>(message)
        .ok()?
        .params
        .arguments
}

fn refused(reply: &Reply) -> Judged {
    let answer: Value = serde_json::from_str(&reply.body).unwrap_or_default();
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let message = text("/result/content/0/text").or_else(|| text("/error/message"));
    let rule = text("/result/_meta/callgate~1rule");
    Judged::Refused {
        message: message.unwrap_or("the message is not passed on").to_owned(),
        rule: rule.unwrap_or("unreadable").to_owned(),
    }
}

#[cfg(test)]
mod tests;
