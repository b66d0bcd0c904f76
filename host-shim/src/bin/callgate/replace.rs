//! Writing a file that is there already.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Writes a file so that there is the old text or the new one, whatever happens. A link stays one.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    replace_with(path, text, 0o7777)
}

/// The same for a text that holds secrets: the file is this user's alone to read.
#[cfg(feature = "guard")]
pub(crate) fn replace_secret(path: &Path, text: &str) -> std::io::Result<()> {
    replace_with(path, text, 0o600)
}

fn replace_with(path: &Path, text: &str, most: u32) -> std::io::Result<()> {
    let place = match path.canonicalize() {
        Ok(place) => place,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let mut name = place.file_name().unwrap_or_default().to_owned();
    // Hooks and guards protect what ends like this: whoever is killed here leaves a text with all its secrets.
    name.push(format!(".{}.new.callgate", std::process::id()));
    let new = place.with_file_name(name);
    let written = write_new(&new, &place, text, most).and_then(|()| fs::rename(&new, &place));
    if written.is_err() {
        // The new file is of no use; the error that is reported says why.
        let _ = fs::remove_file(&new);
    }
    written
}

fn write_new(new: &Path, old: &Path, text: &str, most: u32) -> std::io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o666 & most)
        .open(new)?;
    if let Ok(found) = fs::metadata(old) {
        file.set_permissions(Permissions::from_mode(found.mode() & most))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
