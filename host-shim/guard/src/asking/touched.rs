//! The parts of a call that a person is shown.

use std::collections::BTreeSet;

use callgate_engine::text::escape_token;
use serde_json::{Value, json};

use crate::record::left_out;

/// How many arguments without a role are shown, and bytes of each. Of longer ones it is the beginning and the end.
const ARGUMENTS: usize = 256;
const LONGEST: usize = 2_000;
const END: usize = 500;

/// Bytes of everything that is shown. Nobody reads more.
const MOST: usize = 1024 * 1024;

/// Everything that a call touches, for a person: its values under roles, and the arguments that no role says anything about,
/// whose `role` is null. `None` if not all of it can be shown: nobody can be asked about such a call.
pub fn touched(explanation: Option<&Value>, arguments: &Value) -> Option<Value> {
    if left_out(explanation) > 0 {
        return None;
    }
    let values = explanation.and_then(|explanation| explanation.get("values"));
    let mut shown = values.and_then(Value::as_array).cloned().unwrap_or_default();
    let places = shown.iter().filter_map(|value| value.get("argument")?.as_str());
    let known = Known(places.map(str::to_owned).collect());
    let mut others = Vec::new();
    for (name, value) in arguments.as_object().into_iter().flatten() {
        known.others(below("", name), value, &mut others)?;
    }
    shown.extend(others);
    let shown = Value::Array(shown);
    (shown.to_string().len() <= MOST).then_some(shown)
}

/// The places of values that have roles, as JSON Pointers.
struct Known(BTreeSet<String>);

impl Known {
    /// Adds the parts of an argument without a role, each as large as can be. `None` if there are too many.
    fn others(&self, place: String, value: &Value, others: &mut Vec<Value>) -> Option<()> {
        if self.0.contains(&place) {
            return Some(());
        }
        match value {
            Value::Object(members) if self.has_below(&place) => {
                for (name, member) in members {
                    self.others(below(&place, name), member, others)?;
                }
            }
            Value::Array(items) if self.has_below(&place) => {
                for (at, item) in items.iter().enumerate() {
                    self.others(below(&place, &at.to_string()), item, others)?;
                }
            }
            value => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                others.push(json!({"argument": place, "role": null, "raw": cut(&text), "canonical": null}));
            }
        }
        (others.len() <= ARGUMENTS).then_some(())
    }

    fn has_below(&self, place: &str) -> bool {
        let inside = format!("{place}/");
        let next = self.0.range(inside.clone()..).next();
        next.is_some_and(|next| next.starts_with(&inside))
    }
}

fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", escape_token(name))
}

/// The beginning and the end of a long text, and how much of it is not shown.
fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let begins = text
        .get(..text.floor_char_boundary(LONGEST - END))
        .unwrap_or_default();
    let ends = text
        .get(text.ceil_char_boundary(text.len() - END)..)
        .unwrap_or_default();
    let left_out = text.len() - begins.len() - ends.len();
    format!("{begins}… ({left_out} bytes are not shown) …{ends}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(values: &Value, arguments: &Value) -> Option<Vec<(String, String)>> {
        let shown = touched(Some(&json!({"values": values})), arguments)?;
        let text = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
        let shown = shown.as_array().unwrap().iter();
        Some(
            shown
                .map(|value| (text(value, "argument"), text(value, "raw")))
                .collect(),
        )
    }

    fn pair(argument: &str, raw: &str) -> (String, String) {
        (argument.to_owned(), raw.to_owned())
    }

    #[test]
    fn arguments_without_a_role_are_shown_beside_those_that_have_one() {
        let path = |argument: &str| json!({"argument": argument, "role": "read-path", "raw": "p", "canonical": "/p"});
        assert_eq!(
            shown(&json!([]), &json!({"command": "rm -rf /", "n": [1, null]})),
            Some(vec![pair("/command", "rm -rf /"), pair("/n", "[1,null]")])
        );
        // Only what has no role, and as a whole where nothing in it has one.
        assert_eq!(
            shown(
                &json!([path("/edits/0/path"), path("/a~1b"), path("")]),
                &json!({"a/b": "p", "edits": [{"path": "p", "text": {"x": 1}}], "editsAll": true})
            ),
            Some(vec![
                pair("/edits/0/path", "p"),
                pair("/a~1b", "p"),
                pair("", "p"),
                pair("/edits/0/text", r#"{"x":1}"#),
                pair("/editsAll", "true"),
            ])
        );
    }

    #[test]
    fn a_long_argument_shows_its_end_and_what_is_missing() {
        let padded = format!("ls {}; rm -rf /é", " ".repeat(100_000));
        let shown = shown(&json!([]), &json!({"command": padded})).unwrap();
        let [(_, text)] = &shown[..] else {
            panic!("{shown:?}")
        };
        assert!(text.starts_with("ls ") && text.ends_with("; rm -rf /é"), "{text}");
        assert!(text.contains(" bytes are not shown)") && text.len() < 2_100);
    }

    #[test]
    fn what_cannot_be_shown_is_not_asked_about() {
        let many: serde_json::Map<String, Value> = (0..300).map(|at| (format!("a{at}"), json!(1))).collect();
        assert_eq!(shown(&json!([]), &Value::Object(many)), None);
        let cut = json!({"values": [], "valuesLeftOut": 1});
        assert_eq!(touched(Some(&cut), &json!({})), None);
        let long = json!([{"argument": "/a", "role": "r", "raw": "x".repeat(MOST), "canonical": null}]);
        assert_eq!(shown(&long, &json!({"a": 1})), None);
    }
}
