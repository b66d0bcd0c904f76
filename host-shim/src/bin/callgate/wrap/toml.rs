//! The same for an agent whose configuration is TOML.

use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

use super::edit::BYTE_ORDER_MARK;
use super::server::{AMBIGUOUS, Address, Guarded, Plan, Server, Way, Wrapped, unsuitable};

/// The table that has the servers.
const SERVERS: &str = "mcp_servers";

/// Writes the text again with the guards that are planned.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn wrap(text: &str, mut plan: impl FnMut(&Server<'_>) -> Plan) -> Result<Wrapped, String> {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => ("", text),
    };
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let servers = document
        .get_mut(SERVERS)
        .ok_or_else(|| format!("has no `{SERVERS}`, expected the servers of an agent"))?;
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| format!("`{SERVERS}` is not a table"))?;
    let mut wrapped = Wrapped::default();
    for (name, item) in servers.iter_mut() {
        let name = name.get().to_owned();
        wrapped.names.insert(name.clone());
        let Some(entry) = item.as_table_like_mut() else {
            wrapped.left.push((name, "its entry is not a table"));
            continue;
        };
        let way = match way_of(entry) {
            Ok(way) => way,
            Err(reason) => {
                wrapped.left.push((name, reason));
                continue;
            }
        };
        match plan(&Server { name: &name, way }) {
            Plan::Guard(guard) => {
                write(entry, guard);
                wrapped.changed.push(name);
            }
            Plan::Already => wrapped.already.push(name),
            Plan::Differs => wrapped.differing.push(name),
            Plan::Leave(reason) => wrapped.left.push((name, reason)),
        }
    }
    let mut written = document.to_string();
    if text.contains('\n') && text.replace("\r\n", "").find('\n').is_none() {
        // The new text has the other line ends.
        written = written.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    wrapped.text = format!("{mark}{written}");
    Ok(wrapped)
}

fn way_of(entry: &dyn TableLike) -> Result<Way, &'static str> {
    const COMMAND: &str = "its command is not a string with arguments that are strings";
    if entry.contains_key("command") && entry.contains_key("url") {
        return Err(AMBIGUOUS);
    }
    if let Some(command) = entry.get("command") {
        let mut words = vec![command.as_str().ok_or(COMMAND)?.to_owned()];
        if let Some(arguments) = entry.get("args") {
            for word in arguments.as_array().ok_or(COMMAND)? {
                words.push(word.as_str().ok_or(COMMAND)?.to_owned());
            }
        }
        return Ok(Way::Program(words));
    }
    let Some(url) = entry.get("url") else {
        return Err("it has neither a command nor an address");
    };
    let url = url.as_str().ok_or("its address is not a string")?;
    if let Some(reason) = unsuitable(url) {
        return Err(reason);
    }
    let token = match entry.get("bearer_token_env_var") {
        Some(token) => Some(
            token
                .as_str()
                .ok_or("its token's variable is not a string")?
                .to_owned(),
        ),
        None => None,
    };
    Ok(Way::Url(Address {
        url: url.to_owned(),
        headers: pairs(entry.get("http_headers"))?,
        variables: pairs(entry.get("env_http_headers"))?,
        token,
    }))
}

fn pairs(item: Option<&Item>) -> Result<Vec<(String, String)>, &'static str> {
    let Some(item) = item else { return Ok(Vec::new()) };
    let table = item.as_table_like().ok_or("its headers are not a table")?;
    let pairs = table.iter().map(|(name, value)| {
        let value = value.as_str().ok_or("a header of it is not a string")?;
        Ok((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// Whatever else the entry says stays.
fn write(entry: &mut dyn TableLike, guard: Guarded) {
    for name in ["url", "bearer_token_env_var", "http_headers", "env_http_headers"] {
        entry.remove(name);
    }
    let mut words = guard.command.into_iter();
    set(entry, "command", words.next().unwrap_or_default().into());
    set(entry, "args", Value::Array(Array::from_iter(words)));
    if !guard.environment.is_empty() {
        let table = InlineTable::from_iter(guard.environment);
        set(entry, "env", Value::InlineTable(table));
    }
    if !guard.inherits.is_empty() {
        set(entry, "env_vars", Value::Array(Array::from_iter(guard.inherits)));
    }
}

/// A value that takes another's place keeps what stands around it.
fn set(entry: &mut dyn TableLike, name: &str, mut value: Value) {
    if let Some(old) = entry.get(name).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    match entry.get_mut(name) {
        Some(item) => *item = Item::Value(value),
        None => {
            entry.insert(name, Item::Value(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::server::planned;

    fn guarded(text: &str) -> Wrapped {
        wrap(text, planned).unwrap()
    }

    #[test]
    fn servers_change_and_nothing_else() {
        let text = r#"model = "x"   # mine

[mcp_servers.files]   # here
command = "npx" # the command
args = ["-y", "x"]
env = { A = "1" }

[mcp_servers]
bare = { command = "serve" }
odd = { command = 5 }
both = { command = "serve", url = "https://example.com" }

[other]
a = [ 1,
  2 ]
b = """
c"""
"#;
        let expected = r#"model = "x"   # mine

[mcp_servers.files]   # here
command = "/bin/callgate" # the command
args = ["guard", "--server", "files", "--", "npx", "-y", "x"]
env = { A = "1" }

[mcp_servers]
bare = { command = "/bin/callgate" , args = ["guard", "--server", "bare", "--", "serve"] }
odd = { command = 5 }
both = { command = "serve", url = "https://example.com" }

[other]
a = [ 1,
  2 ]
b = """
c"""
"#;
        // However lines end, and with the mark that some editors write.
        for (mark, end) in [("", "\n"), ("", "\r\n"), (BYTE_ORDER_MARK, "\n")] {
            let spelled = |text: &str| format!("{mark}{}", text.replace('\n', end));
            let mut wrapped = guarded(&spelled(text));
            assert_eq!(wrapped.text, spelled(expected));
            wrapped.changed.sort();
            assert_eq!(wrapped.changed, ["bare", "files"]);
            assert_eq!(wrapped.left.len(), 2);
            // A second time there is nothing to do.
            let again = guarded(&spelled(expected));
            assert_eq!((again.text, again.already.len()), (spelled(expected), 2));
        }
    }

    #[cfg(feature = "http")]
    #[test]
    fn an_address_becomes_a_command() {
        let text = r#"[mcp_servers."far away"]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-Team" = "a" }
tool_timeout_sec = 5
[mcp_servers."far away".env_http_headers]
X-Key = "KEY"
"#;
        let expected = r#"[mcp_servers."far away"]
tool_timeout_sec = 5
command = "/bin/callgate"
args = ["guard", "--server", "far away", "--url", "https://example.com/mcp", "--header-env", "X-Team=CALLGATE_HEADER_1", "--header-env", "X-Key=KEY", "--token-env", "TOKEN"]
env = { CALLGATE_HEADER_1 = "a" }
env_vars = ["KEY", "TOKEN"]
"#;
        assert_eq!(guarded(text).text, expected);
        assert_eq!(guarded(expected).already, ["far away"]);
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for text in ["", "mcp_servers = 5", "[", "[mcpServers.a]\ncommand = \"x\""] {
            assert!(wrap(text, planned).is_err(), "{text}");
        }
    }
}
