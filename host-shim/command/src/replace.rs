//! Reading and writing a file that is there already.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Reads a file without waiting: a FIFO that nobody writes to would hold the command up.
pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    opened(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The same for the first bytes of a file.
pub(crate) fn read_most(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn opened(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

/// Writes a file so that there is the old text or the new one, whatever happens. A link stays one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_with(path, text, 0o7777)
}

/// The same for a text that holds secrets: the file is this user's alone to read.
pub(crate) fn replace_secret(path: &Path, text: &str) -> io::Result<()> {
    replace_with(path, text, 0o600)
}

fn replace_with(path: &Path, text: &str, most: u32) -> io::Result<()> {
    let place = match path.canonicalize() {
        Ok(place) => place,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let new = beside(&place);
    let written = write_new(&new, &place, text, most).and_then(|()| fs::rename(&new, &place));
    if written.is_err() {
        // The new file is of no use; the error that is reported says why.
        let _ = fs::remove_file(&new);
    }
    written
}

/// The place of the new text until it is whole. Hooks and guards protect what ends like this: whoever is killed here leaves a
/// text with all its secrets.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new.callgate", std::process::id()));
    place.with_file_name(name)
}

fn write_new(new: &Path, old: &Path, text: &str, most: u32) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_leaves_has_the_protected_name() {
        let new = beside(Path::new("/home/u/.mcp.json"));
        let name = new.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        assert_eq!(new.parent(), Some(Path::new("/home/u")));
        // The pattern that guards and hooks protect: `.mcp.json.*.new.callgate`.
        let process = name
            .strip_prefix(".mcp.json.")
            .and_then(|rest| rest.strip_suffix(".new.callgate"));
        assert!(
            process.is_some_and(|process| process.parse::<u32>().is_ok()),
            "{name}"
        );

        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a");
        replace(&place, "text").unwrap();
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .map(|one| one.file_name())
            .collect();
        assert_eq!(left, ["a"]);
    }
}
