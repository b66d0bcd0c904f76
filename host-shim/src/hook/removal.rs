//! Taking a hook out of an agent's settings again.

use std::ops::Range;

use callgate_core::without_comments;
use callgate_jsontext::Members;
use serde_json::Value;
use serde_json::value::RawValue;

use super::agent::Agent;

/// The settings without the hooks that [`settings`](super::settings) adds for the agent. Everything else stays byte for byte.
pub(super) fn without_hooks(text: &str, agent: Agent) -> Result<String, String> {
    const UNKNOWN: &str =
        "expected settings as a JSON object, with an object `hooks` of lists if it has hooks";
    let clean = without_comments(text);
    let mut expected: Value = serde_json::from_str(&clean).map_err(|error| format!("not JSON: {error}"))?;
    let root: Members<'_> = serde_json::from_str(&clean).map_err(|_| UNKNOWN)?;
    let hooks = root.0.iter().find(|(name, _)| name == "hooks");
    let Some((_, hooks)) = hooks else {
        return Ok(text.to_owned());
    };
    let lists: Members<'_> = serde_json::from_str(hooks.get()).map_err(|_| UNKNOWN)?;
    let mut gone = Vec::new();
    for (event, list) in &lists.0 {
        let entries: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|_| UNKNOWN)?;
        let place = |entry: &RawValue| {
            let from = entry.get().as_ptr().addr() - clean.as_ptr().addr();
            from..from + entry.get().len()
        };
        let mut are_own = Vec::new();
        for entry in &entries {
            let value: Value = serde_json::from_str(entry.get()).map_err(|_| UNKNOWN)?;
            let is_own = is_hook(&value, agent)?;
            are_own.push(is_own);
            let list = expected.get_mut("hooks").and_then(|hooks| hooks.get_mut(event));
            if let (true, Some(list)) = (is_own, list.and_then(Value::as_array_mut)) {
                list.retain(|known| *known != value);
            }
        }
        let places: Vec<Range<usize>> = entries.into_iter().map(place).collect();
        let last = places.last().map_or(0, |place| place.end);
        // With the comma after each of them; those at the end have one before them.
        let kept = are_own.iter().rposition(|is_own| !is_own);
        for (at, (place, is_own)) in places.iter().zip(&are_own).enumerate() {
            match places.get(at + 1) {
                Some(next) if *is_own && kept.is_some_and(|kept| at < kept) => {
                    gone.push(place.start..next.start)
                }
                Some(next) if kept == Some(at) && next.start < last => gone.push(place.end..last),
                Some(_) if at == 0 && kept.is_none() => gone.push(place.start..last),
                None if at == 0 && *is_own => gone.push(place.clone()),
                _ => {}
            }
        }
    }
    let mut edited = text.to_owned();
    gone.sort_by_key(|range| range.start);
    for range in gone.into_iter().rev() {
        edited.replace_range(range, "");
    }
    let found: Option<Value> = serde_json::from_str(&without_comments(&edited)).ok();
    match found == Some(expected) {
        true => Ok(edited),
        false => Err("the hook cannot be taken out without changing something else".to_owned()),
    }
}

/// Returns `true` if all that the entry runs is the hook of the agent.
fn is_hook(entry: &Value, agent: Agent) -> Result<bool, String> {
    let inner = entry.get("hooks").and_then(Value::as_array);
    let hooks = inner.map_or_else(|| vec![entry], |hooks| hooks.iter().collect());
    let is_own = |hook: &&Value| {
        let command = hook.get("command").or(hook.get("bash"));
        let mut words = command.and_then(Value::as_str).unwrap_or_default().split(' ');
        let is_program = |word: &str| word.trim_matches('\'').rsplit('/').next() == Some("callgate");
        words.by_ref().any(is_program) && words.next() == Some("hook") && words.next() == Some(agent.as_str())
    };
    match hooks.iter().filter(|hook| is_own(hook)).count() {
        0 => Ok(false),
        own if own == hooks.len() => Ok(true),
        _ => Err("another hook is in the entry of this one: take it out by hand".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(
            without_hooks(text, Agent::Codex).as_deref(),
            Ok(expected),
            "{text}"
        );
    }

    #[test]
    fn the_hook_goes_and_nothing_else() {
        let own = r#"{"hooks": [{"command": "'/a b/callgate' hook codex --bundle /b || exit 2"}]}"#;
        let bare = r#"{"bash": "/bin/callgate hook codex --bundle /b"}"#;
        for (text, expected) in [
            ("{}", "{}"),
            (
                "{\"hooks\": {\"E\": [ OWN ]}, // why\n}",
                "{\"hooks\": {\"E\": [  ]}, // why\n}",
            ),
            (
                "{\"hooks\": {\"E\": [{\"a\": 1}, OWN]}}",
                "{\"hooks\": {\"E\": [{\"a\": 1}]}}",
            ),
            (
                "{\"hooks\": {\"E\": [BARE, {\"a\": 1}], \"A\": [OWN, BARE]}}",
                "{\"hooks\": {\"E\": [{\"a\": 1}], \"A\": []}}",
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
        assert!(without_hooks(&both, Agent::Codex).is_err());
        assert!(without_hooks(r#"{"hooks": []}"#, Agent::Codex).is_err());
    }
}
