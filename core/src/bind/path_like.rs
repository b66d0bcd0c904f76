//! Texts that look like paths and bear no path role.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::value::{Value, each_item};
use crate::program::Program;

/// A string that looks like a path.
pub(crate) struct PathLike<'c> {
    /// The member of the arguments that holds it.
    pub(crate) argument: usize,
    /// The string, or what it holds beside its lone surrogates.
    pub(crate) text: Cow<'c, str>,
    /// Whether it is well-formed Unicode.
    pub(crate) is_well_formed: bool,
}

/// Strings, and items of arrays, that start like a path: the heuristic of SPEC §8.3.2. What else an array holds is not
/// looked into, and cannot hide them.
pub(super) fn collect<'c>(
    program: &Program,
    argument: usize,
    value: &'c Value<'c>,
    path_like: &mut Vec<PathLike<'c>>,
) {
    if !program.heuristic_paths || program.protected.is_empty() {
        return;
    }
    // Each is held against every protected path. If there are more, the steps run out.
    let most = || program.limits.steps / program.protected.cost() + 1;
    let mut push = |found: Option<(Cow<'c, str>, bool)>| {
        let Some((text, is_well_formed)) = found else {
            return;
        };
        // Many a tool strips white space from what it is given; others take it for part of the name.
        let stripped = stripped(&text);
        for text in [stripped, Some(text)].into_iter().flatten() {
            if text.starts_with(['/', '.', '~']) && path_like.len() <= most() {
                path_like.push(PathLike {
                    argument,
                    text,
                    is_well_formed,
                });
            }
        }
    };
    match value {
        Value::Raw(raw) if raw.get().starts_with('[') => {
            // The call's text was read as JSON before, so each item is found.
            let _ = each_item(raw.get(), |item| {
                push(raw_string(item));
                Ok(())
            });
        }
        Value::Array(items) => items.iter().for_each(|item| push(string(item))),
        one => push(string(one)),
    }
}

/// The text without white space around it, if there is any.
fn stripped<'c>(text: &Cow<'c, str>) -> Option<Cow<'c, str>> {
    let stripped = match text {
        Cow::Borrowed(text) => Cow::Borrowed(strip(text)),
        Cow::Owned(text) => Cow::Owned(strip(text).to_owned()),
    };
    (stripped.len() < text.len()).then_some(stripped)
}

fn strip(text: &str) -> &str {
    text.trim_matches(|character: char| matches!(character, '\t'..='\r' | ' '))
}

/// The text of a string, and whether it is well-formed; `None` if it is known not to start like a path.
fn string<'c>(value: &'c Value<'c>) -> Option<(Cow<'c, str>, bool)> {
    match value {
        Value::Text(text) => Some((Cow::Borrowed(text), true)),
        Value::IllFormed(rest) => Some((Cow::Borrowed(rest), false)),
        Value::Raw(raw) => raw_string(raw),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)
        | Value::Unread => None,
    }
}

/// The same of JSON text, in which an escape may stand for any character.
fn raw_string(raw: &RawValue) -> Option<(Cow<'_, str>, bool)> {
    let [b'"', b'/' | b'.' | b'~' | b'\\' | b' ', ..] = raw.get().as_bytes() else {
        return None;
    };
    match Value::Raw(raw).read(0).ok()?.into_owned() {
        Value::Text(text) => Some((text, true)),
        Value::IllFormed(rest) => Some((rest, false)),
        _ => None,
    }
}
