//! Reading one line of input: a call, or a frame of MCP that is one.

mod object;

use std::borrow::Cow;

use serde_json::value::RawValue;

use callgate_engine::bind::CallError;
use object::{Object, is_id};

/// The kinds of lines.
#[derive(Debug)]
pub enum Line<'t> {
    /// It calls a tool.
    Call(Asked<'t>),
    /// A frame that calls no tool: what it is instead.
    Other(String),
}

/// A call, with what stands beside it.
#[derive(Debug)]
pub struct Asked<'t> {
    /// `{serverName, toolName, arguments}`.
    pub call: Cow<'t, str>,
    /// The context that the line gives its call.
    pub context: Option<&'t RawValue>,
}

/// A line that is not a call.
#[derive(Debug)]
pub struct NotCall<'t> {
    /// Its id, where it has one.
    pub id: Option<&'t RawValue>,
    /// Why the line is not a call, and where.
    pub error: CallError,
    /// A way to mend it, if one is known.
    pub help: Option<String>,
}

/// Reads a call `{serverName, toolName, arguments}`, or a frame `{method: "tools/call", params: {name, arguments}}`.
/// `server` is used for a line that names no server. The id is that of the call, if it has one.
///
/// # Errors
/// Why the line is neither.
pub fn read_line<'t>(
    text: &'t str,
    server: Option<&str>,
) -> Result<(Option<&'t RawValue>, Line<'t>), NotCall<'t>> {
    let refused = |error| NotCall {
        id: None,
        error,
        help: help_for(text),
    };
    let line = Object::read(text, text, "a call `{serverName, toolName, arguments}`").map_err(refused)?;
    let id = line.get("id");
    let has = |keys: &[&str]| keys.iter().any(|key| line.get(key).is_some());
    let is_call = has(&["toolName"]);
    let read = if is_call && has(&["jsonrpc", "method"]) {
        // The server must read what is judged.
        let message = "found `toolName` in a frame, expected either a call or a frame";
        Err(line.fault(text, message, None))
    } else if !is_call && has(&["jsonrpc", "method", "params"]) {
        line.frame(server)
    } else {
        line.call(server).map(Line::Call)
    };
    let read = read.map_err(|fault| NotCall {
        id: id.filter(|id| is_id(id)),
        error: fault.error,
        help: fault.help,
    })?;
    Ok((id.filter(|id| is_id(id)), read))
}

/// Help for a text that is JSON, but not an object.
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
