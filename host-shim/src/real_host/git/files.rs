//! Reading one of git's files, bounded.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use callgate_core::HostError;
use rustix::fs::OFlags;

/// The bytes that are read of one file, and of all configuration files of one question.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// The content of the file at `path`, `None` when there is none.
///
/// # Errors
/// When it cannot be read, is longer than [`MAX_BYTES`], or is neither a regular file nor `/dev/null`.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, HostError> {
    let refused = |why: &str| HostError::new(format!("git's `{}` cannot be read: {why}", path.display()));
    let Some(real) = super::canonical(path)? else {
        return Ok(None);
    };
    if real == Path::new("/dev/null") {
        return Ok(Some(Vec::new()));
    }
    // Not blocking, so that a FIFO put here answers at once.
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(&real)
        .map_err(|error| refused(&error.to_string()))?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(refused("not a regular file"));
    }
    let mut content = Vec::new();
    file.take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|error| refused(&error.to_string()))?;
    if content.len() > MAX_BYTES {
        return Err(refused(&format!("it is longer than {MAX_BYTES} bytes")));
    }
    Ok(Some(content))
}
