//! The values that one text holds, where an annotation says what stands between them (SPEC §5).

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::path_like::is_space;
use super::value::Value;
use crate::model::Separator;

/// How a value stood in a text of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind of the text.
    pub separator: Separator,
    /// `true` if the values, joined, are the text as it was given.
    pub is_as_given: bool,
}

/// The values in a text, at least one unless it is an empty JSON array; `None` if it is not the JSON that it should be.
///
/// White space around a value, and what is nothing else, is left out, and so it is not sent: some servers leave it out, others
/// take it for a part of the name, or for a value of its own.
pub(super) fn of<'c>(separator: Separator, text: Cow<'c, str>) -> Option<(Vec<Cow<'c, str>>, Part)> {
    let values: Vec<Cow<'c, str>> = match (separator, &text) {
        (Separator::Json, text) => {
            let raw: &RawValue = serde_json::from_str(text).ok()?;
            let Value::Array(items) = Value::Raw(raw).read(1).ok()?.into_owned() else {
                return None;
            };
            let string = |item: &Value<'_>| match item {
                Value::Text(text) => Some(Cow::Owned(text.to_string())),
                _ => None,
            };
            items.iter().map(string).collect::<Option<_>>()?
        }
        (_, Cow::Borrowed(text)) => split(separator, text).map(Cow::Borrowed).collect(),
        (_, Cow::Owned(text)) => split(separator, text)
            .map(|value| Cow::Owned(value.to_owned()))
            .collect(),
    };
    let values = match values.is_empty() && separator != Separator::Json {
        true => vec![Cow::Borrowed("")],
        false => values,
    };
    let is_as_given = join(separator, values.iter().map(|value| &**value)) == *text;
    let part = Part {
        separator,
        is_as_given,
    };
    Some((values, part))
}

fn split(separator: Separator, text: &str) -> impl Iterator<Item = &str> {
    let values = text.split(separator.text());
    values
        .map(|value| value.trim_matches(is_space))
        .filter(|value| !value.is_empty())
}

/// The text that holds the values.
pub fn join<'v>(separator: Separator, values: impl Iterator<Item = &'v str>) -> String {
    let values: Vec<&str> = values.collect();
    match separator {
        // Writing a text to memory does not fail.
        Separator::Json => serde_json::to_string(&values).unwrap_or_default(),
        Separator::Comma | Separator::Semicolon | Separator::Line => values.join(separator.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(separator: Separator, text: &str, expected: Option<(&[&str], bool)>) {
        for text in [Cow::Borrowed(text), Cow::Owned(text.to_owned())] {
            let found = of(separator, text);
            let found = found.as_ref().map(|(values, part)| {
                let values: Vec<&str> = values.iter().map(|value| &**value).collect();
                (values, part.is_as_given)
            });
            let expected = expected.map(|(values, is_as_given)| (values.to_vec(), is_as_given));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_text_is_split_into_its_values() {
        check(Separator::Comma, "a,b", Some((&["a", "b"], true)));
        check(Separator::Comma, "a;b", Some((&["a;b"], true)));
        check(Separator::Comma, " a , b c,", Some((&["a", "b c"], false)));
        check(Separator::Semicolon, "a;;b", Some((&["a", "b"], false)));
        check(Separator::Line, "a\r\nb\n", Some((&["a", "b"], false)));
        check(Separator::Comma, "", Some((&[""], true)));
        check(Separator::Comma, " ,\n,", Some((&[""], false)));
        check(Separator::Json, r#"["a","b,c"]"#, Some((&["a", "b,c"], true)));
        check(Separator::Json, r#"[ " a", "" ]"#, Some((&[" a", ""], false)));
        check(Separator::Json, "[]", Some((&[], true)));
        for text in [
            "",
            "a",
            "\"a\"",
            "[1]",
            "[null]",
            "[[\"a\"]]",
            "{}",
            "[\"a\",]",
            r#"["\ud800"]"#,
        ] {
            check(Separator::Json, text, None);
        }
    }
}
