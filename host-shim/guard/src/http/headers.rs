//! Headers that repeat what a message says. The message decides: those of a client are checked against it, and those for a
//! server are written from it.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata>

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use callgate_jsontext::Members;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::Envelope;
use crate::revisions::FIRST_MODERN;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// How the names of headers that repeat arguments begin.
const PARAM: &str = "mcp-param-";

/// Requests whose `Mcp-Name` may not be left out.
const NAMED: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// How many tools are remembered for the arguments that headers repeat, how many arguments of each, and how deep.
const TOOLS: usize = 10_000;
const PARAMS: usize = 64;
const DEPTH: usize = 16;

/// The arguments of tools that headers repeat (`x-mcp-header`), as the server listed them last.
#[derive(Debug, Default)]
pub(super) struct Mirrored(Mutex<BTreeMap<String, Vec<Param>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Param {
    header: HeaderName,
    path: Vec<String>,
}

/// Checks that a client's headers say what its message says.
///
/// # Errors
/// Which header does not, for the answer.
pub(super) fn check(
    headers: &HeaderMap,
    envelope: &Envelope,
    text: &str,
    mirrored: Option<&Mirrored>,
) -> Result<(), String> {
    let is_modern = envelope.revision.is_some();
    match (one(headers, &REVISION)?, &envelope.revision) {
        (Some(header), Some(said)) if header == said => {}
        (Some(header), Some(said)) => return Err(mismatch(&REVISION, header, said)),
        (None, Some(_)) => return Err(missing(&REVISION)),
        (Some(header), None) if header >= FIRST_MODERN && envelope.id().is_some() => {
            return Err(format!(
                "the header `{REVISION}` is `{header}`, and the message says no revision, expected the same in `params._meta`"
            ));
        }
        (Some(_) | None, None) => {}
    }
    match one(headers, &METHOD)? {
        Some(header) if header == envelope.method() => {}
        Some(header) => return Err(mismatch(&METHOD, header, envelope.method())),
        None if is_modern => return Err(missing(&METHOD)),
        None => {}
    }
    // A server by whose gateway `-` and `_` are one takes the one for the other.
    if mirrored.is_none()
        && let Some(name) = headers.keys().find(|name| {
            let name = name.as_str();
            name.contains('_') && name.replace('_', "-").starts_with("mcp-")
        })
    {
        return Err(format!("the header `{name}` has a `_`, expected `-`"));
    }
    match (one(headers, &NAME)?, &envelope.name) {
        (Some(header), Some(name)) => match decoded(header) {
            Some(header) if header == *name => {}
            Some(_) | None => return Err(mismatch(&NAME, header, name)),
        },
        (None, _) if is_modern && NAMED.contains(&envelope.method()) => return Err(missing(&NAME)),
        // Where there is a proxy, the server gets it.
        (Some(_), None) if mirrored.is_none() => {
            return Err(format!(
                "the header `{NAME}` repeats a name, and the message has none"
            ));
        }
        // It repeats nothing that is known, and goes no further.
        (Some(_) | None, _) => {}
    }
    match (mirrored, is_modern && envelope.method() == "tools/call") {
        (Some(mirrored), true) => mirrored.check(headers, envelope, text),
        (None, _) => check_arguments(headers, text),
        (Some(_), false) => Ok(()),
    }
}

/// Returns `true` if headers repeat arguments.
pub(super) fn repeat_arguments(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with(PARAM))
}

/// Checks the headers that repeat arguments where the server gets them as they came, and what its tools say of them is not known:
/// each repeats the one argument of its name.
///
/// # Errors
/// Which header does not, for the answer.
pub(super) fn check_arguments(headers: &HeaderMap, text: &str) -> Result<(), String> {
    if !repeat_arguments(headers) {
        return Ok(());
    }
    let arguments = arguments_of(text);
    for header in headers.keys() {
        let Some(name) = header.as_str().strip_prefix(PARAM) else {
            continue;
        };
        let named = arguments.iter().flat_map(|Members(members)| members);
        let mut named = named.filter(|(argument, _)| argument.eq_ignore_ascii_case(name));
        let value = match (named.next(), named.next()) {
            (Some((_, value)), None) => Repeated::of(value),
            (_, _) => None,
        };
        let given = one(headers, header)?.and_then(decoded);
        if !matches!((&given, &value), (Some(given), Some(value)) if value.is(given)) {
            return Err(format!(
                "the header `{header}` says something else than the argument of its name, or there is none"
            ));
        }
    }
    Ok(())
}

/// The arguments of a call.
fn arguments_of(text: &str) -> Option<Members<'_>> {
    let params = Members::read(text).ok()?.get("params")?;
    Members::read(Members::read(params.get()).ok()?.get("arguments")?.get()).ok()
}

