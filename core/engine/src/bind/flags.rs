//! Flags: the truth values and the options of a call, whatever the names of their arguments.

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::json::json_in_text;
use super::value::Value;
use crate::approval::{ArgumentConstraint, number};
use crate::sort;
use crate::text::escape_token;

/// The words that lenient readers take for a truth value, those of YAML 1.1 and pydantic among them.
const WORDS: [&str; 12] = [
    "true", "false", "yes", "no", "on", "off", "t", "f", "y", "n", "1", "0",
];

/// A search for the flags of one argument.
pub struct FlagSearch<'s> {
    /// Everything found so far.
    pub found: &'s mut Vec<ArgumentConstraint>,
    /// How many there may be.
    pub most: usize,
    /// The steps that are left; a value takes one.
    pub steps: &'s mut usize,
    /// How deep the argument may be nested.
    pub depth: usize,
    /// The bytes that a text may have.
    pub bytes: usize,
    /// `true` if texts are there to be read, so that no word in them is a flag.
    pub is_prose: bool,
    /// `true` if a server may unpack JSON that a text holds.
    pub unpacks: bool,
}

impl FlagSearch<'_> {
    /// Adds the flags of an argument; `None` if they cannot be told, or are too many.
    pub fn search(&mut self, name: &str, value: &Value<'_>) -> Option<()> {
        let mut place = format!("/{}", escape_token(name));
        let value = value.read(self.depth).ok()?;
        self.look(&mut place, &value, false)?;
        if let Value::Text(text) = &*value
            && self.unpacks
            && json_in_text(text).is_some()
        {
            let unpacked: &RawValue = serde_json::from_str(text.trim()).ok()?;
            let unpacked = Value::from(unpacked);
            self.look(&mut place, &*unpacked.read(self.depth).ok()?, false)?;
        }
        Some(())
    }

    fn look(&mut self, place: &mut String, value: &Value<'_>, is_item: bool) -> Option<()> {
        *self.steps = self.steps.checked_sub(1)?;
        match value {
            Value::Bool(_) => self.add(place, value),
            // Items of an array are data more often than flags.
            Value::Number(number) if !is_item && matches!(*number, 0.0 | 1.0) => self.add(place, value),
            Value::Text(text) | Value::IllFormed(text)
                if !self.is_prose && (is_option(text) || !is_item && is_word(text)) =>
            {
                self.add(place, value)
            }
            Value::Null | Value::Number(_) | Value::Text(_) | Value::IllFormed(_) => Some(()),
            Value::Array(items) => {
                let end = place.len();
                place.push_str("/*");
                items.iter().try_for_each(|item| self.look(place, item, true))?;
                place.truncate(end);
                Some(())
            }
            Value::Object(members) => {
                let end = place.len();
                for (name, member) in members {
                    // Its place could not be told from that of an item.
                    if name == "*" {
                        return None;
                    }
                    place.push('/');
                    place.push_str(&escape_token(name));
                    self.look(place, member, false)?;
                    place.truncate(end);
                }
                Some(())
            }
            Value::Raw(_) | Value::Unread => None,
        }
    }

    fn add(&mut self, place: &str, value: &Value<'_>) -> Option<()> {
        let arg = match place.strip_prefix('/') {
            Some(name) if is_plain(name) => name.to_owned(),
            _ => place.to_owned(),
        };
        let flag = listed(arg, value, self.bytes)?;
        if !self.found.contains(&flag) {
            self.found.push(flag);
        }
        (self.found.len() <= self.most).then_some(())
    }
}

/// The name of an argument as an approval lists it: the name itself, or a pointer where it could be taken for one.
pub fn argument_name(name: &str) -> String {
    match is_plain(name) {
        true => name.to_owned(),
        false => format!("/{}", escape_token(name)),
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '~'])
}

