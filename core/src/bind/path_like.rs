//! Texts that look like paths and bear no path role.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::arguments::BoundArguments;
use super::value::{Value, each_item};
use crate::program::Program;

impl<'c> BoundArguments<'_, 'c> {
    /// Strings, and items of arrays, that start like a path: the heuristic of SPEC §8.3.2. What else an array holds
    /// is not looked into, and cannot hide them.
    pub(super) fn collect_path_like(&mut self, program: &Program, at: usize, value: &'c Value<'c>) {
        if !program.heuristic_paths || program.protected.is_empty() {
            return;
        }
        // Each is held against every protected path. If there are more, the steps run out.
        let most = program.limits.steps / program.protected.cost() + 1;
        let mut push = |text: Option<Cow<'c, str>>| {
            let text = text.filter(|text| text.starts_with(['/', '.', '~']));
            if let Some(text) = text.filter(|_| self.path_like.len() <= most) {
                self.path_like.push((at, text));
            }
        };
        match value {
            Value::Raw(raw) if raw.get().starts_with('[') => {
                // The call's text was read as JSON before, so each item is found.
                let _ = each_item(raw.get(), |item| {
                    push(path_like_raw(item));
                    Ok(())
                });
            }
            Value::Array(items) => items.iter().for_each(|item| push(path_like_string(item))),
            one => push(path_like_string(one)),
        }
    }
}

/// The text of a string, unless it is known not to start like a path.
fn path_like_string<'c>(value: &'c Value<'c>) -> Option<Cow<'c, str>> {
    match value {
        Value::Text(text) => Some(Cow::Borrowed(text)),
        Value::Raw(raw) => path_like_raw(raw),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::IllFormed
        | Value::Array(_)
        | Value::Object(_)
        | Value::Unread => None,
    }
}

/// The same of JSON text, in which an escape may stand for any character.
fn path_like_raw(raw: &RawValue) -> Option<Cow<'_, str>> {
    let [b'"', b'/' | b'.' | b'~' | b'\\', ..] = raw.get().as_bytes() else {
        return None;
    };
    match Value::Raw(raw).read(0).ok()?.into_owned() {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
