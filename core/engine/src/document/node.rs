//! A value in a document with its place, and methods to read it.

use std::fmt::{self, Write as _};

use crate::diagnostic::{Code, Severity};
use crate::limits::{Limits, exceeded};
use crate::named::Named;
use crate::role::{Registry, RoleId};

use super::report::Message;
use super::suggest::{SHOWN, describe_unknown};
use super::{Json, JsonPath, Members, Report, did_you_mean, listed};

/// A value, its place, and the report for its faults.
///
/// A method that returns `None` has reported the reason.
#[derive(Clone, Copy, Debug)]
pub struct Node<'v, 'p> {
    value: &'v Json<'v>,
    place: JsonPath<'p>,
    pub(super) report: &'p Report,
}

impl<'v, 'p> Node<'v, 'p> {
    /// The root of a document.
    pub fn document(value: &'v Json<'v>, name: &'p str, report: &'p Report) -> Self {
        Self {
            value,
            place: JsonPath::Document(name),
            report,
        }
    }

    pub fn value(&self) -> &'v Json<'v> {
        self.value
    }

    /// The value's place, as diagnostics have it.
    pub fn place(&self) -> String {
        self.place.to_string()
    }

    /// The value for a message: JSON in backticks, shortened if it is long.
    pub fn found(&self) -> String {
        found(self.value)
    }

    /// Reports a fault at this place.
    pub fn fault(&self, severity: Severity, code: Code, describe: impl FnOnce() -> (String, Option<String>)) {
        self.report.add(severity, code, &self.place, describe);
    }

    /// Reports an error at this place.
    pub fn error(&self, code: Code, message: impl Message) {
        self.report.error(code, &self.place, message);
    }

    /// Reports a count above the limit of this name. Returns `true` if the count is within the limit.
    pub fn check_limit(&self, found: usize, what: &str, name: &str, most: usize) -> bool {
        if found > most {
            self.error(Code::Limit, || exceeded(found, what, name, most));
        }
        found <= most
    }

    /// Reports a warning at this place.
    pub fn warning(&self, code: Code, message: impl Message) {
        self.report.warning(code, &self.place, message);
    }

    /// An error that shows the value; `why` completes the sentence “found …,”.
    pub fn refuse(&self, code: Code, why: &str) {
        self.error(code, format_args!("found {}, {why}", self.found()));
    }

    /// The same as a warning.
    pub fn doubt(&self, code: Code, why: &str) {
        self.warning(code, format_args!("found {}, {why}", self.found()));
    }

