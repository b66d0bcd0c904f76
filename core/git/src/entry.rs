//! An entry of git's configuration: a key and its value.

use crate::files::Error;

/// One entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The whole key, `section.subsection.name`, with the section and the name in lower case.
    pub(crate) key: Vec<u8>,
    /// `None` for a key without `=`.
    pub(crate) value: Option<Vec<u8>>,
}

impl Entry {
    /// The key as section, subsection and name (`parse_config_key`): the section ends at the first dot, and the name
    /// starts after the last.
    pub(crate) fn parts(&self) -> (&[u8], Option<&[u8]>, &[u8]) {
        let mut ends = self.key.splitn(2, |byte| *byte == b'.');
        let section = ends.next().unwrap_or_default();
        let mut rest = ends.next().unwrap_or_default().rsplitn(2, |byte| *byte == b'.');
        let name = rest.next().unwrap_or_default();
        (section, rest.next(), name)
    }

    /// The value, if the key must have one.
    pub(crate) fn required(&self) -> Result<&[u8], Error> {
        self.value.as_deref().ok_or_else(|| self.refused("a value"))
    }

    /// The value as git's boolean (`git-config(1)`, "Values").
    pub(crate) fn boolean(&self) -> Result<bool, Error> {
        let Some(value) = &self.value else {
            return Ok(true);
        };
        match value.to_ascii_lowercase().as_slice() {
            b"true" | b"yes" | b"on" => Ok(true),
            b"false" | b"no" | b"off" | b"" => Ok(false),
            number => Ok(integer(number).ok_or_else(|| self.refused("a boolean"))? != 0),
        }
    }

    /// The value as a number.
    ///
    /// # Errors
    /// Git would refuse it, or it is not a decimal number.
    pub(crate) fn integer(&self) -> Result<i32, Error> {
        integer(self.required()?).ok_or_else(|| self.refused("a number"))
    }

    /// The error for a value that is not as `expected`.
    pub(crate) fn refused(&self, expected: &str) -> Error {
        let key = String::from_utf8_lossy(&self.key);
        Error::new(format!(
            "git's configuration has an unexpected value for `{key}`, expected {expected}"
        ))
    }
}

/// Parses a decimal number. Git also accepts octal, hexadecimal and units, which nobody writes for these keys.
fn integer(text: &[u8]) -> Option<i32> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_decimal = digits.iter().all(u8::is_ascii_digit) && !(digits.len() > 1 && digits.starts_with(b"0"));
    if !is_decimal {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
