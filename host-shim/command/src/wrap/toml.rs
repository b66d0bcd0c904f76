//! The same for an agent whose configuration is TOML.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::entries::{BYTE_ORDER_MARK, looking_like_servers};
use super::server::{
    AMBIGUOUS, Address, ELSEWHERE, Guarded, Plan, Server, Unwrapped, Way, Wrapped, unsuitable, words_of,
};

/// The table that has the servers.
const SERVERS: &str = "mcp_servers";

/// The members in which a server has its address.
const OF_ADDRESS: [&str; 5] = [
    "type",
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
];

/// The members that the guard of an address has.
const OF_GUARD: [&str; 4] = ["command", "args", "env", "env_vars"];

/// Writes the text again with the guards that are planned.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn wrap(text: &str, mut plan: impl FnMut(&Server<'_>) -> Plan) -> Result<Wrapped, String> {
    let mut document = document(text)?;
    let mut wrapped = Wrapped::default();
    let mut places = looking_like_servers(&json(document.as_item()));
    let servers = match servers(&mut document) {
        Err(reason) if !places.iter().any(|place| place.contains(SERVERS)) => return Err(reason),
        servers => servers.ok(),
    };
    for (name, item) in servers.into_iter().flat_map(TableLike::iter_mut) {
        let name = name.get().to_owned();
        wrapped.names.insert(name.clone());
        places.retain(|place| *place != format!("{SERVERS}.{name}"));
        let Some(entry) = item.as_table_like_mut() else {
            wrapped.left.push((name, "its entry is not a table".into()));
            continue;
        };
        let way = match way_of(entry) {
            Ok(way) => way,
            Err(reason) => {
                wrapped.left.push((name, reason.into()));
                continue;
            }
        };
        let plan = plan(&Server { name: &name, way });
        if let Some(guard) = wrapped.note(name, plan) {
            write(entry, guard);
        }
    }
    wrapped
        .left
        .extend(places.into_iter().map(|place| (place, ELSEWHERE.into())));
    wrapped.text = written(&document, text);
    Ok(wrapped)
}

/// Writes the text again without the guards that `guard_of` finds, as [`edit::unwrap`](super::edit::unwrap) does.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn unwrap(
    text: &str,
    before: &str,
    guard_of: impl Fn(&Server<'_>) -> Option<Vec<String>>,
) -> Result<Unwrapped, String> {
    let mut document = document(text)?;
    let mut earlier = self::document(before).unwrap_or_default();
    let mut unwrapped = Unwrapped::default();
    for (name, item) in servers(&mut document)?.iter_mut() {
        let name = name.get();
        let Some(entry) = item.as_table_like_mut() else {
            continue;
        };
        let Ok(way) = way_of(entry) else { continue };
        let server = Server { name, way };
        let guard = guard_of(&server);
        unwrapped.guards.push(guard.clone());
        let (Some(guard), Way::Program(command)) = (guard, &server.way) else {
            continue;
        };
        match command.get(guard.len()..).and_then(<[String]>::split_first) {
            Some((lead, [program, arguments @ ..])) if lead == "--" => {
                set(entry, "command", program.into());
                set(entry, "args", Value::Array(arguments.iter().collect()));
            }
            _ => {
                let known = servers(&mut earlier).ok();
                let known = known.and_then(|servers| servers.get_mut(name)?.as_table_like_mut());
                match known.filter(|known| is_guarded(*known, guard, entry)) {
                    Some(known) => give_back(entry, known),
                    None => unwrapped.stuck.push(name.to_owned()),
                }
            }
        }
    }
    unwrapped.text = written(&document, text);
    Ok(unwrapped)
}

fn document(text: &str) -> Result<DocumentMut, String> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.parse().map_err(|error| format!("{error}"))
}

fn servers(document: &mut DocumentMut) -> Result<&mut dyn TableLike, String> {
    let servers = document
        .get_mut(SERVERS)
        .ok_or_else(|| format!("has no `{SERVERS}`, expected the servers of an agent"))?;
    servers
        .as_table_like_mut()
        .ok_or_else(|| format!("`{SERVERS}` is not a table"))
}

/// The texts, lists and tables of an item.
fn json(item: &Item) -> serde_json::Value {
    let of_table = |table: &dyn TableLike| {
        let members = table.iter().map(|(name, item)| (name.to_owned(), json(item)));
        serde_json::Value::Object(members.collect())
    };
    let of_value = |value: &Value| json(&Item::Value(value.clone()));
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
        Item::Value(Value::Array(values)) => values.iter().map(of_value).collect(),
        Item::Value(Value::String(text)) => text.value().as_str().into(),
        item => item.as_table_like().map_or(serde_json::Value::Null, of_table),
    }
}

