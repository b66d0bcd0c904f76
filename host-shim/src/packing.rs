//! A bundle with every file that it names, read to be carried elsewhere.

use std::path::Path;

use callgate_engine::bundle::read_bundle;

use crate::bundle::{BUNDLE_FILE, BundleTexts, folder_of};
use crate::documents::{Fault, read_text};
use crate::gate::GateError;

impl BundleTexts {
    /// Reads the bundle at `path` with every file of a document that it names. Files of scenarios are not among them.
    ///
    /// # Errors
    /// When a file cannot be read, or is not the text of any document.
    pub fn read(path: &Path) -> Result<Self, GateError> {
        let named = path.parent().unwrap_or(Path::new(""));
        let folder = folder_of(named).map_err(|reason| GateError::Unreadable {
            file: path.display().to_string(),
            reason,
        })?;
        let own = text_of(path, "bundle")?;
        let mut files = vec![(BUNDLE_FILE.to_owned(), own)];
        let named_files = files.first().map(|(_, text)| read_bundle(text).files);
        for one in named_files.unwrap_or_default() {
            if files.iter().all(|(name, _)| *name != one.path) {
                let text = text_of(&named.join(&one.path), one.kind.as_str())?;
                files.push((one.path, text));
            }
        }
        Ok(Self {
            place: path.display().to_string(),
            folder: Some(folder),
            files,
        })
    }
}

fn text_of(path: &Path, kind: &str) -> Result<String, GateError> {
    read_text(path, kind)?.map_err(|diagnostic| {
        let file = Some(path.display().to_string());
        GateError::Refused(vec![Fault::new(file, diagnostic)])
    })
}
