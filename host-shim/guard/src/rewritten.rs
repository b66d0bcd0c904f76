//! Texts of a call that are sent otherwise than they came: paths made absolute, links followed, URLs written anew.

use callgate_engine::text::escape_token;
use callgate_jsontext::Members;
use serde_json::Value;
use serde_json::value::RawValue;

use super::record::Rewritten;

/// How many texts are named.
const MOST: usize = 8;

/// Characters of a text that a message to a client has.
const SHOWN: usize = 200;

/// How a redacted value is shown by the engine.
const REDACTED: &str = "[redacted]";

/// The texts that are sent otherwise than they came, without those that the explanation does not show.
pub(super) fn rewritten(
    given: Option<&RawValue>,
    sent: Option<&str>,
    explanation: Option<&Value>,
) -> Vec<Rewritten> {
    let (Some(given), Some(sent)) = (given, sent) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    compare(given.get(), sent, String::new(), &mut found);
    let values = explanation.and_then(|explanation| explanation.get("values")?.as_array());
    let values = values.map_or(&[][..], Vec::as_slice);
    let is_shown = |one: &Rewritten| {
        let of_argument =
            |value: &&Value| value.get("argument").and_then(Value::as_str) == Some(&one.argument);
        let mut own = values.iter().filter(of_argument).peekable();
        own.peek().is_some() && own.all(|value| value.get("raw").is_none_or(|raw| raw != REDACTED))
    };
    found.retain(is_shown);
    found
}

/// Returns `true` if the arguments that were judged are those that were given.
pub(super) fn is_as_given(given: Option<&RawValue>, judged: &str) -> bool {
    given.map_or("{}", RawValue::get).trim() == judged.trim()
}

/// Finds the texts that differ in two JSON texts of one shape; only parts that differ are read.
fn compare(given: &str, sent: &str, pointer: String, found: &mut Vec<Rewritten>) {
    if given == sent || found.len() >= MOST {
        return;
    }
    let first = |text: &str| text.trim_start().bytes().next();
    match (first(given), first(sent)) {
        (Some(b'{'), Some(b'{')) => {
            let read = |text| serde_json::from_str::<Members<'_>>(text).ok();
            let (Some(given), Some(sent)) = (read(given), read(sent)) else {
                return;
            };
            for (name, value) in &given.0 {
                let other = sent.0.iter().find(|(known, _)| known == name);
                if let Some((_, other)) = other {
                    let pointer = format!("{pointer}/{}", escape_token(name));
                    compare(value.get(), other.get(), pointer, found);
                }
            }
        }
        (Some(b'['), Some(b'[')) => {
            let read = |text| serde_json::from_str::<Vec<&RawValue>>(text).ok();
            let (Some(given), Some(sent)) = (read(given), read(sent)) else {
                return;
            };
            for (at, (value, other)) in given.iter().zip(sent).enumerate() {
                compare(value.get(), other.get(), format!("{pointer}/{at}"), found);
            }
        }
        (Some(b'"'), Some(b'"')) => {
            let read = |text| serde_json::from_str::<String>(text).ok();
            if let (Some(raw), Some(sent)) = (read(given), read(sent))
                && raw != sent
            {
                let argument = pointer;
                found.push(Rewritten { argument, raw, sent });
            }
        }
        (_, _) => {}
    }
}

/// The end of a message to a client: what the texts were judged as.
pub(super) fn judged_as(rewritten: &[Rewritten]) -> String {
    if rewritten.is_empty() {
        return String::new();
    }
    let quoted = |text: &str| {
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        format!("{}{more}", Value::from(shown))
    };
    let each = rewritten
        .iter()
        .map(|one| format!("{} {} as {}", one.argument, quoted(&one.raw), quoted(&one.sent)));
    format!(" (judged: {})", each.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[track_caller]
    fn check(given: Value, sent: Value, values: Value, expected: Value) {
        let given = to_raw_value(&given).unwrap();
        let explanation = json!({"values": values});
        let found = rewritten(Some(&given), Some(&sent.to_string()), Some(&explanation));
        assert_eq!(serde_json::to_value(found).unwrap(), expected);
    }

    #[test]
    fn texts_that_are_sent_otherwise_are_found() {
        let value =
            |argument: &str, raw: &str| json!({"argument": argument, "role": "read-path", "raw": raw});
        check(
            json!({"path": "a", "files": [{"a/b": "x"}, {"a/b": "y"}], "n": 1.0}),
            json!({"path": "/srv/a", "files": [{"a/b": "x"}, {"a/b": "/srv/y"}], "n": 1.0}),
            json!([value("/path", "a"), value("/files/1/a~1b", "y")]),
            json!([
                {"argument": "/path", "raw": "a", "sent": "/srv/a"},
                {"argument": "/files/1/a~1b", "raw": "y", "sent": "/srv/y"},
            ]),
        );
        // What the engine does not show stays unsaid.
        check(
            json!({"path": "a", "key": "b"}),
            json!({"path": "/srv/a", "key": "/srv/b"}),
            json!([value("/path", REDACTED)]),
            json!([]),
        );
        check(json!({"path": "a"}), json!({"path": "a"}), json!([]), json!([]));
        let given = to_raw_value(&json!({"path": "a"})).unwrap();
        assert_eq!(rewritten(Some(&given), None, None), []);
    }

    #[test]
    fn a_message_says_what_was_judged() {
        let one = Rewritten {
            argument: "/path".to_owned(),
            raw: "\"a".to_owned(),
            sent: "b".repeat(300),
        };
        let expected = format!(r#" (judged: /path "\"a" as "{}"…)"#, "b".repeat(200));
        assert_eq!(judged_as(&[one]), expected);
        assert_eq!(judged_as(&[]), "");
    }
}
