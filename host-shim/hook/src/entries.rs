//! The entries of hooks in an agent's settings: added, and taken out again.

use callgate_engine::document::without_comments;
use callgate_jsontext::rewrite;
use serde_json::{Map, Value};

use super::agents::Agent;

/// How settings are described that a hook can neither be added to nor taken out of.
const UNKNOWN: &str = "expected settings as a JSON object, with an object `hooks` of lists if it has hooks";

/// The settings that a text holds.
fn read_settings(text: &str) -> Result<Value, String> {
    serde_json::from_str(&without_comments(text)).map_err(|error| format!("not JSON: {error}"))
}

/// Returns `true` if the settings have the hook for the event.
pub(super) fn has_entry(text: &str, event: &str, entry: &Value) -> bool {
    let settings = read_settings(text).unwrap_or_default();
    let list = settings
        .get("hooks")
        .and_then(|hooks| hooks.get(event)?.as_array());
    list.is_some_and(|list| list.contains(entry))
}

/// The entries of an agent's hook, each with its event.
///
/// # Errors
/// Why the text is not one of settings.
pub(super) fn own_entries(text: &str, agent: &Agent) -> Result<Vec<(String, Value)>, String> {
    let settings = read_settings(text)?;
    let mut own = Vec::new();
    let lists = settings.get("hooks").and_then(Value::as_object);
    for (event, list) in lists.into_iter().flatten() {
        for entry in list.as_array().into_iter().flatten() {
            if is_hook(entry, agent)? {
                own.push((event.clone(), entry.clone()));
            }
        }
    }
    Ok(own)
}

/// The commands that an entry runs.
pub(super) fn commands(entry: &Value) -> Vec<&str> {
    let inner = entry.get("hooks").and_then(Value::as_array);
    let hooks = inner.map_or_else(|| vec![entry], |hooks| hooks.iter().collect());
    let commands = hooks.into_iter().map(|hook| {
        let command = hook.get("command").or(hook.get("bash"));
        command.and_then(Value::as_str).unwrap_or_default()
    });
    commands.collect()
}

/// The settings with one more hook for an event. Everything else stays byte for byte.
pub(super) fn with_entry(text: &str, event: &str, entry: &Value) -> Result<String, String> {
    let mut settings = read_settings(text)?;
    let root = settings.as_object_mut().ok_or(UNKNOWN)?;
    let hooks = root.entry("hooks").or_insert_with(|| Value::Object(Map::new()));
    let hooks = hooks.as_object_mut().ok_or(UNKNOWN)?;
    let list = hooks.entry(event).or_insert_with(|| Value::Array(Vec::new()));
    let list = list.as_array_mut().ok_or(UNKNOWN)?;
    if list.contains(entry) {
        return Ok(text.to_owned());
    }
    list.push(entry.clone());
    let edited = rewrite(text, &settings);
    edited.ok_or_else(|| "the hook cannot be added without changing something else".to_owned())
}

/// The settings without the hooks that [`settings`](super::settings) adds for the agent, and without the lists that then have
/// nothing. Everything else stays byte for byte.
pub(super) fn without_hooks(text: &str, agent: &Agent) -> Result<String, String> {
    let mut settings = read_settings(text)?;
    let root = settings.as_object_mut().ok_or(UNKNOWN)?;
    let Some(hooks) = root.get_mut("hooks") else {
        return Ok(text.to_owned());
    };
    let lists = hooks.as_object_mut().ok_or(UNKNOWN)?;
    let mut emptied = Vec::new();
    for (event, list) in lists.iter_mut() {
        let list = list.as_array_mut().ok_or(UNKNOWN)?;
        let are_own: Vec<bool> = list
            .iter()
            .map(|entry| is_hook(entry, agent))
            .collect::<Result<_, _>>()?;
        let mut is_own = are_own.iter();
        list.retain(|_| is_own.next() != Some(&true));
        if list.is_empty() && !are_own.is_empty() {
            emptied.push(event.clone());
        }
    }
    for event in &emptied {
        lists.shift_remove(event);
    }
    if lists.is_empty() && !emptied.is_empty() {
        root.shift_remove("hooks");
    }
    let edited = rewrite(text, &settings);
    edited.ok_or_else(|| "the hook cannot be taken out without changing something else".to_owned())
}

