//! One message of JSON-RPC, read no further than the guard has to.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt;

use callgate_jsontext::{Members, push_string};
use serde_json::value::RawValue;

use super::method;
use super::strict::{self, folded};

/// Integers that every parser of JSON can hold, and how many digits the longest of them has.
const SAFE_INTEGER: i64 = 1 << 53;
const SAFE_DIGITS: usize = 16;

/// Bytes of the longest id. Ids are kept for as long as their requests wait.
const LONGEST_ID: usize = 1024;

/// Members that say what a message is.
const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Members that say what a call is.
const PARAMS: [&str; 6] = [
    "name",
    "arguments",
    "_meta",
    "task",
    "requestState",
    "inputResponses",
];

/// The kinds of messages.
#[derive(Debug)]
pub(super) enum Message<'m> {
    /// Something that wants an answer.
    Request(Request<'m>),
    /// Something that does not.
    Notification { method: String, members: Members<'m> },
    /// An answer; its members, and the id that it answers, if it can be read.
    Response { id: Option<Id>, members: Members<'m> },
}

#[derive(Debug)]
pub(super) struct Request<'m> {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) members: Members<'m>,
}

/// The name of a request, as JSON and as what a lenient peer compares by: some hold `1`, `1.0` and `"1"` to be one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) json: String,
    pub(super) text: String,
}

/// Why a text is not a message that can be passed on, and the id to answer to, as JSON.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) id: Option<String>,
    pub(super) reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl<'m> Message<'m> {
    /// Reads a message. Whatever two parsers could take for different messages is refused.
    pub(super) fn read(text: &'m str) -> Result<Self, Refused> {
        let refused = |reason: String| Refused { id: None, reason };
        if text.trim_start().starts_with('[') {
            return Err(refused(
                "a batch, expected one message: batches are not accepted".to_owned(),
            ));
        }
        let members: Members<'m> = serde_json::from_str(text)
            .map_err(|error| refused(format!("not a JSON-RPC message: {error}")))?;
        check_names(&members, &NAMES).map_err(refused)?;
        let id = members.get("id").map(Id::read);
        // The id of an answer is its reader's own: an error with it would be taken for the answer to another request.
        let is_answer = members.get("result").or(members.get("error")).is_some();
        let answered = match &id {
            Some(Ok(id)) if !is_answer => Some(id.json.clone()),
            Some(Ok(_) | Err(_)) | None => None,
        };
        let refused = |reason: &str| Refused {
            id: answered.clone(),
            reason: reason.to_owned(),
        };
        if text_of(members.get("jsonrpc")).as_deref() != Some("2.0") {
            return Err(refused("the member `jsonrpc` is not \"2.0\""));
        }
        let method = members.get("method").map(|method| text_of(Some(method)));
        match (method, id) {
            (Some(None), _) => Err(refused("the member `method` is not a string")),
            (Some(Some(_)), _) if is_answer => Err(refused("a message with a method and an answer")),
            (Some(Some(method)), _) if method.contains(char::is_control) => {
                Err(refused("the member `method` has a control character"))
            }
            // Some servers take `7.0` for no id at all.
            (Some(Some(_)), Some(Ok(id))) if !id.is_spelled(&members) => Err(Refused {
                id: None,
                reason: Id::EXPECTED.to_owned(),
            }),
            (Some(Some(method)), Some(Ok(id))) => Ok(Self::Request(Request { id, method, members })),
            (Some(Some(_)), Some(Err(reason))) => Err(refused(reason)),
            (Some(Some(method)), None) => Ok(Self::Notification { method, members }),
            (None, id) if members.get("result").is_some() != members.get("error").is_some() => {
                let id = id.and_then(Result::ok);
                Ok(Self::Response { id, members })
            }
            (None, _) => Err(refused(
                "neither a method nor exactly one of `result` and `error`",
            )),
        }
    }

    /// Checks that every parser reads the params of a message alike, where the guard reads them too. Those of a call are read by
    /// [`ToolCall::read`].
    ///
    /// # Errors
    /// Why two parsers could read them differently.
    pub(super) fn check_params(&self) -> Result<(), String> {
        let (method, members) = match self {
            Self::Request(Request { method, members, .. }) => (method, members),
            Self::Notification { method, members } => (method, members),
            Self::Response { .. } => return Ok(()),
        };
        match members.get("params").filter(|_| method::is_read(method)) {
            Some(params) => strict::check_plain(params.get()).map_err(|error| format!("`params`: {error}")),
            None => Ok(()),
        }
    }
}