/// The value as an approval lists it, the same for every spelling and order of members; `None` for one that has no form
/// that all programs read alike, or that is larger.
pub fn listed(arg: String, value: &Value<'_>, bytes: usize) -> Option<ArgumentConstraint> {
    let equals = unbounded(value)?;
    let size = match &equals {
        Json::String(text) => text.len(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        Json::Array(_) | Json::Object(_) => equals.to_string().len(),
    };
    (size <= bytes).then_some(ArgumentConstraint { arg, equals })
}

fn unbounded(value: &Value<'_>) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(value) => number(*value)?,
        Value::Text(text) => Json::String(text.to_string()),
        Value::Array(items) => Json::Array(items.iter().map(unbounded).collect::<Option<_>>()?),
        Value::Object(members) => {
            let read = members
                .iter()
                .map(|(name, member)| Some((name.to_string(), unbounded(member)?)));
            let mut members = read.collect::<Option<Vec<_>>>()?;
            sort::sort_by(&mut members, |(one, _), (other, _)| one.cmp(other));
            Json::Object(members.into_iter().collect::<Map<_, _>>())
        }
        Value::IllFormed(_) | Value::Raw(_) | Value::Unread => return None,
    })
}

/// Returns `true` for a word that a lenient reader takes for a truth value. For a program in C a text ends at its first NUL.
fn is_word(text: &str) -> bool {
    let text = text.split('\0').next().unwrap_or_default().trim();
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns `true` for a text that programs take for an option: `-f`, `--force`.
fn is_option(text: &str) -> bool {
    let name = text.trim_start().strip_prefix('-');
    let name = name.map(|name| name.strip_prefix('-').unwrap_or(name));
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(argument: Json, expected: Option<Json>) {
        let (mut found, mut steps) = (Vec::new(), 100);
        let mut search = FlagSearch {
            found: &mut found,
            most: 3,
            steps: &mut steps,
            depth: 4,
            bytes: 20,
            is_prose: false,
            unpacks: true,
        };
        let is_told = search.search("a", &Value::from(&argument)).is_some();
        let found: Json = found
            .into_iter()
            .map(|one| json!([one.arg, one.equals]))
            .collect();
        assert_eq!(is_told.then_some(found), expected, "{argument}");
    }

    #[test]
    fn truth_values_and_options_are_flags() {
        for flag in [
            json!(true),
            json!(false),
            json!(0),
            json!(1),
            json!("Yes"),
            json!(" true\n"),
            json!("on\0x"),
            json!("-f"),
            json!(" --force=x"),
        ] {
            check(flag.clone(), Some(json!([["a", flag]])));
        }
        for other in [
            json!(null),
            json!(2),
            json!(0.5),
            json!(""),
            json!("-"),
            json!("- x"),
            json!("---x"),
            json!("-1"),
            json!("truer"),
            json!("{force: true}"),
            json!([0, 1, "yes", []]),
        ] {
            check(other, Some(json!([])));
        }
        check(json!(1.0), Some(json!([["a", 1]])));
    }

    #[test]
    fn flags_are_found_in_what_holds_them() {
        check(
            json!({"b": {"c/d": "no"}, "e": 1}),
            Some(json!([["/a/b/c~1d", "no"], ["/a/e", 1]])),
        );
        check(
            json!([{"b": true}, {"b": true}, {"b": false}, "-x"]),
            Some(json!([["/a/*/b", true], ["/a/*/b", false], ["/a/*", "-x"]])),
        );
        check(json!("{\"b\": true}"), Some(json!([["/a/b", true]])));
    }

    #[test]
    fn what_cannot_be_told_has_none() {
        check(json!({"*": 5}), None);
        check(json!([[[[[true]]]]]), None);
        check(json!("{\"b\": NaN}"), None);
        check(json!("--a-text-of-more-than-20-bytes"), None);
        check(json!({"b": 1, "c": 1, "d": 1, "e": 1}), None);
        check(json!(vec![json!(null); 100]), None);
    }
}
