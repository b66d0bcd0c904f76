//! Names of a call: no server, tool, argument or member within an argument has a control character in its name.
//!
//! A NUL ends a name for a program in C, and others trim or drop such characters: a server would read another argument than
//! the one that was judged, or none.

use memchr::{memchr, memchr2};

use super::call::Call;
use super::value::Value;

/// The fault of a name of the call; of several arguments, that of the one whose name is the least, in whatever order they stand.
pub(super) fn fault(call: &Call<'_>) -> Option<String> {
    for (name, of) in [(&call.server, "server"), (&call.tool, "tool")] {
        if has_control(name) {
            return Some(format!("the name {name:?} of the {of} has a control character"));
        }
    }
    let members = call.arguments.members().iter();
    let faulty = members.filter(|(name, value)| has_control(name) || is_named_badly_within(value));
    let name = faulty.map(|(name, _)| name).min()?;
    Some(match has_control(name) {
        true => format!("the name {name:?} of an argument has a control character"),
        false => format!("argument {name:?} holds a name that has a control character"),
    })
}

fn has_control(name: &str) -> bool {
    // Most names are ASCII, which is told without decoding it.
    let may = |byte: u8| !(b' '..0x7f).contains(&byte);
    name.bytes().any(may) && name.contains(char::is_control)
}

/// Returns `true` if the name of a member has a control character, at any depth of the value, read or not.
fn is_named_badly_within(value: &Value<'_>) -> bool {
    match value {
        Value::Raw(raw) => is_named_badly(raw.get()),
        Value::Array(items) => items.iter().any(is_named_badly_within),
        Value::Object(members) => {
            let mut members = members.iter();
            members.any(|(name, member)| has_control(name) || is_named_badly_within(member))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::IllFormed(_)
        | Value::Unread => false,
    }
}

/// The same for JSON text, in one pass that keeps nothing: a string that a colon follows is a name.
fn is_named_badly(json: &str) -> bool {
    let mut rest = match json.as_bytes().first() {
        Some(b'{' | b'[') => json,
        _ => return false,
    };
    while let Some(start) = memchr(b'"', rest.as_bytes()) {
        let Some((written, after)) = rest.get(start + 1..).and_then(split_string) else {
            return false;
        };
        let is_name = after.trim_ascii_start().starts_with(':');
        if is_name && writes_control(written) {
            return true;
        }
        rest = after;
    }
    false
}

/// The inside of a JSON string, as it is written, and the text after it; `text` begins after its first quote.
fn split_string(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    loop {
        let end = at + memchr2(b'"', b'\\', text.as_bytes().get(at..)?)?;
        if text.as_bytes().get(end) == Some(&b'"') {
            return Some((text.get(..end)?, text.get(end + 1..)?));
        }
        at = end + 2;
    }
}

/// Returns `true` if a JSON string, as it is written between its quotes, stands for one with a control character.
fn writes_control(written: &str) -> bool {
    if has_control(written) {
        return true;
    }
    let mut rest = written;
    while let Some((_, after)) = rest.split_once('\\') {
        let mut chars = after.chars();
        let is_control = match chars.next() {
            Some('b' | 'f' | 'n' | 'r' | 't') => true,
            Some('u') => {
                let digits = chars.as_str().get(..4).unwrap_or_default();
                let unit = u32::from_str_radix(digits, 16).ok();
                unit.and_then(char::from_u32).is_some_and(char::is_control)
            }
            _ => false,
        };
        if is_control {
            return true;
        }
        rest = chars.as_str();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::Arguments;

    #[track_caller]
    fn check(arguments: &str, expected: Option<&str>) {
        let call = |arguments| Call::new("s", "t", arguments);
        assert_eq!(
            fault(&call(Arguments::from_json(arguments))).as_deref(),
            expected,
            "{arguments}"
        );
        let parsed: serde_json::Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(
            fault(&call(Arguments::from_value(&parsed))).as_deref(),
            expected,
            "{arguments}"
        );
    }

    #[test]
    fn a_control_character_in_a_name_is_found() {
        let own = r#"the name "path\0" of an argument has a control character"#;
        check(r#"{"path\u0000": 1, "path": 2}"#, Some(own));
        check(r#"{"z": {"a\n": 1}, "path\u0000": 1}"#, Some(own));
        let within = r#"argument "a" holds a name that has a control character"#;
        for text in [
            r#"{"a": {"\u0000": 1}}"#,
            r#"{"a": [[1, {"x": "y", "b\\\"\t" : 1}]], "b": {"\r": 1}}"#,
            r#"{"a": {"b": {"c": {"\u007F": 1}}}}"#,
            r#"{"a": {"x\u009f": 1}}"#,
            "{\"a\": {\"x\u{85}\": 1}}",
        ] {
            check(text, Some(within));
        }
    }

    #[test]
    fn other_names_pass_and_texts_are_not_names() {
        for text in [
            "{}",
            r#"{"a": "b\u0000", "c": ["\n:", "\u0000"], "d": {"e": "\t", "\\n \u0041 \\u0000": ":"}}"#,
            r#"{"\u00e9 \ud83d\ude00": {"ä b": ["\u0000", ": ", {"": "\u0001"}]}}"#,
            r#"{"a": "{\"b\\u0000\": 1}"}"#,
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_server_and_a_tool_have_names_too() {
        let fault = |server, tool| fault(&Call::new(server, tool, Arguments::Members(Vec::new())));
        let expected = r#"the name "s\0" of the server has a control character"#;
        assert_eq!(fault("s\0", "t").as_deref(), Some(expected));
        assert!(fault("s", "t\n").is_some_and(|fault| fault.contains("of the tool")));
        assert_eq!(fault("s", "t"), None);
    }
}