/// The headers of a message for a server; `revision` is what the server of a session agreed to.
pub(super) fn of(
    envelope: &Envelope,
    text: &str,
    revision: Option<&str>,
    mirrored: &Mirrored,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    let mut push = |name: HeaderName, value: &str| {
        // Every text can be encoded.
        if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
            headers.push((name, value));
        }
    };
    if let Some(revision) = envelope.revision.as_deref().or(revision) {
        push(REVISION, revision);
    }
    if envelope.revision.is_some() {
        push(METHOD, envelope.method());
        if let Some(name) = &envelope.name {
            push(NAME, name);
        }
        for (header, value) in mirrored.of(envelope, text) {
            push(header, value.text());
        }
    }
    headers
}

impl Mirrored {
    /// Learns from a server's answer to `tools/list`.
    pub(super) fn learn(&self, answer: &str) {
        let Ok(answer) = serde_json::from_str::<Value>(answer) else {
            return;
        };
        let tools = answer.pointer("/result/tools").and_then(Value::as_array);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for tool in tools.into_iter().flatten() {
            let (Some(name), Some(schema)) =
                (tool.get("name").and_then(Value::as_str), tool.get("inputSchema"))
            else {
                continue;
            };
            let mut params = Vec::new();
            find(schema, &mut Vec::new(), &mut params);
            if params.is_empty() {
                known.remove(name);
            } else if known.len() < TOOLS || known.contains_key(name) {
                known.insert(name.to_owned(), params);
            }
        }
    }

