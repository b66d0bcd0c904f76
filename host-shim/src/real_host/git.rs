//! The disk that `callgate-git` reads.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use callgate_engine::host::HostError;
use callgate_git::{Error, Files, Found, Kind};
use rustix::fs::{Access, OFlags, access};
use rustix::io::Errno;
use rustix::process::geteuid;

/// The disk of this machine.
pub(super) struct Disk;

/// Converts an error to one of the engine's.
pub(super) fn host_error(error: Error) -> HostError {
    HostError::new(error.message())
}

impl Files for Disk {
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        let metadata = match fs::symlink_metadata(as_path(path)) {
            Ok(metadata) => metadata,
            Err(error) if is_missing(error.kind()) => return Ok(None),
            Err(error) => return Err(refused(path, &error)),
        };
        let kind = if metadata.is_dir() {
            Kind::Directory
        } else if metadata.is_file() {
            Kind::File
        } else if metadata.is_symlink() {
            let target = fs::read_link(as_path(path)).map_err(|error| refused(path, &error))?;
            Kind::Link(target.into_os_string().into_vec())
        } else {
            Kind::Other
        };
        Ok(Some(Found {
            kind,
            is_own: metadata.uid() == geteuid().as_raw(),
            device: metadata.dev(),
        }))
    }

    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let refused = |error| refused(path, &error);
        // Non-blocking, so that opening a FIFO returns at once.
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(as_path(path));
        let file: File = match opened {
            Ok(file) => file,
            Err(error) if is_missing(error.kind()) => return Ok(None),
            Err(error) => return Err(refused(error)),
        };
        if !file.metadata().map_err(refused)?.is_file() {
            return Err(Error::about(path, "not a regular file"));
        }
        let mut content = Vec::new();
        file.take(limit as u64)
            .read_to_end(&mut content)
            .map_err(refused)?;
        Ok(Some(content))
    }

    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
        match access(as_path(path), Access::EXEC_OK) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            // The tool server may run as another user, so this process cannot answer for it.
            Err(error) => Err(refused(path, &error.into())),
        }
    }
}

/// The error in words that are the same in the Node host.
fn refused(path: &[u8], error: &io::Error) -> Error {
    Error::about(
        path,
        match Errno::from_io_error(error) {
            Some(Errno::ACCESS | Errno::PERM) => "permission denied",
            Some(Errno::LOOP) => "too many links",
            Some(_) | None => "the disk failed",
        },
    )
}

fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
