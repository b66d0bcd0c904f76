//! The file that annotations are added to.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_authoring::draft::{Held, missing_annotations};

use crate::replace::replace;
use crate::terminal::Failure;

/// A file of annotations, or a bundle that holds them.
pub(super) struct Target {
    path: PathBuf,
    /// `None` if the file does not exist yet.
    text: Option<String>,
    /// Where the annotations are in the text.
    held: Held,
    /// The bundle that was given, if one was.
    bundle: Option<PathBuf>,
}

impl Target {
    /// Reads the file. If it is a bundle that names the file of its annotations, that file is meant.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let text = read(path)?;
        let held = text.as_deref().map_or(Held::Whole, Held::by);
        let (path, text, held, bundle) = match held {
            Held::Whole => (path.to_owned(), text, Held::Whole, None),
            Held::Within(_) => (path.to_owned(), text, held, Some(path.to_owned())),
            Held::Named(named) => {
                let named = path.parent().unwrap_or(Path::new("")).join(named);
                let text = read(&named)?;
                (named, text, Held::Whole, Some(path.to_owned()))
            }
            Held::Missing => {
                return Err(Failure::Invalid(missing_annotations(&path.display().to_string())));
            }
        };
        Ok(Self {
            path,
            text,
            held,
            bundle,
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
        self.held.of(self.text.as_deref()?)
    }

    /// Writes the annotations where they were, and says what was done.
    pub(super) fn write(&self, annotations: &str) -> Result<String, Failure> {
        let shown = self.path.display();
        if self.annotations() == Some(annotations) {
            return Ok(format!("`{shown}` has it all already"));
        }
        let text = self
            .held
            .replaced(self.text.as_deref().unwrap_or_default(), annotations);
        replace(&self.path, &text)
            .map_err(|error| Failure::Fault(format!("cannot write `{shown}`: {error}")))?;
        Ok(format!("wrote `{shown}`"))
    }
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::Fault(format!(
            "cannot read `{}`: {error}",
            path.display()
        ))),
    }
}
