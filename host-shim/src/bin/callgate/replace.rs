//! Writing a file that is there already.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Writes a file so that there is the old text or the new one, whatever happens. A link stays one.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let place = match path.canonicalize() {
        Ok(place) => place,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = place.with_file_name(name);
    let written = write_new(&new, &place, text).and_then(|()| fs::rename(&new, &place));
    if written.is_err() {
        // What is left over is of no use; why it could not be used is reported.
        let _ = fs::remove_file(&new);
    }
    written
}

fn write_new(new: &Path, old: &Path, text: &str) -> std::io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(new)?;
    if let Ok(found) = fs::metadata(old) {
        file.set_permissions(found.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
