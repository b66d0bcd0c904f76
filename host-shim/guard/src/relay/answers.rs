//! Read from answers, as far as the guard goes by them.

use crate::message::text_of;
use crate::record::Outcome;
use callgate_jsontext::Members;

/// How a call ended, as far as the protocol says, and the code of an error.
pub(super) fn outcome_of(answer: &Members<'_>) -> (Outcome, Option<i64>) {
    let inner = |name: &str| -> Option<Members<'_>> { serde_json::from_str(answer.get(name)?.get()).ok() };
    if answer.get("error").is_some() {
        let code = inner("error").and_then(|error| error.get("code")?.get().parse().ok());
        return (Outcome::Error, code);
    }
    let result = inner("result");
    let member = |name: &str| result.as_ref().and_then(|result| result.get(name));
    if member("isError").is_some_and(|is_error| is_error.get() == "true") {
        return (Outcome::ToolError, None);
    }
    match text_of(member("resultType")).as_deref() {
        None | Some("complete") => (Outcome::Done, None),
        Some(_) => (Outcome::Unfinished, None),
    }
}

/// An answer whose id is null, absent or no id: whoever takes it for the answer to a request takes it for the wrong one.
pub(super) fn to_no_request(error: Option<&str>) -> String {
    let said = error.map(|error| format!(": {error}")).unwrap_or_default();
    format!("an answer without an id that can be read{said}")
}

/// The message of an answer that is an error.
pub(super) fn error_message(answer: &Members<'_>) -> Option<String> {
    let error: Members<'_> = serde_json::from_str(answer.get("error")?.get()).ok()?;
    text_of(error.get("message"))
}
