//! Taking a hook out of an agent's settings again.

use std::ops::Range;

use callgate_core::without_comments;
use callgate_jsontext::Members;
use serde_json::Value;
use serde_json::value::RawValue;

use super::agent::Agent;

/// The settings without the hooks that [`settings`](super::settings) adds for the agent, and without the lists that then have
/// nothing. Everything else stays byte for byte.
pub(super) fn without_hooks(text: &str, agent: Agent) -> Result<String, String> {
    const UNKNOWN: &str =
        "expected settings as a JSON object, with an object `hooks` of lists if it has hooks";
    let clean = without_comments(text);
    let mut expected: Value = serde_json::from_str(&clean).map_err(|error| format!("not JSON: {error}"))?;
    let root: Members<'_> = serde_json::from_str(&clean).map_err(|_| UNKNOWN)?;
    let mut named = root.0.iter().enumerate();
    let Some((at, (_, hooks))) = named.find(|(_, (name, _))| name == "hooks") else {
        return Ok(text.to_owned());
    };
    let lists: Members<'_> = serde_json::from_str(hooks.get()).map_err(|_| UNKNOWN)?;
    let known = expected.get_mut("hooks").and_then(Value::as_object_mut);
    let known = known.ok_or(UNKNOWN)?;
    let (mut cuts, mut emptied) = (Vec::new(), Vec::new());
    for (event, list) in &lists.0 {
        let entries: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|_| UNKNOWN)?;
        let mut are_own = Vec::new();
        for entry in &entries {
            let value: Value = serde_json::from_str(entry.get()).map_err(|_| UNKNOWN)?;
            are_own.push(is_hook(&value, agent)?);
        }
        let is_emptied = !are_own.is_empty() && !are_own.contains(&false);
        emptied.push(is_emptied);
        match known.get_mut(event).and_then(Value::as_array_mut) {
            _ if is_emptied => drop(known.shift_remove(event)),
            Some(kept) => {
                let mut is_own = are_own.iter();
                kept.retain(|_| is_own.next() != Some(&true));
                let places: Vec<Range<usize>> = entries.iter().map(|entry| place(entry, &clean)).collect();
                cuts.extend(without(&places, &are_own));
            }
            None => {}
        }
    }
    if emptied.is_empty() || emptied.contains(&false) {
        cuts.extend(without(
            &members(&lists, &clean, place(hooks, &clean).start),
            &emptied,
        ));
    } else if let Some(members_of_root) = expected.as_object_mut() {
        members_of_root.shift_remove("hooks");
        let are_gone: Vec<bool> = (0..root.0.len()).map(|one| one == at).collect();
        cuts = without(&members(&root, &clean, 0), &are_gone);
        if let (true, Some(only)) = (root.0.len() == 1, cuts.first_mut()) {
            *only = with_space(text, only.clone());
        }
    }
    let mut edited = text.to_owned();
    cuts.sort_by_key(|range| range.start);
    for range in cuts.into_iter().rev() {
        edited.replace_range(range, "");
    }
    let found: Option<Value> = serde_json::from_str(&without_comments(&edited)).ok();
    match found == Some(expected) {
        true => Ok(edited),
        false => Err("the hook cannot be taken out without changing something else".to_owned()),
    }
}

/// Where a value stands in the text that it was read from.
fn place(value: &RawValue, text: &str) -> Range<usize> {
    let from = value.get().as_ptr().addr() - text.as_ptr().addr();
    from..from + value.get().len()
}

/// Where the members of an object stand, with their names. Its bracket is the first from the place.
fn members(object: &Members<'_>, text: &str, from: usize) -> Vec<Range<usize>> {
    let mut before = from;
    let mut places = Vec::new();
    for (_, value) in &object.0 {
        let value = place(value, text);
        // Before a name stand a bracket or a comma, and white space.
        let name = text
            .get(before..value.start)
            .and_then(|between| between.find('"'));
        places.push(before + name.unwrap_or_default()..value.end);
        before = value.end;
    }
    places
}

/// What to cut out of a list or an object so that these items are gone: each with the comma before it, those at the beginning with
/// the one behind them.
fn without(items: &[Range<usize>], are_gone: &[bool]) -> Vec<Range<usize>> {
    let (mut cuts, mut kept, mut open, mut last) = (Vec::new(), None, None, 0);
    for (item, is_gone) in items.iter().zip(are_gone) {
        if *is_gone {
            open = open.or(Some(kept.unwrap_or(item.start)));
        } else {
            let to = if kept.is_some() { last } else { item.start };
            cuts.extend(open.take().map(|from| from..to));
            kept = Some(item.end);
        }
        last = item.end;
    }
    cuts.extend(open.map(|from| from..last));
    cuts
}

/// What an object has between its brackets, where that is the member at the place, a comma and white space.
fn with_space(text: &str, member: Range<usize>) -> Range<usize> {
    let before = text.get(..member.start).map(str::trim_end).unwrap_or_default();
    let rest = text.get(member.end..).unwrap_or_default();
    let after = rest.trim_start().trim_start_matches(',').trim_start();
    match before.ends_with('{') && after.starts_with('}') {
        true => before.len()..text.len() - after.len(),
        false => member,
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
        assert!(without_hooks(&both, Agent::Codex).is_err());
        assert!(without_hooks(r#"{"hooks": []}"#, Agent::Codex).is_err());
    }
}
