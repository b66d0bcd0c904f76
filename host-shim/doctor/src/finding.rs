//! What was found.

use serde::Serialize;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// As it should be.
    Right,
    /// Worth knowing.
    Note,
    /// It may be meant so.
    Doubtful,
    /// It has to be mended.
    Wrong,
}

/// One thing, and how it stands.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The thing.
    pub about: String,
    /// How it stands.
    pub standing: Standing,
    /// What was found.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// What to do about it.
    pub help: Option<String>,
}

impl Finding {
    /// Something that was found.
    pub fn new(about: String, standing: Standing, message: String) -> Self {
        Self {
            about,
            standing,
            message,
            help: None,
        }
    }

    pub(super) fn wrong(about: &str, message: String) -> Self {
        Self::new(about.to_owned(), Standing::Wrong, message)
    }

    /// The same with what to do about it.
    pub fn helped(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}
