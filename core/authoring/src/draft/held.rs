//! The file that annotations are added to.

use std::ops::Range;

use callgate_engine::document::without_comments;
use callgate_jsontext::place_of;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Where the annotations are that the text of a file is, holds or names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The text is they. So is one that is not JSON, which is refused where annotations are read, with its place.
    Whole,
    /// The text is a bundle that names their file.
    Named(String),
    /// The text is a bundle, and they are this part of it, in bytes.
    Within(Range<usize>),
    /// The text is a bundle without any.
    Missing,
}

/// Members that the file may have: `annotations` and the like if it is a bundle, `servers` if it is annotations.
#[derive(Deserialize)]
struct Keys<'t> {
    #[serde(borrow)]
    annotations: Option<&'t RawValue>,
    #[serde(borrow)]
    policy: Option<&'t RawValue>,
    #[serde(borrow)]
    servers: Option<&'t RawValue>,
}

impl Held {
    /// Looks at the text of a file.
    pub fn by(text: &str) -> Self {
        // Comments leave every place as it is.
        let json = without_comments(text);
        let Ok(keys) = serde_json::from_str::<Keys<'_>>(&json) else {
            return Self::Whole;
        };
        let is_bundle = keys.servers.is_none() && (keys.annotations.is_some() || keys.policy.is_some());
        if !is_bundle {
            return Self::Whole;
        }
        let Some(annotations) = keys.annotations else {
            return Self::Missing;
        };
        if let Ok(Value::String(named)) = serde_json::from_str(annotations.get()) {
            return Self::Named(named);
        }
        place_of(&json, annotations.get()).map_or(Self::Missing, Self::Within)
    }

    /// The annotations that are in the text; none in one that is empty.
    pub fn of<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Whole => Some(text),
            Self::Within(part) => text.get(part.clone()),
            Self::Named(_) | Self::Missing => None,
        }
    }

    /// The text with these annotations in their place.
    pub fn replaced(&self, text: &str, annotations: &str) -> String {
        let mut text = text.to_owned();
        match self {
            // Annotations within a bundle have no line end of their own.
            Self::Within(part) => text.replace_range(part.clone(), annotations.trim_end()),
            Self::Whole | Self::Named(_) | Self::Missing => annotations.clone_into(&mut text),
        }
        text
    }
}

/// What is said of a bundle without annotations, which has this path.
pub fn missing_annotations(path: &str) -> String {
    format!(
        "the bundle `{path}` has no `annotations`, expected the path of their file, `\"annotations\": \"annotations.json\"`, or the \
         annotations themselves"
    )
}
