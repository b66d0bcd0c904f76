//! The members of an object as they stand in a text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::diagnostic::{Diagnostic, Position};

use super::parse::syntax_fault;
use super::position::{Lines, Walk};
use super::without_comments;

/// A member of an object, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'t> {
    pub key: String,
    pub key_at: Position,
    /// The value as it is written.
    pub value: &'t str,
    pub value_at: Position,
    /// Where it begins, in bytes.
    pub start: usize,
}

/// The members of the object that a document is, in order, a repeated one each time; `None` if it is JSON but not an object.
///
/// # Errors
/// The fault of a text that is not JSON.
pub fn members<'t>(text: &'t str, name: &str) -> Result<Option<Vec<Member<'t>>>, Diagnostic> {
    let (json, values) = values(text, name)?;
    let mut walk = Walk::new(&json);
    if !walk.take(b'{') {
        return Ok(None);
    }
    let mut members = Vec::with_capacity(values.len());
    let mut lines = Lines::new(text);
    for length in values {
        let key_at = lines.position(walk.at());
        let key = walk.key();
        let start = walk.at();
        let value_at = lines.position(start);
        walk.pass(length);
        members.push(Member {
            key,
            key_at,
            value: text.get(start..walk.at()).unwrap_or_default(),
            value_at,
            start,
        });
        walk.take(b',');
    }
    Ok(Some(members))
}

/// An item of an array, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'t> {
    /// The item as it is written.
    pub value: &'t str,
    pub at: Position,
}

/// The items of an array, in order; none if the text is not an array.
///
/// # Errors
/// The fault of a text that is not JSON.
pub fn items<'t>(text: &'t str, name: &str) -> Result<Vec<Item<'t>>, Diagnostic> {
    let (json, values) = values(text, name)?;
    let mut walk = Walk::new(&json);
    let mut items = Vec::with_capacity(values.len());
    let mut lines = Lines::new(text);
    if !walk.take(b'[') {
        return Ok(Vec::new());
    }
    for length in values {
        let start = walk.at();
        let at = lines.position(start);
        walk.pass(length);
        items.push(Item {
            value: text.get(start..walk.at()).unwrap_or_default(),
            at,
        });
        walk.take(b',');
    }
    Ok(items)
}

/// The text without comments, and how long each member's value or each item is in it; none if it is neither an object nor an
/// array.
///
/// Most texts have no comments, so they are looked for where the text is not JSON.
fn values<'t>(text: &'t str, name: &str) -> Result<(Cow<'t, str>, Vec<usize>), Diagnostic> {
    let fault = match lengths(text) {
        Ok(values) => return Ok((Cow::Borrowed(text), values)),
        Err(fault) => fault,
    };
    match without_comments(text) {
        Cow::Borrowed(_) => Err(syntax_fault(&fault, text, name)),
        Cow::Owned(json) => match lengths(&json) {
            Ok(values) => Ok((Cow::Owned(json), values)),
            Err(fault) => Err(syntax_fault(&fault, text, name)),
        },
    }
}

/// Checks that the text is JSON, without a bound on its depth, and passes over each value in it once.
fn lengths(json: &str) -> Result<Vec<usize>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = match json.trim_start().as_bytes().first() {
        Some(b'{') => reader.deserialize_map(Lengths)?,
        Some(b'[') => reader.deserialize_seq(Lengths)?,
        _ => {
            reader.deserialize_ignored_any(IgnoredAny)?;
            Vec::new()
        }
    };
    reader.end().map(|()| found)
}

struct Lengths;

impl<'de> Visitor<'de> for Lengths {
    type Value = Vec<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Vec<usize>, A::Error> {
        let mut lengths = Vec::new();
        while access.next_key::<IgnoredAny>()?.is_some() {
            lengths.push(access.next_value::<&RawValue>()?.get().len());
        }
        Ok(lengths)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<usize>, A::Error> {
        let mut lengths = Vec::new();
        while let Some(item) = access.next_element::<&RawValue>()? {
            lengths.push(item.get().len());
        }
        Ok(lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_where_they_are() {
        let text = "// é\n[{\"a\": [1, \"]\"]}, /* é, */ 5 ,\n \"d,\" // x\n , null,]";
        let found = items(text, "doc").unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|item| format!("{} {}", item.at, item.value))
            .collect();
        assert_eq!(
            shown,
            ["2:2 {\"a\": [1, \"]\"]}", "2:28 5", "3:2 \"d,\"", "4:4 null"]
        );
        assert_eq!(items("{}", "doc"), Ok(Vec::new()));
        assert_eq!(items(" [ ] ", "doc"), Ok(Vec::new()));
        assert!(items("[1 2]", "doc").is_err());
    }

    #[test]
    fn members_stand_where_they_are() {
        let text =
            "// é\n{\"a\": [1, {\"b\": \"}\"}], /* é */ \"\\u0063\" : 5 , \"d\":{} /* x */,\n\"a\": null}";
        let found = members(text, "doc").unwrap().unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|member| {
                format!(
                    "{} {}={} {}",
                    member.key_at, member.key, member.value_at, member.value
                )
            })
            .collect();
        let expected = [
            "2:2 a=2:7 [1, {\"b\": \"}\"}]",
            "2:32 c=2:43 5",
            "2:47 d=2:51 {}",
            "3:1 a=3:6 null",
        ];
        assert_eq!(shown, expected);
        assert_eq!(members("[1]", "doc"), Ok(None));
        assert_eq!(members("{}", "doc"), Ok(Some(Vec::new())));
        let fault = members("{\n \"a\" 1}", "doc").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "2:6: error[syntax] at doc: not JSON: expected `:`"
        );
    }
}