/// The document as a text with the mark and the line ends of `text`.
fn written(document: &DocumentMut, text: &str) -> String {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => ("", text),
    };
    let mut written = document.to_string();
    if text.contains('\n') && text.replace("\r\n", "").find('\n').is_none() {
        written = written.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    format!("{mark}{written}")
}

/// Returns `true` if the entry is `known` with the guard before its address.
fn is_guarded(known: &dyn TableLike, guard: Vec<String>, entry: &dyn TableLike) -> bool {
    let Ok(way @ Way::Url(_)) = way_of(known) else {
        return false;
    };
    let mut guarded = Table::from_iter(known.iter().map(|(name, item)| (name, item.clone())));
    write(&mut guarded, Guarded::before(&way, guard));
    let same = |name: &str, item: &Item| entry.get(name).is_some_and(|other| is_same(item, other));
    guarded.iter().count() == entry.iter().count() && guarded.iter().all(|(name, item)| same(name, item))
}

/// Returns `true` if both mean the same, however they are written.
fn is_same(one: &Item, other: &Item) -> bool {
    let text = |item: &Item| {
        let mut value = item.clone().into_value().ok()?;
        value.decor_mut().clear();
        Some(value)
    };
    let (Some(one), Some(other)) = (text(one), text(other)) else {
        return false;
    };
    match (&one, &other) {
        (Value::Array(one), Value::Array(other)) => {
            let items = |array: &Array| array.iter().cloned().map(Item::Value).collect::<Vec<_>>();
            let (one, other) = (items(one), items(other));
            one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| is_same(one, other))
        }
        (Value::InlineTable(one), Value::InlineTable(other)) => {
            let item = |value: &Value| Item::Value(value.clone());
            let same = |name: &str, value: &Value| {
                other
                    .get(name)
                    .is_some_and(|other| is_same(&item(value), &item(other)))
            };
            one.len() == other.len() && one.iter().all(|(name, value)| same(name, value))
        }
        (Value::String(one), Value::String(other)) => one.value() == other.value(),
        _ => one.to_string() == other.to_string(),
    }
}

/// Puts the address of `known` in the place of the guard.
fn give_back(entry: &mut dyn TableLike, known: &mut dyn TableLike) {
    for name in OF_GUARD {
        entry.remove(name);
    }
    for name in OF_ADDRESS.iter().chain(&OF_GUARD) {
        // A table of its own would stand where it stood in the other text.
        if let Some(value) = known.remove(name).and_then(|item| item.into_value().ok()) {
            entry.insert(name, Item::Value(value));
        }
    }
}

fn way_of(entry: &dyn TableLike) -> Result<Way, &'static str> {
    const COMMAND: &str = "its command is not a string with arguments that are strings";
    if entry.contains_key("command") && entry.contains_key("url") {
        return Err(AMBIGUOUS);
    }
    if let Some(command) = entry.get("command") {
        let mut words = words_of(command.as_str().ok_or(COMMAND)?)?;
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
    for name in OF_ADDRESS {
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

    #[test]
    fn what_looks_like_a_server_elsewhere_is_named() {
        let text = r#"[mcp_servers.a]
command = "x"
[profiles.work.mcp_servers.b]
command = "y"
[profiles.work]
shell = { command = "z" }
[[more_servers]]
command = "z"
[profiles.home]
mcp_servers = { c = { url = "https://x" }, odd = { args = [] } }
"#;
        let wrapped = guarded(text);
        let places = |wrapped: &Wrapped| {
            let mut places: Vec<String> = wrapped.left.iter().map(|(place, _)| place.clone()).collect();
            places.sort();
            places
        };
        assert_eq!(wrapped.changed, ["a"]);
        let expected = [
            "more_servers[0]",
            "profiles.home.mcp_servers.c",
            "profiles.work.mcp_servers.b",
        ];
        assert_eq!(places(&wrapped), expected);
        // They may be all that there is.
        let lists = [
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\n",
            "mcp_servers = [{ command = \"x\" }]\n",
        ];
        for text in lists {
            let wrapped = guarded(text);
            assert_eq!(
                (&*wrapped.text, places(&wrapped)),
                (text, vec!["mcp_servers[0]".to_owned()])
            );
        }
        let text = "[profiles.work.mcp_servers.b]\ncommand = \"y\"\n";
        assert_eq!(places(&guarded(text)), ["profiles.work.mcp_servers.b"]);
    }

    #[test]
    fn an_address_becomes_a_command() {
        let text = r#"[mcp_servers."far away"]
type = "streamable_http"
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
args = ["guard", "--server", "far away", "--url-env", "CALLGATE_URL", "--header-env", "X-Team=CALLGATE_HEADER_1", "--header-env", "X-Key=KEY", "--token-env", "TOKEN"]
env = { CALLGATE_URL = "https://example.com/mcp", CALLGATE_HEADER_1 = "a" }
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
