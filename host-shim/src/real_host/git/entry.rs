//! One file of git's configuration as a list of keys and values.

use std::path::Path;

use callgate_core::HostError;
use gix_config::parse::{EventRef, Events};
use gix_config::value::normalize;

/// The sections that have a part in what git connects to; all others are passed over.
const SECTIONS: &[&[u8]] = &[
    b"branch",
    b"extensions",
    b"fetch",
    b"include",
    b"includeif",
    b"remote",
    b"remotes",
    b"url",
];

/// The bytes of a key and of a value.
const MAX_ENTRY_BYTES: usize = 32 << 10;

/// A key with its value, in the order of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The whole key, `section.subsection.name`, with the section and the name in lower case.
    pub(super) key: Vec<u8>,
    /// `None` for a key without `=`.
    pub(super) value: Option<Vec<u8>>,
}

impl Entry {
    /// The key in its parts, as git takes it apart: the section ends at the first dot, the name starts after
    /// the last.
    pub(super) fn parts(&self) -> (&[u8], Option<&[u8]>, &[u8]) {
        let mut ends = self.key.splitn(2, |byte| *byte == b'.');
        let section = ends.next().unwrap_or_default();
        let mut rest = ends.next().unwrap_or_default().rsplitn(2, |byte| *byte == b'.');
        let name = rest.next().unwrap_or_default();
        (section, rest.next(), name)
    }

    /// The value of a key that must have one.
    pub(super) fn required(&self) -> Result<&[u8], HostError> {
        self.value.as_deref().ok_or_else(|| self.refused("a value"))
    }

    /// The value as git's boolean (`git-config(1)`, "Values").
    pub(super) fn boolean(&self) -> Result<bool, HostError> {
        let Some(value) = &self.value else {
            return Ok(true);
        };
        let text = String::from_utf8_lossy(value).to_ascii_lowercase();
        match text.as_str() {
            "true" | "yes" | "on" => Ok(true),
            "false" | "no" | "off" | "" => Ok(false),
            number => number
                .parse::<i32>()
                .map(|number| number != 0)
                .map_err(|_| self.refused("a boolean")),
        }
    }

    fn refused(&self, expected: &str) -> HostError {
        let key = String::from_utf8_lossy(&self.key);
        HostError::new(format!(
            "git's configuration: `{key}` has another value than expected: {expected}"
        ))
    }
}

/// The entries of the file `path` whose bytes are `content`, less the sections without a part in this.
///
/// # Errors
/// A syntax that git does not know, a NUL, at which git would cut, and a key or value of more than 32 KiB.
pub(super) fn parse(path: &Path, content: &[u8]) -> Result<Vec<Entry>, HostError> {
    let refused = |line: usize, why: &str| {
        HostError::new(format!(
            "git's configuration `{}`, line {line}: {why}",
            path.display()
        ))
    };
    if let Some(position) = content.iter().position(|byte| *byte == 0) {
        let lines = content
            .iter()
            .take(position)
            .filter(|byte| **byte == b'\n')
            .count();
        return Err(refused(lines + 1, "a NUL, expected text"));
    }
    let events = Events::from_bytes(content, None)
        .map_err(|error| refused(error.line_number(), "expected a section, or a key and its value"))?;
    let mut entries = Vec::new();
    for section in events.sections() {
        let EventRef::SectionHeader {
            name,
            separator,
            subsection_name,
        } = section.header()
        else {
            continue;
        };
        let prefix = prefix(
            name,
            separator.map(|text| &**text),
            subsection_name.map(|text| &**text),
        );
        let known = prefix.split(|byte| *byte == b'.').next();
        if known.is_some_and(|known| SECTIONS.contains(&known)) {
            collect(section.body(), &prefix, &mut entries);
        }
    }
    let is_long = |entry: &&Entry| {
        let value = entry.value.as_deref().unwrap_or_default();
        entry.key.len().max(value.len()) > MAX_ENTRY_BYTES
    };
    match entries.iter().find(is_long) {
        None => Ok(entries),
        Some(_) => Err(HostError::new(format!(
            "git's configuration `{}` has a key or a value of more than {MAX_ENTRY_BYTES} bytes",
            path.display()
        ))),
    }
}

/// The keys' part before the name. The form `[section.subsection]` is in lower case throughout.
fn prefix(name: &[u8], separator: Option<&[u8]>, subsection: Option<&[u8]>) -> Vec<u8> {
    let mut prefix = name.to_ascii_lowercase();
    if let Some(subsection) = subsection {
        prefix.push(b'.');
        if separator == Some(b".") {
            prefix.extend(subsection.to_ascii_lowercase());
        } else {
            prefix.extend_from_slice(subsection);
        }
    }
    prefix
}

fn collect<'a>(events: impl Iterator<Item = EventRef<'a>>, prefix: &[u8], entries: &mut Vec<Entry>) {
    let mut key = Vec::new();
    let mut has_value = false;
    let mut raw = Vec::new();
    for event in events {
        match event {
            EventRef::SectionValueName(name) => {
                key = [prefix, b".", &name.to_ascii_lowercase()].concat();
                has_value = false;
                raw.clear();
            }
            EventRef::KeyValueSeparator => has_value = true,
            EventRef::ValueNotDone(part) => raw.extend_from_slice(part),
            EventRef::Value(part) | EventRef::ValueDone(part) => {
                raw.extend_from_slice(part);
                entries.push(Entry {
                    key: std::mem::take(&mut key),
                    value: has_value.then(|| normalize(raw.as_slice()).into_owned().into()),
                });
            }
            EventRef::Comment { .. }
            | EventRef::SectionHeader { .. }
            | EventRef::Newline(_)
            | EventRef::Whitespace(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
