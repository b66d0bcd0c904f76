//! Compiled components on disk.
//!
//! A file is named after the digest of the component, the version of wasmtime and its settings. It holds machine code,
//! so it is used only where nobody else can have written it: the folder and the file belong to this user and are
//! writable by nobody else, and the file ends with its own digest.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const DIGEST: usize = 32;

/// Where compiled components are kept.
#[derive(Default)]
pub(crate) enum Cache {
    /// In the user's folder for caches.
    #[default]
    Usual,
    Folder(PathBuf),
    Nowhere,
}

impl Cache {
    pub(super) fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Usual => default_folder(),
            Self::Folder(folder) => Some(folder.clone()),
            Self::Nowhere => None,
        }
    }
}

/// `callgate` in the user's folder for caches; `None` where there is no home.
fn default_folder() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let given = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(absolute);
    let folder = given.or_else(|| {
        std::env::home_dir()
            .filter(absolute)
            .map(|home| home.join(".cache"))
    });
    folder.map(|folder| folder.join("callgate"))
}

/// The bytes that were kept under the name; `None` if there are none that can be trusted.
pub(super) fn read(folder: &Path, name: &str) -> Option<Vec<u8>> {
    if !is_private(&fs::symlink_metadata(folder).ok()?) {
        return None;
    }
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(folder.join(name))
        .ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || !is_private(&metadata) {
        return None;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (kept, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    if Sha256::digest(kept).as_slice() != digest {
        return None;
    }
    bytes.truncate(bytes.len() - DIGEST);
    Some(bytes)
}

/// Keeps the bytes under the name, whole or not at all.
pub(super) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if !is_private(&fs::symlink_metadata(folder)?) {
        return Err(io::Error::other("the folder is writable by others"));
    }
    let half = folder.join(format!("{name}.{}.new", std::process::id()));
    let written = write_new(&half, bytes).and_then(|()| fs::rename(&half, folder.join(name)));
    if written.is_err() {
        // A half-written file is never read; it would only take room.
        drop(fs::remove_file(&half));
    }
    written
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.write_all(&Sha256::digest(bytes))
}

/// Returns `true` if nobody else can have written it.
fn is_private(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_kept_is_read_again_unless_it_was_touched() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b");
        assert_eq!(read(&folder, "x"), None);
        write(&folder, "x", b"code").unwrap();
        assert_eq!(read(&folder, "x").as_deref(), Some(&b"code"[..]));
        assert_eq!(read(&folder, "y"), None);
        let file = folder.join("x");
        let kept = fs::read(&file).unwrap();

        #[track_caller]
        fn check(folder: &Path, trusted: bool) {
            assert_eq!(read(folder, "x").is_some(), trusted);
        }
        for at in [0, 3, 4, kept.len() - 1] {
            let mut changed = kept.clone();
            changed[at] ^= 1;
            fs::write(&file, changed).unwrap();
            check(&folder, false);
        }
        for length in [0, 4, 31, kept.len() - 1] {
            fs::write(&file, &kept[..length]).unwrap();
            check(&folder, false);
        }
        fs::write(&file, &kept).unwrap();
        check(&folder, true);
        for (path, mode) in [(&file, 0o620), (&folder, 0o777)] {
            let before = fs::metadata(path).unwrap().permissions();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            check(&folder, false);
            fs::set_permissions(path, before).unwrap();
            check(&folder, true);
        }
        fs::rename(&file, folder.join("z")).unwrap();
        std::os::unix::fs::symlink("z", &file).unwrap();
        check(&folder, false);
    }

    #[test]
    fn nothing_is_written_where_others_may_write() {
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(write(parent.path(), "x", b"code").is_err());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
