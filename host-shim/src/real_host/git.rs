//! The disk that `callgate-git` reads.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use callgate_core::{HostError, RealpathError};
use callgate_git::{Error, Files, Found, Kind};
use rustix::fs::{Access, OFlags, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::filesystem;

/// The disk of this machine.
pub(super) struct Disk;

/// Converts an error to one of the engine's.
pub(super) fn host_error(error: Error) -> HostError {
    HostError::new(error.message())
}

impl Files for Disk {
    fn real(&self, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        Ok(canonical(path)?.map(|path| path.into_os_string().into_vec()))
    }

    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        let metadata = match fs::symlink_metadata(as_path(path)) {
            Ok(metadata) => metadata,
            Err(error) if is_missing(error.kind()) => return Ok(None),
            Err(error) => return Err(Error::about(path, &error.to_string())),
        };
        let kind = if metadata.is_dir() {
            Kind::Directory
        } else if metadata.is_file() {
            Kind::File
        } else if metadata.is_symlink() {
            let target =
                fs::read_link(as_path(path)).map_err(|error| Error::about(path, &error.to_string()))?;
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
        let Some(real) = canonical(path)? else {
            return Ok(None);
        };
        if real == Path::new("/dev/null") {
            return Ok(Some(Vec::new()));
        }
        let refused = |error: std::io::Error| Error::about(path, &error.to_string());
        // Non-blocking, so that opening a FIFO returns at once.
        let file: File = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(&real)
            .map_err(refused)?;
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
            Err(error) => Err(Error::about(path, &error.to_string())),
        }
    }
}

fn canonical(path: &[u8]) -> Result<Option<PathBuf>, Error> {
    match filesystem::canonical(as_path(path)) {
        Ok(real) => Ok(Some(real)),
        Err(RealpathError::NotFound) => Ok(None),
        Err(RealpathError::Loop) => Err(Error::about(path, "too many links")),
        Err(RealpathError::Denied) => Err(Error::about(path, "permission denied")),
        Err(RealpathError::NotUtf8 | RealpathError::Other) => {
            Err(Error::about(path, "its directory cannot be resolved"))
        }
        Err(RealpathError::Host(error)) => Err(Error::new(error.message)),
    }
}

fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