    /// The headers of a call, with their texts.
    fn of(&self, envelope: &Envelope, text: &str) -> Vec<(HeaderName, Repeated)> {
        if envelope.method() != "tools/call" {
            return Vec::new();
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(params) = envelope.name.as_ref().and_then(|name| known.get(name)) else {
            return Vec::new();
        };
        let value = |param: &Param| {
            let (last, steps) = param.path.split_last()?;
            let mut arguments = arguments_of(text)?;
            for step in steps {
                arguments = Members::read(arguments.get(step)?.get()).ok()?;
            }
            Some((param.header.clone(), Repeated::of(arguments.get(last)?)?))
        };
        params.iter().filter_map(value).collect()
    }

    fn check(&self, headers: &HeaderMap, envelope: &Envelope, text: &str) -> Result<(), String> {
        for (header, value) in self.of(envelope, text) {
            match one(headers, &header)? {
                None => return Err(missing(&header)),
                Some(given) if decoded(given).is_some_and(|given| value.is(&given)) => {}
                // The argument may be what nobody is to read in a log: the body of a letter, a key.
                Some(_) => {
                    return Err(format!(
                        "the header `{header}` says something else than the argument that it repeats"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Properties with `x-mcp-header`, which are reached by `properties` alone.
fn find(schema: &Value, path: &mut Vec<String>, params: &mut Vec<Param>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, property) in properties {
        if path.len() >= DEPTH || params.len() >= PARAMS {
            return;
        }
        path.push(name.clone());
        let header = property.get("x-mcp-header").and_then(Value::as_str);
        let header = header.filter(|header| !header.is_empty());
        if let Some(Ok(header)) = header.map(|header| HeaderName::try_from(format!("{PARAM}{header}"))) {
            let path = path.clone();
            params.push(Param { header, path });
        }
        find(property, path, params);
        path.pop();
    }
}

/// An argument that a header may repeat.
enum Repeated {
    Text(String),
    /// A number or a truth value, as it is written.
    Word(String),
}

impl Repeated {
    fn of(value: &RawValue) -> Option<Self> {
        match value.get().bytes().next()? {
            b'"' => serde_json::from_str(value.get()).ok().map(Self::Text),
            b'{' | b'[' | b'n' => None,
            _ => Some(Self::Word(value.get().to_owned())),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Word(text) => text,
        }
    }

    /// Returns `true` if a header says the same. Of numbers `42.0` is `42`, and nothing else that would have to be rounded.
    fn is(&self, given: &str) -> bool {
        let whole = |number: &str| {
            let (whole, rest) = number.split_once('.').unwrap_or((number, "0"));
            rest.bytes().all(|digit| digit == b'0').then(|| whole.to_owned())
        };
        given == self.text()
            || matches!(self, Self::Word(number) if whole(number).is_some_and(|whole_number| whole(given) == Some(whole_number)))
    }
}

/// The only value of a header.
pub(super) fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, String> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(format!("the header `{name}` occurs twice"));
    }
    first
        .map(|value| {
            value
                .to_str()
                .map_err(|_| format!("the header `{name}` is not ASCII"))
        })
        .transpose()
}

fn missing(name: &HeaderName) -> String {
    format!("the header `{name}` is missing")
}

fn mismatch(name: &HeaderName, header: &str, said: &str) -> String {
    format!("the header `{name}` is `{header}`, and the message says `{said}`")
}

/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding>
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    match is_plain && !(value.starts_with("=?base64?") && value.ends_with("?=")) {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", BASE64_STANDARD.encode(value)),
    }
}

fn decoded(header: &str) -> Option<String> {
    match header
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        Some(text) => String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok(),
        None => Some(header.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

    fn request(method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#)
    }

    fn given(text: &str, headers: &[(&'static str, &str)], mirrored: &Mirrored) -> Result<(), String> {
        let envelope = Envelope::read(text).unwrap();
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            )
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        check(&map, &envelope, text, Some(mirrored))
    }

    fn written(text: &str, revision: Option<&str>, mirrored: &Mirrored) -> Vec<(String, String)> {
        let envelope = Envelope::read(text).unwrap();
        of(&envelope, text, revision, mirrored)
            .into_iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect()
    }

    #[test]
    fn the_message_decides_and_a_header_that_says_otherwise_is_refused() {
        let none = Mirrored::default();
        let call = request("tools/call", &format!(r#""name":"naïve",{META}"#));
        let good = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?bmHDr3Zl?="),
        ];
        assert_eq!(given(&call, &good, &none), Ok(()));
        for (at, value, expected) in [
            (0, "2025-11-25", "mcp-protocol-version"),
            (1, "tools/list", "mcp-method"),
            (1, "Tools/Call", "mcp-method"),
            (2, "other", "mcp-name"),
            (2, "=?base64?*?=", "mcp-name"),
        ] {
            let mut headers = good;
            headers[at].1 = value;
            let error = given(&call, &headers, &none).unwrap_err();
            assert!(error.contains(expected), "{error}");
            // Left out, or twice.
            let mut fewer = good.to_vec();
            fewer.remove(at);
            assert!(given(&call, &fewer, &none).unwrap_err().contains("is missing"));
            let mut twice = good.to_vec();
            twice.push(good[at]);
            assert!(given(&call, &twice, &none).unwrap_err().contains("occurs twice"));
        }
        // A session's messages need no headers, and those that they have are right.
        let plain = request("tools/call", r#""name":"a""#);
        assert_eq!(
            given(&plain, &[("mcp-protocol-version", "2025-06-18")], &none),
            Ok(())
        );
        assert!(given(&plain, &[("mcp-protocol-version", "2026-07-28")], &none).is_err());
        assert!(given(&plain, &[("mcp-name", "b")], &none).is_err());
        assert!(given(&plain, &[("mcp-method", "ping")], &none).is_err());
    }

    #[test]
    fn what_a_server_gets_is_written_from_the_message() {
        let mirrored = Mirrored::default();
        let read = request("resources/read", &format!(r#""uri":" =a",{META}"#));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            written(&read, None, &mirrored),
            [
                pair("mcp-protocol-version", "2026-07-28"),
                pair("mcp-method", "resources/read"),
                pair("mcp-name", "=?base64?ID1h?="),
            ]
        );
        let plain = request("resources/read", r#""uri":"a""#);
        assert_eq!(
            written(&plain, Some("2025-06-18"), &mirrored),
            [pair("mcp-protocol-version", "2025-06-18")]
        );
    }

    #[test]
    fn arguments_in_headers_are_those_that_are_sent() {
        let mirrored = Mirrored::default();
        mirrored.learn(
            r#"{"result": {"tools": [{"name": "t", "inputSchema": {"properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
                "bad": {"x-mcp-header": "a b"},
                "list": {"items": {"x-mcp-header": "No"}}
            }}}]}}"#,
        );
        let call = request(
            "tools/call",
            &format!(
                r#""name":"t","arguments":{{"region":"é","deep":{{"n":42}},"list":[1],"bad":2}},{META}"#
            ),
        );
        let sent = written(&call, None, &mirrored);
        assert_eq!(
            sent[3..],
            [
                ("mcp-param-region".to_owned(), "=?base64?w6k=?=".to_owned()),
                ("mcp-param-n".to_owned(), "42".to_owned())
            ]
        );
        let good = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "t"),
            ("mcp-param-region", "=?base64?w6k=?="),
            ("mcp-param-n", "42.0"),
        ];
        assert_eq!(given(&call, &good, &mirrored), Ok(()));
        let error = given(&call, &good[..4], &mirrored).unwrap_err();
        assert_eq!(error, "the header `mcp-param-n` is missing");
        for (n, said, is_one) in [
            ("\"007\"", "7", false),
            ("\"007\"", "007", true),
            ("\"inf\"", "infinity", false),
            ("9007199254740992", "9007199254740993", false),
            ("9007199254740993", "9007199254740993.00", true),
            ("true", "true", true),
            ("4e1", "40", false),
        ] {
            let call = call.replace("\"n\":42", &format!("\"n\":{n}"));
            let mut headers = good;
            headers[4].1 = said;
            assert_eq!(given(&call, &headers, &mirrored).is_ok(), is_one, "{n} {said}");
        }
        let mut other = good;
        other[3].1 = "secret";
        let error = given(&call, &other, &mirrored).unwrap_err();
        assert!(error.contains("`mcp-param-region`"), "{error}");
        // Neither text is anybody's to read in a log.
        assert!(!error.contains("secret") && !error.contains('é'), "{error}");
    }
}
