//! The tools that a client is shown.

use std::collections::BTreeSet;

use callgate_jsontext::{Members, push_string};
use serde_json::value::RawValue;

use super::message::{check_names, text_of};
use super::pins::PARTS;

/// Writes the answer to `tools/list` again, without the tools that are hidden, each of which is given by its name and as it
/// is written. `None` if there is nothing to leave out.
///
/// # Errors
/// The answer has a result whose tools cannot be read, so that nothing can be left out.
pub(super) fn filtered(
    answer: &Members<'_>,
    mut is_hidden: impl FnMut(&str, &str) -> bool,
) -> Result<Option<String>, &'static str> {
    const UNREADABLE: &str = "the server's answer to `tools/list` has no readable `result.tools`";
    let Some(result) = answer.get("result") else {
        return Ok(None);
    };
    let result: Members<'_> = serde_json::from_str(result.get()).map_err(|_| UNREADABLE)?;
    check_names(&result, &["tools"]).map_err(|_| UNREADABLE)?;
    let Some(tools) = result.get("tools") else {
        return Err(UNREADABLE);
    };
    let tools: Vec<&RawValue> = serde_json::from_str(tools.get()).map_err(|_| UNREADABLE)?;
    let mut shown = Vec::with_capacity(tools.len());
    let mut names = BTreeSet::new();
    for tool in &tools {
        let members: Members<'_> = serde_json::from_str(tool.get()).map_err(|_| UNREADABLE)?;
        check_names(&members, &PARTS).map_err(|_| UNREADABLE)?;
        let name = text_of(members.get("name")).ok_or(UNREADABLE)?;
        if !names.insert(name.clone()) {
            return Err("the server's answer to `tools/list` has a tool twice");
        }
        if !is_hidden(&name, tool.get()) {
            shown.push(*tool);
        }
    }
    if shown.len() == tools.len() {
        return Ok(None);
    }
    let tools = write_tools(&shown);
    let result = write_with(&result, "tools", &tools);
    Ok(Some(write_with(answer, "result", &result)))
}

fn write_tools(shown: &[&RawValue]) -> String {
    let tools: Vec<&str> = shown.iter().map(|tool| tool.get()).collect();
    format!("[{}]", tools.join(","))
}

/// The object with another value for a name, or with that name at its end.
pub(super) fn write_with(members: &Members<'_>, name: &str, value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 128);
    text.push('{');
    for (at, (known, old)) in members.0.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_string(&mut text, known);
        text.push(':');
        text.push_str(if known == name { value } else { old.get() });
    }
    if members.get(name).is_none() {
        if !members.0.is_empty() {
            text.push(',');
        }
        push_string(&mut text, name);
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    fn answer(text: &str) -> Members<'_> {
        match Message::read(text) {
            Ok(Message::Response { members, .. }) => members,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hidden_tools_go_and_everything_else_stays_as_it_came() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"ttlMs":5e2,"tools":[{"name":"a","execution":{"x": 1}},{"name":"b"}, {"name":"\u0063","_meta":{}}],"nextCursor":"n"}}"#;
        let shown = filtered(&answer(text), |name, _| name == "b").unwrap();
        assert_eq!(
            shown.as_deref(),
            Some(
                r#"{"jsonrpc":"2.0","id":1,"result":{"ttlMs":5e2,"tools":[{"name":"a","execution":{"x": 1}},{"name":"\u0063","_meta":{}}],"nextCursor":"n"}}"#
            )
        );
        assert_eq!(filtered(&answer(text), |_, _| false).unwrap(), None);
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_not_shown() {
        for result in [
            "null",
            "{}",
            r#"{"tools":{}}"#,
            r#"{"tools":["a"]}"#,
            r#"{"tools":[{}]}"#,
            r#"{"tools":[{"name":"a"},{"name":"\u0061"}]}"#,
            r#"{"tools":[{"name":"a","Name":"b"}]}"#,
            // One description was accepted, and a model is shown the other.
            r#"{"tools":[{"name":"a","description":"A","Description":"B"}]}"#,
            r#"{"tools":[{"name":"a","inputSchema":{},"inputschema":{}}]}"#,
            r#"{"tools":[],"Tools":[{"name":"b"}]}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            assert!(filtered(&answer(&text), |_, _| true).is_err(), "{text}");
        }
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
        assert_eq!(filtered(&answer(error), |_, _| true).unwrap(), None);
    }
}
