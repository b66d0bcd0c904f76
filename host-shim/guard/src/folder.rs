//! A folder of files that guards, hooks and commands share, and that only this user can write.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::locking::{self, PATIENCE};

/// The end of the names of files that are being written.
pub(super) const NEW: &str = ".new";

/// Bytes of the longest file that is read.
pub(super) const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A folder that only this user can write to.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// It cannot be made, is not this user's, or others may write to it.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        let folder = Self(path);
        folder.check()?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// # Errors
    /// The folder is not this user's alone to write to, or is gone.
    pub(super) fn check(&self) -> io::Result<()> {
        check_owner(&fs::metadata(&self.0)?, "the folder")
    }

    /// Locks a file, which is made, until what is given back is dropped.
    ///
    /// # Errors
    /// Another program keeps it locked, or it cannot be made.
    pub(super) fn lock(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        let lock = locking::open(&self.0.join(name), options, OFlags::NOFOLLOW)?;
        locking::lock(&lock, PATIENCE)?;
        Ok(lock)
    }

    /// The text of a file; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read, or others may write it.
    pub(super) fn text(&self, name: &str) -> io::Result<Option<String>> {
        self.check()?;
        let mut options = OpenOptions::new();
        let opened = locking::open(&self.0.join(name), options.read(true), OFlags::NOFOLLOW);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        check_owner(&file.metadata()?, "the file")?;
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    /// Puts a whole file there, or none.
    pub(super) fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let new = self.written(name, text)?;
        fs::rename(new, self.0.join(name))
    }

    /// A new file that no other writer has.
    pub(super) fn written(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        self.check()?;
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let new = self.0.join(format!("{name}.{}-{count}{NEW}", std::process::id()));
        create(&new)?.write_all(text.as_bytes())?;
        Ok(new)
    }
}

/// # Errors
/// Somebody else owns it, or may write to it: whoever writes there approves calls.
fn check_owner(found: &Metadata, what: &str) -> io::Result<()> {
    match found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(io::Error::new(
            ErrorKind::PermissionDenied,
            format!("{what} is not this user's alone to write to"),
        )),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}