impl Id {
    const EXPECTED: &str = "the member `id` is not a string or an integer that a double can hold";

    /// Reads the id of a request or an answer. A number is what readers make of it, however it is spelled.
    pub(super) fn read(value: &RawValue) -> Result<Self, &'static str> {
        let json = value.get().to_owned();
        if let Some(text) = text_of(Some(value)) {
            if text.len() > LONGEST_ID {
                return Err("the member `id` has more than 1024 bytes");
            }
            // Spelled in one way, whatever escapes it came with.
            let json = serde_json::to_string(&text).map_err(|_| Self::EXPECTED)?;
            return Ok(Self { json, text });
        }
        let number = integer(&json).filter(|number| number.abs() < SAFE_INTEGER);
        let text = number.ok_or(Self::EXPECTED)?.to_string();
        let json = text.clone();
        Ok(Self { json, text })
    }

    /// The id of a request of the guard's own.
    pub(super) fn own(text: &str) -> Self {
        let mut json = String::new();
        push_string(&mut json, text);
        let text = text.to_owned();
        Self { json, text }
    }

    /// Returns `true` unless it is a number that a message spells in another way.
    pub(super) fn is_spelled(&self, message: &Members<'_>) -> bool {
        let written = message.get("id").map_or(&*self.json, RawValue::get);
        written == self.json || written.starts_with('"')
    }
}

/// The integer that a number of JSON is, as `7`, `7.0` and `70e-1` are seven.
fn integer(number: &str) -> Option<i64> {
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.len() > LONGEST_ID || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let zeros = digits.len() - significant.len();
    let significant = significant.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    // How many digits stand before the decimal point.
    let point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
    let point = usize::try_from(point.checked_add(exponent.parse().ok()?)?).ok()?;
    if significant.len() > point || point > SAFE_DIGITS {
        return None;
    }
    let number: i64 = format!("{significant:0<point$}").parse().ok()?;
    Some(if is_negative { -number } else { number })
}

/// # Errors
/// A name stands there twice or has a control character, or a name differs from one of these in its case alone, which some
/// parsers pass over.
pub(super) fn check_names(members: &Members<'_>, names: &[&str]) -> Result<(), String> {
    let as_folded = LazyCell::new(|| names.iter().map(|known| folded(known)).collect::<Vec<_>>());
    let mut found = BTreeSet::new();
    for (name, _) in &members.0 {
        strict::check_name(name)?;
        if !found.insert(name.as_str()) {
            return Err(format!("the member `{name}` occurs twice"));
        }
        if names.contains(&name.as_str()) {
            continue;
        }
        let folded = folded(name);
        let is_like = |(_, as_folded): &(_, &String)| **as_folded == folded;
        if let Some((known, _)) = names.iter().zip(&*as_folded).find(is_like) {
            return Err(format!("the member `{name}`, expected `{known}`"));
        }
    }
    Ok(())
}

/// A call of a tool: the members of its `params`.
#[derive(Debug)]
pub(super) struct ToolCall<'m> {
    pub(super) name: String,
    pub(super) arguments: Option<&'m RawValue>,
    pub(super) params: Members<'m>,
}

