//! What one line of input asks: a call, or a frame of MCP that is one.

use std::borrow::Cow;
use std::fmt;

use callgate_core::{CallError, did_you_mean};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// What a line of input is.
pub(crate) enum Read<'t> {
    Call(Asked<'t>),
    /// A frame that calls no tool: what it is instead.
    Other(String),
}

/// A call, with what stands beside it.
pub(crate) struct Asked<'t> {
    /// `{serverName, toolName, arguments}`.
    pub(crate) call: Cow<'t, str>,
    /// The context that the line gives its call.
    pub(crate) context: Option<&'t RawValue>,
}

/// A line that is no call.
pub(crate) struct Unread<'t> {
    pub(crate) id: Option<&'t RawValue>,
    pub(crate) error: CallError,
    pub(crate) help: Option<String>,
}

/// The members of a line that have a meaning.
const CALL: [&str; 5] = ["serverName", "toolName", "arguments", "id", "context"];
const SHAPE: &str = "`{serverName, toolName, arguments}`";

/// Reads a call `{serverName, toolName, arguments}`, or a frame `{method: "tools/call", params: {name, arguments}}`.
/// `server` is the server of what names none. The id is that of the call, where it has one.
pub(crate) fn read<'t>(
    text: &'t str,
    server: Option<&str>,
) -> Result<(Option<&'t RawValue>, Read<'t>), Unread<'t>> {
    let refused = |error| Unread {
        id: None,
        error,
        help: help_for(text),
    };
    let line = Object::read(text, text, "a call `{serverName, toolName, arguments}`").map_err(refused)?;
    let id = line.get("id");
    let has = |keys: &[&str]| keys.iter().any(|key| line.get(key).is_some());
    let is_call = has(&["toolName"]);
    let read = if is_call && has(&["jsonrpc", "method"]) {
        // What is judged must be what the server reads.
        let message = "found `toolName` in a frame, expected either a call or a frame";
        Err(line.fault(text, message, None))
    } else if !is_call && has(&["jsonrpc", "method", "params"]) {
        line.frame(server)
    } else {
        line.call(server).map(Read::Call)
    };
    let read = read.map_err(|fault| Unread {
        id: id.filter(|id| is_id(id)),
        error: fault.error,
        help: fault.help,
    })?;
    Ok((id.filter(|id| is_id(id)), read))
}

/// What helps where the text is JSON, but no object.
fn help_for(text: &str) -> Option<String> {
    let text = text.trim_start();
    let help = if text.starts_with('\u{feff}') {
        "the text begins with a byte order mark; save it as UTF-8 without one"
    } else if text.starts_with('[') {
        "write each call on a line of its own, in a file that does not end in .json"
    } else if serde_json::Deserializer::from_str(text)
        .into_iter::<&RawValue>()
        .take(2)
        .filter(|value| value.as_ref().is_ok_and(|value| value.get().starts_with('{')))
        .count()
        == 2
    {
        "a file NAME.json holds one call; call it NAME.jsonl if there is one a line"
    } else {
        return None;
    };
    Some(help.to_owned())
}

