//! The two views of a call's arguments: canonical forms are put in, all else stays as it was given, byte for byte.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callgate_jsontext::push_string;
use serde_json::value::RawValue;

use super::call::Arguments;
use super::value::{Members, PointerToken, Value};

/// A string of the arguments that is replaced by its canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The member of the arguments, from 0.
    pub argument: usize,
    /// Where the string is within that member; empty when it is the member itself.
    pub place: Vec<PointerToken>,
    /// The string for the tool's server; `None` if that gets it as it is.
    pub transport: Option<String>,
    /// The string for policy; `None` if policy sees it as it is.
    pub policy: Option<String>,
}

/// The two views of a call's arguments, as what changes in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Members that stood under an alias, by their place from 0 and in its order, with the key that both views have instead.
    pub renamed: Vec<(usize, String)>,
    /// The strings that one view or both have in another form.
    pub replacements: Vec<Replacement>,
}

/// One of the two views of a call's arguments (SPEC §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The arguments for the tool's server.
    Transport,
    /// The arguments that policy sees.
    Policy,
}

impl Replacement {
    /// The string in this view; `None` if it stays as it is.
    pub fn text(&self, view: View) -> Option<&str> {
        match view {
            View::Transport => self.transport.as_deref(),
            View::Policy => self.policy.as_deref(),
        }
    }
}

impl Prepared {
    /// The arguments in a view, as JSON text; what is not replaced keeps its spelling, numbers included.
    ///
    /// `None` when the text is not the object that was prepared.
    pub fn apply_to_json(&self, arguments: &str, view: View) -> Option<String> {
        self.write(&Arguments::from_json(arguments), view)
    }

    /// The arguments in a view, as JSON text.
    ///
    /// `None` when they are not an object, or when a member was given in another form than JSON.
    pub fn write(&self, arguments: &Arguments<'_>, view: View) -> Option<String> {
        let Arguments::Members(members) = arguments else {
            return None;
        };
        let mut edits: BTreeMap<usize, Vec<Edit<'_>>> = BTreeMap::new();
        for replacement in &self.replacements {
            if let Some(text) = replacement.text(view) {
                let edit = (replacement.place.as_slice(), text);
                edits.entry(replacement.argument).or_default().push(edit);
            }
        }
        // All at once: a text that grows by its last byte is copied, however large it is.
        let mut text = String::with_capacity(room(members, &edits));
        text.push('{');
        // They are in the order of the members.
        let mut renamed = self.renamed.iter().peekable();
        for (at, (name, value)) in members.iter().enumerate() {
            let edits = edits.remove(&at).unwrap_or_default();
            separate(&mut text, at);
            let key = renamed.next_if(|(renamed, _)| *renamed == at);
            push_string(&mut text, key.map_or(name, |(_, key)| key));
            text.push(':');
            let Value::Raw(raw) = value else { return None };
            splice(&mut text, raw, &edits)?;
        }
        text.push('}');
        Some(text)
    }
}

type Edit<'e> = (&'e [PointerToken], &'e str);

/// About how many bytes the members take with these edits; names and texts that need escapes take more.
fn room(members: &[(Cow<'_, str>, Value<'_>)], edits: &BTreeMap<usize, Vec<Edit<'_>>>) -> usize {
    let given = members.iter().map(|(name, value)| {
        // Only text is written.
        let length = if let Value::Raw(raw) = value {
            raw.get().len()
        } else {
            0
        };
        name.len() + length + 4
    });
    let edited = edits.values().flatten().map(|(_, text)| text.len() + 2);
    given.chain(edited).sum::<usize>() + 2
}

fn splice(text: &mut String, value: &RawValue, edits: &[Edit<'_>]) -> Option<()> {
    if edits.is_empty() {
        text.push_str(value.get());
        return Some(());
    }
    if let Some((_, replacement)) = edits.iter().find(|(place, _)| place.is_empty()) {
        push_string(text, replacement);
        return Some(());
    }
    let mut below: BTreeMap<&PointerToken, Vec<Edit<'_>>> = BTreeMap::new();
    for (place, text) in edits {
        if let Some((first, rest)) = place.split_first() {
            below.entry(first).or_default().push((rest, *text));
        }
    }
    let below = |token: &PointerToken| below.get(token).map(Vec::as_slice).unwrap_or_default();
    if value.get().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
        text.push('[');
        for (at, item) in items.into_iter().enumerate() {
            separate(text, at);
            splice(text, item, below(&PointerToken::Item(at)))?;
        }
        text.push(']');
    } else {
        let Members::<&RawValue>(members) = serde_json::from_str(value.get()).ok()?;
        text.push('{');
        for (at, (name, member)) in members.iter().enumerate() {
            separate(text, at);
            push_string(text, name);
            text.push(':');
            splice(text, member, below(&PointerToken::Member(name.to_string())))?;
        }
        text.push('}');
    }
    Some(())
}

fn separate(text: &mut String, at: usize) {
    if at > 0 {
        text.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_replaced_changes() {
        let replace = |argument, place, text: &str| Replacement {
            argument,
            place,
            transport: Some(text.to_owned()),
            policy: None,
        };
        let prepared = Prepared {
            renamed: vec![(4, "text".to_owned())],
            replacements: vec![
                replace(0, Vec::new(), "/a\"b"),
                replace(2, vec![PointerToken::Item(1)], "/c"),
                replace(
                    3,
                    vec![PointerToken::Item(0), PointerToken::Member("path".to_owned())],
                    "/d",
                ),
            ],
        };
        let given = r#"{ "path": "~/x", "big": 123456789012345678901234567890.10, "many": [1e2, "y", {"k": 1}],
            "edits": [{"n": 1.0, "path": "z"}], "body": "\ud800" }"#;
        let expected = r#"{"path":"/a\"b","big":123456789012345678901234567890.10,"many":[1e2,"/c",{"k": 1}],"edits":[{"n":1.0,"path":"/d"}],"text":"\ud800"}"#;
        assert_eq!(
            prepared.apply_to_json(given, View::Transport).as_deref(),
            Some(expected)
        );
        let policy = prepared.apply_to_json(r#"{"path":1}"#, View::Policy);
        assert_eq!(policy.as_deref(), Some(r#"{"path":1}"#));
        assert_eq!(prepared.apply_to_json("[]", View::Policy), None);
    }

    #[test]
    fn each_view_has_its_own_text() {
        let prepared = Prepared {
            renamed: vec![(0, "z".to_owned())],
            replacements: vec![Replacement {
                argument: 1,
                place: vec![PointerToken::Member("a/b".to_owned()), PointerToken::Item(1)],
                transport: Some("new".to_owned()),
                policy: Some("other".to_owned()),
            }],
        };
        let given = r#"{"x":1,"y":{"a/b":[0,"old"],"c":null}}"#;
        for (view, expected) in [
            (View::Transport, r#"{"z":1,"y":{"a/b":[0,"new"],"c":null}}"#),
            (View::Policy, r#"{"z":1,"y":{"a/b":[0,"other"],"c":null}}"#),
        ] {
            assert_eq!(prepared.apply_to_json(given, view).as_deref(), Some(expected));
        }
    }
}
