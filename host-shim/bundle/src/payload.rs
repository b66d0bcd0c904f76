//! What is signed: the documents, and what they are for.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::json::{self, Object};
use crate::refused::Refused;

const FORMAT: &str = "callgate-bundle/1";

/// The highest revision: the greatest whole number that every reader of JSON has.
const MOST_REVISION: u64 = (1 << 53) - 1;

/// The most files of a bundle; one has a dozen kinds of documents.
const MOST_FILES: usize = 64;

/// Bytes of the longest name of a bundle, which is the name of a file too.
const MOST_NAME: usize = 64;

/// Every document of a bundle, with its name, its revision and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    name: String,
    revision: u64,
    expires: Timestamp,
    files: Vec<NamedText>,
}

/// A file: its name as the bundle has it, and its text as it is.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NamedText {
    /// The name. Nothing is opened by it.
    pub name: String,
    /// The text.
    pub text: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    name: String,
    revision: u64,
    expires: String,
    files: Vec<Object<NamedText>>,
}

impl Payload {
    /// A bundle of these files, the first of which is the bundle's own, `callgate.json`.
    ///
    /// # Errors
    /// When a part is not what it must be.
    pub fn new(
        name: impl Into<String>,
        revision: u64,
        expires: Timestamp,
        files: Vec<NamedText>,
    ) -> Result<Self, Refused> {
        let payload = Self {
            name: name.into(),
            revision,
            expires,
            files,
        };
        payload.checked().map_err(Refused::BadPayload)
    }

    pub(crate) fn read(text: &[u8]) -> Result<Self, Refused> {
        Self::of_json(text).map_err(Refused::BadPayload)
    }

    fn of_json(text: &[u8]) -> Result<Self, String> {
        let written: Written = json::read(text).map_err(|error| error.to_string())?;
        if written.format != FORMAT {
            let found = written.format.escape_debug();
            return Err(format!("`format` is `{found}`, expected `{FORMAT}`"));
        }
        let expires: Option<Timestamp> = written.expires.parse().ok();
        // The same moment has many spellings, and not every reader has all of them.
        let expires = expires.filter(|expires| expires.to_string() == written.expires);
        let expires = expires.ok_or_else(|| {
            let found = written.expires.escape_debug();
            format!("`expires` is `{found}`, expected a time in UTC as RFC 3339 has it, such as `2030-01-31T00:00:00Z`")
        })?;
        let payload = Self {
            name: written.name,
            revision: written.revision,
            expires,
            files: written.files.into_iter().map(|Object(file)| file).collect(),
        };
        payload.checked()
    }

    fn checked(self) -> Result<Self, String> {
        if !is_name(&self.name) {
            let found = self.name.escape_debug();
            return Err(format!(
                "`name` is `{found}`, expected at most {MOST_NAME} of a-z, 0-9, `.`, `_` and `-`, the first a letter or a digit"
            ));
        }
        if !(1..=MOST_REVISION).contains(&self.revision) {
            return Err(format!(
                "`revision` is `{}`, expected a whole number from 1 to {MOST_REVISION}",
                self.revision
            ));
        }
        if !(1..=MOST_FILES).contains(&self.files.len()) {
            return Err(format!(
                "{} `files`, expected 1 to {MOST_FILES}",
                self.files.len()
            ));
        }
        for (at, file) in self.files.iter().enumerate() {
            let earlier = self.files.iter().take(at);
            let found = file.name.escape_debug();
            if earlier.into_iter().any(|earlier| earlier.name == file.name) {
                return Err(format!(
                    "`files[{at}].name` is `{found}`, which is the name of an earlier file too"
                ));
            }
            if file.name.is_empty() || file.name.contains(char::is_control) {
                return Err(format!(
                    "`files[{at}].name` is `{found}`, expected the name of a file"
                ));
            }
        }
        Ok(self)
    }

    /// The name: who or what the bundle is for. Revisions are counted under it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The revision, which only grows.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The time from which on the bundle is not used.
    pub fn expires(&self) -> Timestamp {
        self.expires
    }

    /// The files, the bundle's own first.
    pub fn files(&self) -> &[NamedText] {
        &self.files
    }

    pub(crate) fn to_json(&self) -> String {
        let files = self.files.iter().cloned().map(Object);
        json::write(&Written {
            format: FORMAT.to_owned(),
            name: self.name.clone(),
            revision: self.revision,
            expires: self.expires.to_string(),
            files: files.collect(),
        })
    }
}

/// The time that `30d` or `12h` from now is, or that RFC 3339 text says, in whole seconds.
///
/// # Errors
/// When the text is neither, with what was found and expected; or when the time is not later than now.
pub fn expiry(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let hours = [("d", 24), ("h", 1)].into_iter().find_map(|(unit, hours)| {
        let count: i64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(hours)
    });
    let found = match hours {
        Some(hours) => now.checked_add(SignedDuration::from_hours(hours)),
        None => text.parse(),
    };
    let found = found
        .ok()
        .and_then(|found| Timestamp::from_second(found.as_second()).ok());
    let shown = text.escape_debug();
    let found = found.ok_or_else(|| {
        format!("found `{shown}`, expected `30d`, `12h` or a time such as `2030-01-31T00:00:00Z`")
    })?;
    match found > now {
        true => Ok(found),
        false => Err(format!("found `{shown}`, expected a time later than {now:.0}")),
    }
}

/// Returns `true` if the text can be the name of a bundle, and so of a file in any directory.
pub fn is_name(text: &str) -> bool {
    let is_usual = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.len() <= MOST_NAME
        && bytes.first().is_some_and(is_usual)
        && bytes.iter().all(|byte| is_usual(byte) || b"._-".contains(byte))
}