/// Returns `true` if all that the entry runs is the hook of the agent.
fn is_hook(entry: &Value, agent: &Agent) -> Result<bool, String> {
    let commands = commands(entry);
    let is_own = |command: &&&str| {
        let mut words = command.split(' ');
        let is_program = |word: &str| word.trim_matches('\'').rsplit('/').next() == Some("callgate");
        words.by_ref().any(is_program) && words.next() == Some("hook") && words.next() == Some(agent.as_str())
    };
    match commands.iter().filter(is_own).count() {
        0 => Ok(false),
        own if own == commands.len() => Ok(true),
        _ => Err("another hook is in the entry of this one: take it out by hand".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codex() -> &'static Agent {
        Agent::named("codex").unwrap()
    }

    #[track_caller]
    fn check_added(text: &str, expected: &str) {
        let entry = json!({"command": "x"});
        assert_eq!(with_entry(text, "E", &entry).as_deref(), Ok(expected), "{text}");
        assert_eq!(
            with_entry(expected, "E", &entry).as_deref(),
            Ok(expected),
            "a second time"
        );
    }

    #[test]
    fn what_is_there_stays() {
        check_added("{}\n", "{\"hooks\": {\"E\": [{\"command\": \"x\"}]}}\n");
        check_added(
            "{\n    \"model\": \"m\", // why\n    \"hooks\": {\"F\": [], },\n}",
            "{\n    \"model\": \"m\", // why\n    \"hooks\": {\"F\": [], \"E\": [{\"command\": \"x\"}] },\n}",
        );
        check_added(
            "{\n\t\"hooks\": {\n\t\t\"E\": [\n\t\t\t{\"command\": \"y\"}\n\t\t]\n\t}\n}",
            "{\n\t\"hooks\": {\n\t\t\"E\": [\n\t\t\t{\"command\": \"y\"},\n\t\t\t{\"command\": \"x\"}\n\t\t]\n\t}\n}",
        );
    }

    #[test]
    fn what_is_something_else_is_refused() {
        for text in [
            "",
            "[]",
            "{\"hooks\": []}",
            "{\"hooks\": {\"E\": {}}}",
            "{\"a\": 1,, }",
        ] {
            assert!(with_entry(text, "E", &json!({})).is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_hooks(text, codex()).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn the_hook_goes_and_nothing_else() {
        let own = r#"{"hooks": [{"command": "'/a b/callgate' hook codex --bundle /b || exit 2"}]}"#;
        let bare = r#"{"bash": "/bin/callgate hook codex --bundle /b"}"#;
        for (text, expected) in [
            ("{}", "{}"),
            ("{\n  \"hooks\": {\"E\": [ OWN ]}\n}\n", "{}\n"),
            ("{\"hooks\": {\"E\": [OWN,],}, }", "{}"),
            ("{\"a\": 1, \"hooks\": {\"E\": [OWN], },\n}", "{\"a\": 1,\n}"),
            (
                "{\"hooks\": {\"E\": [OWN]}, \"a\": 1 /* why */}",
                "{\"a\": 1 /* why */}",
            ),
            (
                "{\"hooks\": {\"E\": [ OWN ], \"F\": [], // why\n}}",
                "{\"hooks\": {\"F\": [], // why\n}}",
            ),
            (
                "{\"hooks\": {\"F\": [{\"a\": 1}], \"E\": [\n OWN,\n ], }}",
                "{\"hooks\": {\"F\": [{\"a\": 1}], }}",
            ),
            (
                "{\"hooks\": {\"E\": [{\"a\": 1}, OWN, {\"b\": 1}, BARE,]}}",
                "{\"hooks\": {\"E\": [{\"a\": 1}, {\"b\": 1},]}}",
            ),
            (
                "{\"hooks\": {\"E\": [{\"a\": 1}, OWN]}}",
                "{\"hooks\": {\"E\": [{\"a\": 1}]}}",
            ),
            (
                "{\"hooks\": {\"E\": [BARE, {\"a\": 1}], \"A\": [OWN, BARE]}}",
                "{\"hooks\": {\"E\": [{\"a\": 1}]}}",
            ),
            (
                "{\"hooks\": {\"E\": [{\"a\": 1}, OWN, BARE]}}",
                "{\"hooks\": {\"E\": [{\"a\": 1}]}}",
            ),
        ] {
            let text = text.replace("OWN", own).replace("BARE", bare);
            check(&text, expected);
        }
        for other in [
            r#"{"command": "/bin/callgate hook cursor --bundle /b"}"#,
            r#"{"command": "/bin/other hook codex"}"#,
        ] {
            let text = format!(r#"{{"hooks": {{"E": [{other}]}}}}"#);
            check(&text, &text);
        }
        let both = format!(r#"{{"hooks": {{"E": [{{"hooks": [{bare}, {{"command": "x"}}]}}]}}}}"#);
        assert!(without_hooks(&both, codex()).is_err());
        assert!(without_hooks(r#"{"hooks": []}"#, codex()).is_err());
    }
}
