//! Annotations and options that a builder adds where the documents have none.

use std::collections::BTreeSet;

use callgate_jsontext::{Members, place_of};
use serde_json::Value;
use serde_json::value::RawValue;

/// What is said of tools that say nothing themselves: a call that names no resource is asked about.
const UNJUDGED: &str = r#""unjudged":"ask""#;

/// A server whose tools are known where the documents do not describe them.
#[derive(Debug)]
pub(super) struct AddedServer {
    pub(super) name: &'static str,
    /// Of which kind it is.
    pub(super) kind: &'static str,
    /// The name of each tool, and its annotation.
    pub(super) tools: Vec<(String, String)>,
}

/// The annotations with more servers and tools; those that are there stay as they are. `None` if there is nothing to add, or
/// the text is something else.
pub(super) fn with_servers(text: &str, added: &[AddedServer]) -> Option<String> {
    let Members(members) = serde_json::from_str(text).ok()?;
    let Some(servers) = value_of(&members, "servers") else {
        let servers: Vec<String> = added.iter().map(written).collect();
        return extended(text, text, '}', &format!("\"servers\":{{{}}}", servers.join(",")));
    };
    let Members(known) = serde_json::from_str(servers).ok()?;
    let (there, new): (Vec<_>, Vec<_>) = added
        .iter()
        .partition(|server| value_of(&known, server.name).is_some());
    let new: Vec<String> = new.into_iter().map(written).collect();
    let mut changed = extended(text, servers, '}', &new.join(","));
    for server in there {
        let with_tools = with_tools(changed.as_deref().unwrap_or(text), server);
        changed = with_tools.or(changed);
        let with_unjudged = with_unjudged(changed.as_deref().unwrap_or(text), server);
        changed = with_unjudged.or(changed);
    }
    changed
}

/// The annotations with more tools of a server that they have.
fn with_tools(text: &str, server: &AddedServer) -> Option<String> {
    let Members(members) = serde_json::from_str(text).ok()?;
    let Members(servers) = serde_json::from_str(value_of(&members, "servers")?).ok()?;
    let Members(known) = serde_json::from_str(value_of(&servers, server.name)?).ok()?;
    let list = value_of(&known, "tools")?;
    let items: Vec<Value> = serde_json::from_str(list).ok()?;
    let names: BTreeSet<&str> = items
        .iter()
        .filter_map(|tool| tool.get("toolName")?.as_str())
        .collect();
    let new = server
        .tools
        .iter()
        .filter(|(name, _)| !names.contains(name.as_str()));
    let new: Vec<&str> = new.map(|(_, tool)| tool.as_str()).collect();
    extended(text, list, ']', &new.join(","))
}

/// The annotations with what is said of the tools of a server that they have, unless it says that itself.
fn with_unjudged(text: &str, server: &AddedServer) -> Option<String> {
    let Members(members) = serde_json::from_str(text).ok()?;
    let Members(servers) = serde_json::from_str(value_of(&members, "servers")?).ok()?;
    let given = value_of(&servers, server.name)?;
    let Members(known) = serde_json::from_str(given).ok()?;
    match value_of(&known, "unjudged") {
        Some(_) => None,
        None => extended(text, given, '}', UNJUDGED),
    }
}

/// The options with an alias of a server, unless it has one.
pub(super) fn with_alias(text: &str, server: &str, kind: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(text).ok()?;
    let alias = format!("{}:{}", Value::from(server), Value::from(kind));
    let Some(aliases) = value_of(&members, "serverAliases") else {
        return extended(text, text, '}', &format!("\"serverAliases\":{{{alias}}}"));
    };
    let Members(known) = serde_json::from_str(aliases).ok()?;
    match value_of(&known, server) {
        Some(_) => None,
        None => extended(text, aliases, '}', &alias),
    }
}

fn written(server: &AddedServer) -> String {
    let tools: Vec<&str> = server.tools.iter().map(|(_, tool)| tool.as_str()).collect();
    let name = Value::from(server.name);
    format!("{name}:{{{UNJUDGED},\"tools\":[{}]}}", tools.join(","))
}

fn value_of<'t>(members: &[(String, &'t RawValue)], name: &str) -> Option<&'t str> {
    let found = members.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.get())
}

/// The text with more items at the end of a list or an object in it. All else stays where it is.
fn extended(text: &str, part: &str, end: char, more: &str) -> Option<String> {
    if more.is_empty() {
        return None;
    }
    let from = place_of(text, part)?.start;
    let at = from + part.rfind(end)?;
    let (before, after) = (text.get(..at)?, text.get(at..)?);
    let is_empty = part.chars().filter(|one| !one.is_whitespace()).count() == 2;
    let separator = if is_empty { "" } else { "," };
    Some(format!("{before}{separator}{more}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_added_where_there_are_none() {
        let tool = |name: &str| (name.to_owned(), format!(r#"{{"toolName":"{name}","args":{{}}}}"#));
        let added = [AddedServer {
            name: "s",
            kind: "filesystem",
            tools: vec![tool("a"), tool("b")],
        }];
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(with_servers(text, &added).as_deref(), expected, "{text}");
        };
        let both = r#"{"toolName":"a","args":{}},{"toolName":"b","args":{}}"#;
        check(
            "{ }",
            Some(&format!(
                r#"{{ "servers":{{"s":{{"unjudged":"ask","tools":[{both}]}}}}}}"#
            )),
        );
        check(
            "\n {\"servers\": {}, \"x\": 1}",
            Some(&format!(
                "\n {{\"servers\": {{\"s\":{{\"unjudged\":\"ask\",\"tools\":[{both}]}}}}, \"x\": 1}}"
            )),
        );
        check(
            r#"{"servers": {"t": {"tools": []}}}"#,
            Some(&format!(
                r#"{{"servers": {{"t": {{"tools": []}},"s":{{"unjudged":"ask","tools":[{both}]}}}}}}"#
            )),
        );
        check(
            r#"{"servers": {"s": {"tools": [{"toolName": "a", "args": {"x": "none"}}]}}}"#,
            Some(
                r#"{"servers": {"s": {"tools": [{"toolName": "a", "args": {"x": "none"}},{"toolName":"b","args":{}}],"unjudged":"ask"}}}"#,
            ),
        );
        check(
            r#"{"servers": {"s": {"unjudged": "deny", "tools": [{"toolName": "a"}, {"toolName": "b"}]}}}"#,
            None,
        );
        check("[]", None);
    }

    #[test]
    fn an_alias_is_added_unless_there_is_one() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(with_alias(text, "s", "filesystem").as_deref(), expected, "{text}");
        };
        check("{}", Some(r#"{"serverAliases":{"s":"filesystem"}}"#));
        check(
            r#"{"serverAliases": {"t": "git"}, "strict": true}"#,
            Some(r#"{"serverAliases": {"t": "git","s":"filesystem"}, "strict": true}"#),
        );
        check(r#"{"serverAliases": {"s": "git"}}"#, None);
    }
}
