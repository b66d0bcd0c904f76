//! The file that annotations are added to.

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use callgate_engine::document::without_comments;
use callgate_jsontext::place_of;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::replace::replace;
use crate::terminal::Failure;

/// A file of annotations, or a bundle that holds them.
pub(super) struct Target {
    path: PathBuf,
    /// `None` if the file does not exist yet.
    text: Option<String>,
    /// The part of the text that the annotations are.
    part: Range<usize>,
    /// The bundle that was given, if one was.
    bundle: Option<PathBuf>,
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

impl Target {
    /// Reads the file. If it is a bundle that names the file of its annotations, that file is meant.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let target = Self::read(path)?;
        let text = target.text.as_deref().unwrap_or_default();
        // Text that is not JSON is refused where annotations are read, with its place. Comments leave every place as it is.
        let json = without_comments(text);
        let Ok(keys) = serde_json::from_str::<Keys<'_>>(&json) else {
            return Ok(target);
        };
        let is_bundle = keys.servers.is_none() && (keys.annotations.is_some() || keys.policy.is_some());
        let Some(annotations) = keys.annotations.filter(|_| is_bundle) else {
            return if is_bundle {
                let message = format!(
                    "the bundle `{}` has no `annotations`, expected the path of their file, `\"annotations\": \"annotations.json\"`, or \
                     the annotations themselves",
                    path.display()
                );
                Err(Failure::Invalid(message))
            } else {
                Ok(target)
            };
        };
        if let Ok(Value::String(named)) = serde_json::from_str(annotations.get()) {
            let named = Self::read(&path.parent().unwrap_or(Path::new("")).join(named))?;
            let bundle = Some(path.to_owned());
            return Ok(Self { bundle, ..named });
        }
        let part = place_of(&json, annotations.get());
        let part = part.ok_or_else(|| Failure::Fault(format!("`{}` cannot be edited", path.display())))?;
        let bundle = Some(path.to_owned());
        Ok(Self {
            part,
            bundle,
            ..target
        })
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Failure::Fault(format!(
                    "cannot read `{}`: {error}",
                    path.display()
                )));
            }
        };
        Ok(Self {
            path: path.to_owned(),
            part: 0..text.as_ref().map_or(0, String::len),
            text,
            bundle: None,
        })
    }

    /// The bundle that holds the annotations, or names them.
    pub(super) fn bundle(&self) -> Option<&Path> {
        self.bundle.as_deref()
    }

    /// Returns `true` if the bundle holds the annotations itself.
    pub(super) fn is_within_bundle(&self) -> bool {
        self.bundle.as_ref() == Some(&self.path)
    }

    /// The annotations that are there.
    pub(super) fn annotations(&self) -> Option<&str> {
        self.text.as_deref()?.get(self.part.clone())
    }

    /// Writes the annotations where they were, and says what was done.
    pub(super) fn write(&self, annotations: &str) -> Result<String, Failure> {
        let shown = self.path.display();
        let old = self.text.as_deref().unwrap_or_default();
        if self.annotations() == Some(annotations) {
            return Ok(format!("`{shown}` has it all already"));
        }
        let mut text = old.to_owned();
        // Annotations within a bundle have no line end of their own.
        let annotations = if self.part == (0..old.len()) {
            annotations
        } else {
            annotations.trim_end()
        };
        text.replace_range(self.part.clone(), annotations);
        replace(&self.path, &text)
            .map_err(|error| Failure::Fault(format!("cannot write `{shown}`: {error}")))?;
        Ok(format!("wrote `{shown}`"))
    }
}
