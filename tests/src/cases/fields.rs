//! The members of a case, taken one by one; one that is left over is an error.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The members that have not been taken.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    /// Takes a required member.
    pub(super) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, String> {
        let value = self.optional(key)?;
        value.ok_or_else(|| format!("`{key}` is missing"))
    }

    /// Takes a member that may be missing or `null`.
    pub(super) fn optional<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, String> {
        let Some(text) = self.0.remove(key) else {
            return Ok(None);
        };
        serde_json::from_str(text.get()).map_err(|error| format!("`{key}`: {error}"))
    }

    /// Takes the JSON text of a required member, exactly as written.
    pub(super) fn text(&mut self, key: &str) -> Result<String, String> {
        let text = self.optional_text(key);
        text.ok_or_else(|| format!("`{key}` is missing"))
    }

    /// Takes the JSON text of a member that may be missing.
    pub(super) fn optional_text(&mut self, key: &str) -> Option<String> {
        self.0.remove(key).map(|text| text.get().to_owned())
    }

    /// Returns `true` if the member has not been taken.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// # Errors
    /// A member is left over.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.0.keys().next() {
            Some(key) => Err(format!("`{key}` is not expected here")),
            None => Ok(()),
        }
    }
}