impl<'m> ToolCall<'m> {
    /// # Errors
    /// Why the params are not those of a call that every parser reads alike.
    pub(super) fn read(request: &Request<'m>) -> Result<Self, String> {
        let params = request
            .members
            .get("params")
            .ok_or("`params` are absent, expected an object")?;
        strict::check(params.get()).map_err(|error| format!("`params`: {error}"))?;
        let params: Members<'m> =
            serde_json::from_str(params.get()).map_err(|_| "`params` are not an object".to_owned())?;
        check_names(&params, &PARAMS)?;
        // The engine says which names of arguments can be read.
        for (_, value) in params.0.iter().filter(|(name, _)| name != "arguments") {
            strict::check_plain(value.get()).map_err(|error| format!("`params`: {error}"))?;
        }
        let name = text_of(params.get("name")).ok_or("`params.name` is not a string")?;
        strict::check_name(&name).map_err(|error| format!("`params.name`: {error}"))?;
        Ok(Self {
            name,
            arguments: params.get("arguments"),
            params,
        })
    }
}

/// The text of a JSON string; `None` for anything else.
pub(super) fn text_of(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_message_with_many_members_is_read_in_one_pass() {
        let members: Vec<String> = (0..200_000).map(|at| format!(r#""{at}":0"#)).collect();
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping",{}}}"#,
            members.join(",")
        );
        let begun = Instant::now();
        assert!(matches!(Message::read(&text), Ok(Message::Request(_))));
        // Each with each would take minutes.
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn an_id_has_a_limit() {
        let request = |length: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#,
                "x".repeat(length)
            )
        };
        assert!(Message::read(&request(LONGEST_ID)).is_ok());
        let refused = Message::read(&request(LONGEST_ID + 1)).unwrap_err();
        assert_eq!(
            (refused.id, &*refused.reason),
            (None, "the member `id` has more than 1024 bytes")
        );
    }

    #[test]
    fn an_id_is_the_integer_that_readers_make_of_it() {
        let read = |id: &str| {
            let id: &RawValue = serde_json::from_str(id).unwrap();
            Id::read(id).ok().map(|id| (id.json, id.text))
        };
        for (id, expected) in [
            ("7", "7"),
            ("7.0", "7"),
            ("7e0", "7"),
            ("70e-1", "7"),
            ("0.7e1", "7"),
            ("0.007E+3", "7"),
            ("-7.00", "-7"),
            ("-0", "0"),
            ("0e5", "0"),
            ("1e3", "1000"),
            ("9007199254740991", "9007199254740991"),
        ] {
            let expected = expected.to_owned();
            assert_eq!(read(id), Some((expected.clone(), expected)), "{id}");
        }
        for id in [
            "7.5",
            "7.0000000000000000000001",
            "9007199254740992",
            "-1e16",
            "1e400",
            "1e99999999999999999999",
            "null",
            "[7]",
            "true",
        ] {
            assert_eq!(read(id), None, "{id}");
        }
    }

    #[test]
    fn a_control_character_is_part_of_no_name() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping\u0000"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params\n":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"id\u0000":2}"#,
        ] {
            assert!(Message::read(text).is_err(), "{text}");
        }
        let call = |params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            let Ok(Message::Request(request)) = Message::read(&text) else {
                panic!("{text}");
            };
            ToolCall::read(&request).map(|_| ())
        };
        for params in [
            r#"{"name":"a\u0000"}"#,
            r#"{"name":"a","name\u0000":"b"}"#,
            r#"{"name":"a","_meta":{"x":[{"y\u0000":1}]}}"#,
        ] {
            assert!(
                call(params).unwrap_err().contains("control character"),
                "{params}"
            );
        }
        // The engine judges the names of arguments.
        assert_eq!(call(r#"{"name":"a","arguments":{"x\u0000":1}}"#), Ok(()));
    }

    #[test]
    fn names_that_differ_in_their_case_are_not_the_known_ones() {
        let members: Members<'_> = serde_json::from_str(r#"{"requeststate":1}"#).unwrap();
        assert!(check_names(&members, &["requestState"]).is_err());
        assert_eq!(check_names(&members, &["requeststate", "other"]), Ok(()));
    }

    #[test]
    fn what_is_no_request_has_no_answer_that_another_could_be_taken_for() {
        let answers_to = |text: &str| Message::read(text).unwrap_err().id;
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}"#,
        ] {
            assert_eq!(answers_to(text), None, "{text}");
        }
        for request in [
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            assert_eq!(answers_to(request).as_deref(), Some("1"));
        }
    }
}
