//! The object of a line, and what stands in it.

use std::borrow::Cow;

use callgate_jsontext::{Members, place_of};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{Asked, Line};
use callgate_engine::bind::CallError;
use callgate_engine::document::did_you_mean;

/// The members of a line that have a meaning.
const CALL: [&str; 5] = ["serverName", "toolName", "arguments", "id", "context"];
/// The names of the arguments in other protocols.
const OTHERS: [&str; 5] = ["args", "input", "params", "parameters", "argument"];
const SHAPE: &str = "`{serverName, toolName, arguments}`";

/// A fault in an object.
pub(super) struct ObjectError {
    pub(super) error: CallError,
    pub(super) help: Option<String>,
}

/// An object somewhere in the text of a line, each of whose names occurs once.
pub(super) struct Object<'t> {
    text: &'t str,
    object: &'t str,
    members: Members<'t>,
}

impl<'t> Object<'t> {
    pub(super) fn read(text: &'t str, object: &'t str, expected: &'static str) -> Result<Self, CallError> {
        let (line, column) = place(text, object);
        let members = Members::read(object).map_err(|error| {
            let message = match (error.classify(), kind_of(object)) {
                (Category::Data, Some(kind)) => format!("found {kind}, expected {expected}"),
                (category, _) => {
                    let whole = error.to_string();
                    let message = whole
                        .split_once(" at line ")
                        .map_or(&*whole, |(message, _)| message);
                    match category {
                        Category::Syntax | Category::Eof => format!("not JSON: {message}"),
                        Category::Data | Category::Io => message.to_owned(),
                    }
                }
            };
            CallError {
                line: line + error.line().saturating_sub(1),
                column: match error.line() {
                    0 | 1 => column + error.column().saturating_sub(1),
                    _ => error.column(),
                },
                message,
            }
        })?;
        match members.repeated() {
            Some(name) => Err(CallError {
                line,
                column,
                message: format!("`{name}` occurs twice"),
            }),
            None => Ok(Self {
                text,
                object,
                members,
            }),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'t RawValue> {
        self.members.get(name)
    }

    pub(super) fn fault(&self, at: &str, message: impl Into<String>, help: Option<String>) -> ObjectError {
        let (line, column) = place(self.text, at);
        let message = message.into();
        ObjectError {
            error: CallError {
                line,
                column,
                message,
            },
            help,
        }
    }

    /// The member if it is a string.
    fn text_of(&self, name: &str, what: &str) -> Result<Option<&'t RawValue>, ObjectError> {
        match self.get(name) {
            Some(value) if !is_text(value) => {
                let message = format!("`{name}` is {}, expected a string, {what}", shown(value));
                Err(self.fault(value.get(), message, None))
            }
            value => Ok(value),
        }
    }

    fn missing(&self, name: &str, message: String, help: Option<String>) -> ObjectError {
        let others = self.members.0.iter().map(|(member, _)| member.as_str());
        let mut others = others.filter(|member| !CALL.contains(member));
        let near = others.find(|member| did_you_mean(member, [name]).is_some());
        let near = near.map(|member| format!("found `{member}`; did you mean `{name}`?"));
        self.fault(self.object, message, near.or(help))
    }

    fn check_id(&self, is_frame: bool) -> Result<(), ObjectError> {
        match self.get("id") {
            Some(id) if !is_id(id) && (is_frame || id.get() != "null") => {
                let message = format!("`id` is {}, expected a string or a number", shown(id));
                Err(self.fault(id.get(), message, None))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a call whose arguments stand under another name: it would be judged as one without arguments.
    fn check_arguments(&self) -> Result<(), ObjectError> {
        let other = OTHERS.iter().find_map(|name| Some((name, self.get(name)?)));
        match other {
            Some((name, value)) if self.get("arguments").is_none() => {
                let message =
                    format!("found `{name}` and no `arguments`, expected the arguments under that name");
                Err(self.fault(value.get(), message, None))
            }
            _ => Ok(()),
        }
    }

    /// The server that the line names, else the one that the operator names. They must not disagree: who writes the
    /// calls does not choose the server.
    fn server(&self, named: Option<&str>, missing: &str) -> Result<Cow<'t, str>, ObjectError> {
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

    pub(super) fn call(&self, named: Option<&str>) -> Result<Asked<'t>, ObjectError> {
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
        self.check_arguments()?;
        let server = self.server(named, &format!("`serverName` is missing, expected {SHAPE}"))?;
        let call = if self.get("serverName").is_some() {
            Cow::Borrowed(self.text)
        } else {
            let rest = self.object.trim_start().strip_prefix('{').unwrap_or_default();
            Cow::Owned(format!("{{\"serverName\":{server},{rest}"))
        };
        Ok(Asked { call, context })
    }

    pub(super) fn frame(&self, named: Option<&str>) -> Result<Line<'t>, ObjectError> {
        if let Some(version) = self.get("jsonrpc")
            && version.get() != "\"2.0\""
        {
            let message = format!("`jsonrpc` is {}, expected \"2.0\"", shown(version));
            return Err(self.fault(version.get(), message, None));
        }
        let Some(method) = self.text_of("method", "a method of MCP")? else {
            if self.get("result").is_some() || self.get("error").is_some() {
                return Ok(Line::Other("a response".to_owned()));
            }
            let message = "`method` is missing, expected a frame with `\"method\": \"tools/call\"`";
            return Err(self.missing("method", message.to_owned(), None));
        };
        if method.get() != "\"tools/call\"" && decoded(method).as_deref() != Some("tools/call") {
            return Ok(Line::Other(shown(method).replace('"', "")));
        }
        self.check_id(true)?;
        let expected = "expected `\"params\": {\"name\": …, \"arguments\": {…}}`";
        let Some(params) = self.get("params") else {
            return Err(self.missing("params", format!("`params` are missing, {expected}"), None));
        };
        let params = Object::read(self.text, params.get(), "`params`, an object")
            .map_err(|error| ObjectError { error, help: None })?;
        let Some(name) = params.text_of("name", "the tool's name")? else {
            return Err(params.missing("name", format!("`params.name` is missing, {expected}"), None));
        };
        params.check_arguments()?;
        let server = self.server(named, "the frame names no server, expected `--server NAME`")?;
        let arguments = params.get("arguments").map_or("{}", RawValue::get);
        let (name, context) = (name.get(), self.get("context"));
        Ok(Line::Call(Asked {
            call: Cow::Owned(format!(
                "{{\"serverName\":{server},\"toolName\":{name},\"arguments\":{arguments}}}"
            )),
            context,
        }))
    }
}

/// The kind of JSON that the text begins with, unless that is an object.
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

/// Line and column, from 1, of a part of a text.
fn place(text: &str, part: &str) -> (usize, usize) {
    let start = place_of(text, part).map_or(0, |place| place.start);
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, str::len) + 1;
    (line, column)
}

/// Returns `true` if the value may be an id.
pub(super) fn is_id(id: &RawValue) -> bool {
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
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}
