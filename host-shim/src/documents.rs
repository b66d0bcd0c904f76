//! The documents of a gate: where each comes from, and what is wrong with it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::{Diagnostic, Severity};
use callgate_engine::document::{MOST_FILE_BYTES, document_text, without_comments};
use serde::Serialize;
use serde_json::Value;

/// A diagnostic, and the file that holds the document which it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file; none for a document that was given as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The fault and its place in the document.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
}

impl Fault {
    pub(crate) fn new(file: Option<String>, diagnostic: Diagnostic) -> Self {
        Self { file, diagnostic }
    }

    /// Returns `true` if the document is refused for it, even when loading is not strict.
    pub fn is_error(&self) -> bool {
        self.diagnostic.severity == Severity::Error
    }
}

/// `policy.json:4:12: error[unknown-role] at policy.rules[0].if.roles[0]: … (help: …)`
impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            let space = if self.diagnostic.position.is_some() {
                ""
            } else {
                " "
            };
            write!(formatter, "{file}:{space}")?;
        }
        self.diagnostic.fmt(formatter)
    }
}

/// Where the text of a part is.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Here; `file` is where it stood.
    Text { text: String, file: Option<String> },
    /// In a file that was not opened yet.
    File(PathBuf),
}

/// A document that a gate was built from.
#[derive(Clone, Debug)]
pub struct Document {
    /// The part of the configuration that it is.
    pub part: DocumentKind,
    /// Its text, as JSON without comments.
    pub text: String,
    /// The file that it was read from.
    pub file: Option<String>,
}

/// A document of an engine, which has read it before; `None` if it has none.
pub(crate) fn read_before(documents: &[Document], part: DocumentKind) -> Option<Value> {
    let found = documents.iter().find(|document| document.part == part)?;
    serde_json::from_str(&without_comments(&found.text)).ok()
}

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) file: String,
    pub(crate) reason: String,
}

impl Source {
    /// The text; the inner error is what is wrong with a file that can be read.
    pub(crate) fn read(self, part: DocumentKind) -> Result<Result<Document, Fault>, Unread> {
        Ok(match self {
            Self::Text { text, file } => Ok(Document { part, text, file }),
            Self::File(path) => {
                let file = Some(path.display().to_string());
                match read_text(&path, part.as_str())? {
                    Ok(text) => Ok(Document { part, text, file }),
                    Err(diagnostic) => Err(Fault::new(file, diagnostic)),
                }
            }
        })
    }
}

/// Reads the file of the document called `name`.
pub(crate) fn read_text(path: &Path, name: &str) -> Result<Result<String, Diagnostic>, Unread> {
    let mut bytes = Vec::new();
    let most = MOST_FILE_BYTES as u64 + 1;
    match opened(path).and_then(|file| file.take(most).read_to_end(&mut bytes)) {
        Ok(_) => Ok(document_text(bytes, name)),
        Err(error) => Err(Unread {
            file: path.display().to_string(),
            reason: error.to_string(),
        }),
    }
}

/// Opens a document without waiting: a FIFO that nobody writes to would hold up whoever reads it, at every look.
fn opened(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    // A directory has an error of its own.
    match kind.is_file() || kind.is_dir() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}