    /// Reports that the value is not what is `expected`; always `None`.
    pub fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        self.refuse(Code::WrongType, &format!("expected {expected}"));
        None
    }

    pub fn object(&self) -> Option<Object<'v, 'p>> {
        match self.value {
            Json::Object(entries) => Some(Object {
                entries,
                place: self.place,
                report: self.report,
            }),
            _ => self.wrong_type("an object"),
        }
    }

    /// An object; reports every key not in `known`.
    pub fn object_of(&self, known: &[&str], severity: Severity) -> Option<Object<'v, 'p>> {
        let object = self.object()?;
        object.unknown_keys(known, severity);
        Some(object)
    }

    /// The items of an array; `expected` describes it, for example `an array of roles`.
    pub fn array(&self, expected: &str) -> Option<impl ExactSizeIterator<Item = Node<'v, '_>> + use<'v, '_>> {
        match self.value {
            Json::Array(items) => Some(items.iter().enumerate().map(|(index, value)| Node {
                value,
                place: JsonPath::Index(&self.place, index),
                report: self.report,
            })),
            _ => self.wrong_type(expected),
        }
    }

    pub fn string(&self) -> Option<&'v str> {
        match self.value {
            Json::String(text) => Some(text),
            _ => self.wrong_type("a string"),
        }
    }

    /// A non-empty string.
    pub fn name(&self) -> Option<&'v str> {
        let text = self.string()?;
        if text.is_empty() {
            self.error(Code::InvalidValue, format_args!("found `\"\"`, expected a name"));
            return None;
        }
        Some(text)
    }

    /// A string of at most `value_bytes` bytes: a path or a pattern.
    pub fn bounded_string(&self, limits: &Limits) -> Option<&'v str> {
        let text = self.string()?;
        if text.len() > limits.value_bytes {
            self.error(Code::Limit, || {
                let message = exceeded(text.len(), "bytes", "value_bytes", limits.value_bytes);
                format!("found {message}")
            });
            return None;
        }
        Some(text)
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.value {
            Json::Bool(value) => Some(*value),
            _ => self.wrong_type("`true` or `false`"),
        }
    }

    pub fn strings(&self) -> Option<Vec<Box<str>>> {
        self.each("an array of strings", |item| item.string().map(Box::from))
    }

    /// An array of non-empty strings.
    pub fn names(&self) -> Option<Vec<Box<str>>> {
        self.each("an array of names", |item| item.name().map(Box::from))
    }

    /// An object, read entry by entry; a faulty entry is left out.
    pub fn each_entry<T>(&self, mut read: impl FnMut(&Node<'v, '_>) -> Option<T>) -> Vec<(Box<str>, T)> {
        let object = self.object();
        let entries = object.iter().flat_map(Object::entries);
        entries
            .filter_map(|(key, node)| Some((key.into(), read(&node)?)))
            .collect()
    }

    /// An array of strings of at most `value_bytes` bytes each.
    pub fn patterns(&self, limits: &Limits) -> Option<Vec<Box<str>>> {
        self.each("an array of strings", |item| {
            item.bounded_string(limits).map(Box::from)
        })
    }

    /// Reads every item of an array, even after a fault; `None` if an item has a fault.
    pub fn each<T>(
        &self,
        expected: &str,
        mut read: impl FnMut(&Node<'v, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.array(expected)?;
        let count = items.len();
        let mut taken = Vec::with_capacity(count);
        for item in items {
            taken.extend(read(&item));
        }
        (taken.len() == count).then_some(taken)
    }

    /// The same where a string may stand for an array of it alone.
    pub fn one_or_each<T>(
        &self,
        expected: &str,
        mut read: impl FnMut(&Node<'v, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let one = self.value.is_string().then_some(*self);
        let items = if one.is_some() {
            None
        } else {
            Some(self.array(expected)?)
        };
        let count = items.as_ref().map_or(1, ExactSizeIterator::len);
        let mut taken = Vec::with_capacity(count);
        for item in one.into_iter().chain(items.into_iter().flatten()) {
            taken.extend(read(&item));
        }
        (taken.len() == count).then_some(taken)
    }

    /// One of the words of a closed set.
    pub fn word<T: Named>(&self) -> Option<T> {
        self.one_of(T::NAMES)
    }

    /// Looks up a string in a table of names.
    pub fn one_of<T: Clone>(&self, table: &[(&'static str, T)]) -> Option<T> {
        let names = || table.iter().map(|(name, _)| *name);
        let Json::String(text) = self.value else {
            return self.wrong_type(&format!("one of {}", listed(names())));
        };
        let known = table.iter().find(|(name, _)| name == text);
        if known.is_none() {
            self.fault(Severity::Error, Code::UnknownValue, || {
                let message = format!("found {}, expected one of {}", self.found(), listed(names()));
                (message, did_you_mean(text, names()))
            });
        }
        known.map(|(_, value)| value.clone())
    }

    /// Role names in this order, or the word of one role.
    pub fn roles(&self, registry: &Registry) -> Option<Vec<RoleId>> {
        self.one_or_each("an array of roles", |item| {
            let name = item.string()?;
            let role = registry.find(name);
            if role.is_none() {
                item.fault(Severity::Error, Code::UnknownRole, || {
                    let known = || registry.iter().map(|(_, definition)| &*definition.name);
                    let help = did_you_mean(name, known())
                        .unwrap_or_else(|| format!("the roles are {}", listed(known())));
                    (format!("found {}, expected a role", item.found()), Some(help))
                });
            }
            role
        })
    }
}

/// An object in a document.
#[derive(Clone, Copy, Debug)]
pub struct Object<'v, 'p> {
    entries: &'v Members<'v>,
    place: JsonPath<'p>,
    report: &'p Report,
}

impl<'v> Object<'v, '_> {
    /// The value of `key`; a missing key is a fault that says what is `expected`.
    pub fn required<'s>(&'s self, key: &'s str, expected: &str) -> Option<Node<'v, 's>> {
        let node = self.optional(key);
        if node.is_none() {
            self.report.error(
                Code::MissingField,
                &self.place,
                format_args!("the field `{key}` is missing, expected {expected}"),
            );
        }
        node
    }

    pub fn optional<'s>(&'s self, key: &'s str) -> Option<Node<'v, 's>> {
        Some(self.child(key, self.entries.get(key)?))
    }

    /// Reads the value of a key that must be there; its absence is an error.
    pub fn require<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&Node<'v, '_>) -> Option<T>,
    ) -> Option<T> {
        read(&self.required(key, expected)?)
    }

    /// Reads the value of a key, if the key is there.
    pub fn read<T>(&self, key: &str, read: impl FnOnce(&Node<'v, '_>) -> Option<T>) -> Option<T> {
        read(&self.optional(key)?)
    }

    /// As [`Object::read`], with `default` for a missing key or a faulty value.
    pub fn read_or<T>(&self, key: &str, default: T, read: impl FnOnce(&Node<'v, '_>) -> Option<T>) -> T {
        self.read(key, read).unwrap_or(default)
    }

    /// As [`Object::read`], with the type's default for a missing key or a faulty value.
    pub fn read_or_default<T: Default>(&self, key: &str, read: impl FnOnce(&Node<'v, '_>) -> Option<T>) -> T {
        self.read(key, read).unwrap_or_default()
    }

    /// As [`Object::read`], but tells a missing key, `Some(None)`, from a faulty value, `None`.
    pub fn read_if_present<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node<'v, '_>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.optional(key)
            .map_or(Some(None), |node| read(&node).map(Some))
    }

    pub fn string(&self, key: &str) -> Option<&'v str> {
        self.required(key, "a string")?.string()
    }

    /// The text of a key that may be missing, which is then empty; `None` if it is not a string.
    pub fn optional_string(&self, key: &str) -> Option<&'v str> {
        let text = self.read_if_present(key, |node| node.string())?;
        Some(text.unwrap_or_default())
    }

    /// Every entry, in document order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&'v str, Node<'v, '_>)> {
        self.entries
            .iter()
            .map(|(key, value)| (key, self.child(key, value)))
    }

    /// Reports every key not in `known`. Returns `true` if all keys are known.
    pub fn unknown_keys(&self, known: &[&str], severity: Severity) -> bool {
        let mut all_known = true;
        let is_known = |key: &&str| known.contains(key);
        for key in self.entries.keys().filter(|key| !is_known(key)) {
            all_known = false;
            let place = JsonPath::Key(&self.place, key);
            self.report.add(severity, Code::UnknownKey, &place, || {
                describe_unknown(key, known)
            });
        }
        all_known
    }

    fn child<'s>(&'s self, key: &'s str, value: &'v Json<'v>) -> Node<'v, 's> {
        Node {
            value,
            place: JsonPath::Key(&self.place, key),
            report: self.report,
        }
    }
}

fn found(value: &Json<'_>) -> String {
    let mut shown = Shown(Vec::new());
    let whole = write!(shown, "{value}").is_ok();
    let text = shown.0.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    format!("`{text}{}`", if whole { "" } else { "…" })
}

/// Accepts only the first bytes, so that showing a long value is cheap.
struct Shown(Vec<u8>);

impl fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = SHOWN.saturating_sub(self.0.len());
        self.0.extend(text.bytes().take(room));
        if text.len() > room {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