fn is_id(id: &RawValue) -> bool {
    id.get()
        .starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

fn is_text(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

/// The text that JSON stands for, as far as it is Unicode.
fn decoded(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The beginning of a value, in backticks.
fn shown(value: &RawValue) -> String {
    const MOST: usize = 60;
    let text = value.get();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

struct Fault {
    error: CallError,
    help: Option<String>,
}

/// An object somewhere in the text of a line, each of whose names occurs once.
struct Object<'t> {
    text: &'t str,
    object: &'t str,
    members: Vec<(String, &'t RawValue)>,
}

impl<'t> Object<'t> {
    fn read(text: &'t str, object: &'t str, expected: &'static str) -> Result<Self, CallError> {
        let mut reader = serde_json::Deserializer::from_str(object);
        let read = Members::deserialize(&mut reader).and_then(|members| reader.end().map(|()| members));
        let start = object.as_ptr() as usize - text.as_ptr() as usize;
        match read {
            Ok(Members(members)) => Ok(Self {
                text,
                object,
                members,
            }),
            Err(error) => {
                let (line, column) = place(text, start);
                let whole = error.to_string();
                let message = match (error.classify(), kind_of(object)) {
                    (Category::Data, Some(kind)) => format!("found {kind}, expected {expected}"),
                    _ => whole
                        .split_once(" at line ")
                        .map_or(&*whole, |(message, _)| message)
                        .to_owned(),
                };
                Err(CallError {
                    line: line + error.line().saturating_sub(1),
                    column: if error.line() <= 1 {
                        column + error.column().saturating_sub(1)
                    } else {
                        error.column()
                    },
                    message: match error.classify() {
                        Category::Syntax | Category::Eof => format!("not JSON: {message}"),
                        Category::Data | Category::Io => message,
                    },
                })
            }
        }
    }

    fn get(&self, name: &str) -> Option<&'t RawValue> {
        let found = self.members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| *value)
    }

    fn fault(&self, at: &str, message: impl Into<String>, help: Option<String>) -> Fault {
        let (line, column) = place(self.text, at.as_ptr() as usize - self.text.as_ptr() as usize);
        let message = message.into();
        Fault {
            error: CallError {
                line,
                column,
                message,
            },
            help,
        }
    }

    /// The member if it is a string.
    fn text_of(&self, name: &str, what: &str) -> Result<Option<&'t RawValue>, Fault> {
        match self.get(name) {
            Some(value) if !is_text(value) => {
                let message = format!("`{name}` is {}, expected a string, {what}", shown(value));
                Err(self.fault(value.get(), message, None))
            }
            value => Ok(value),
        }
    }

    fn missing(&self, name: &str, message: String, help: Option<String>) -> Fault {
        let others = self.members.iter().map(|(member, _)| member.as_str());
        let mut others = others.filter(|member| !CALL.contains(member));
        let near = others.find(|member| did_you_mean(member, [name]).is_some());
        let near = near.map(|member| format!("found `{member}`; did you mean `{name}`?"));
        self.fault(self.object, message, near.or(help))
    }

    fn check_id(&self, is_frame: bool) -> Result<(), Fault> {
        match self.get("id") {
            Some(id) if !is_id(id) && (is_frame || id.get() != "null") => {
                let message = format!("`id` is {}, expected a string or a number", shown(id));
                Err(self.fault(id.get(), message, None))
            }
            _ => Ok(()),
        }
    }

    /// The server that the line names, else the one that the operator names. They must not disagree: who writes the
    /// calls does not choose the server.
    fn server(&self, named: Option<&str>, missing: &str) -> Result<Cow<'t, str>, Fault> {
        let own = self.text_of("serverName", "the server's name")?;
        match (own, named) {
            (Some(own), Some(named)) if decoded(own).as_deref() != Some(named) => {
                let message = format!("`serverName` is {}, but `--server` is `{named}`", shown(own));
                Err(self.fault(own.get(), message, None))
            }
            (Some(own), _) => Ok(Cow::Borrowed(own.get())),
            (None, Some(named)) => Ok(Cow::Owned(serde_json::Value::from(named).to_string())),
            (None, None) => Err(self.missing("serverName", missing.to_owned(), {
                Some("`--server NAME` names the server of all calls that name none".to_owned())
            })),
        }
    }

    fn call(&self, named: Option<&str>) -> Result<Asked<'t>, Fault> {
        self.check_id(false)?;
        let context = self.get("context");
        if self.text_of("toolName", "the tool's name")?.is_none() {
            let help = self.get("name").map(|_| {
                "found `name`, which is what MCP calls it: write `toolName`, or give the whole frame `{\"method\": \
                 \"tools/call\", \"params\": {…}}`"
                    .to_owned()
            });
            let message = format!("`toolName` is missing, expected {SHAPE}");
            return Err(self.missing("toolName", message, help));
        }
        let server = self.server(named, &format!("`serverName` is missing, expected {SHAPE}"))?;
        let call = if self.get("serverName").is_some() {
            Cow::Borrowed(self.text)
        } else {
            let rest = self.object.trim_start().strip_prefix('{').unwrap_or_default();
            Cow::Owned(format!("{{\"serverName\":{server},{rest}"))
        };
        Ok(Asked { call, context })
    }

    fn frame(&self, named: Option<&str>) -> Result<Read<'t>, Fault> {
        if let Some(version) = self.get("jsonrpc")
            && version.get() != "\"2.0\""
        {
            let message = format!("`jsonrpc` is {}, expected \"2.0\"", shown(version));
            return Err(self.fault(version.get(), message, None));
        }
        let Some(method) = self.text_of("method", "a method of MCP")? else {
            if self.get("result").is_some() || self.get("error").is_some() {
                return Ok(Read::Other("a response".to_owned()));
            }
            let message = "`method` is missing, expected a frame with `\"method\": \"tools/call\"`";
            return Err(self.missing("method", message.to_owned(), None));
        };
        if method.get() != "\"tools/call\"" && decoded(method).as_deref() != Some("tools/call") {
            return Ok(Read::Other(shown(method).replace('"', "")));
        }
        self.check_id(true)?;
        let expected = "expected `\"params\": {\"name\": …, \"arguments\": {…}}`";
        let Some(params) = self.get("params") else {
            return Err(self.missing("params", format!("`params` are missing, {expected}"), None));
        };
        let params = Object::read(self.text, params.get(), "`params`, an object")
            .map_err(|error| Fault { error, help: None })?;
        let Some(name) = params.text_of("name", "the tool's name")? else {
            return Err(params.missing("name", format!("`params.name` is missing, {expected}"), None));
        };
        let server = self.server(named, "the frame names no server, expected `--server NAME`")?;
        let arguments = params.get("arguments").map_or("{}", RawValue::get);
        let (name, context) = (name.get(), self.get("context"));
        Ok(Read::Call(Asked {
            call: Cow::Owned(format!(
                "{{\"serverName\":{server},\"toolName\":{name},\"arguments\":{arguments}}}"
            )),
            context,
        }))
    }
}

/// What kind of JSON the text begins with, unless that is an object.
fn kind_of(text: &str) -> Option<&'static str> {
    Some(match text.trim_start().as_bytes().first()? {
        b'{' => return None,
        b'[' => "an array",
        b'"' => "a string",
        b't' | b'f' => "a boolean",
        b'n' => "null",
        _ => "a number",
    })
}

/// Line and column of a byte, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, str::len) + 1;
    (line, column)
}

/// The members of an object in order; a name that occurs twice is an error.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(String, &'de RawValue)> = Vec::new();
                // A line has a handful of members; one that has many has names that nobody looks for.
                while let Some(name) = map.next_key::<String>()? {
                    let value = map.next_value()?;
                    if !KNOWN.contains(&name.as_str()) && members.len() >= MOST_MEMBERS {
                        continue;
                    }
                    if members.iter().any(|(earlier, _)| *earlier == name) {
                        return Err(A::Error::custom(format_args!("`{name}` occurs twice")));
                    }
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Names that are looked for, however many others there are.
const KNOWN: [&str; 11] = [
    "serverName",
    "toolName",
    "arguments",
    "id",
    "context",
    "jsonrpc",
    "method",
    "params",
    "name",
    "result",
    "error",
];

/// Other members that are kept for messages.
const MOST_MEMBERS: usize = 64;
