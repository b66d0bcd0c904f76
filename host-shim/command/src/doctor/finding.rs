//! What was found.

use serde::Serialize;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Standing {
    Right,
    /// Worth knowing.
    Note,
    Doubtful,
    Wrong,
}

/// One thing, and how it stands.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) about: String,
    pub(super) standing: Standing,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<String>,
}

impl Finding {
    pub(super) fn new(about: String, standing: Standing, message: String) -> Self {
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

    pub(super) fn helped(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}
