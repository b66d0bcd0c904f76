//! Files that several programs write: locked for a moment, and not waited for without end.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};

/// How long a lock is waited for that another program has. Guards hold one for less than a millisecond.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// How often it is tried again.
const AGAIN: Duration = Duration::from_millis(2);

/// Opens a file without waiting for whoever is at the other end, as one does with a FIFO.
///
/// # Errors
/// It cannot be opened, or is not a regular file.
pub(super) fn open(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    }
}

/// Locks a file for this program alone.
///
/// # Errors
/// Another program has it locked all the time, or it cannot be locked.
pub(super) fn lock(file: &File, patience: Duration) -> io::Result<()> {
    let deadline = Instant::now() + patience;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(_) if Instant::now() >= deadline => {
                let reason = format!(
                    "another program has had it locked for {} s",
                    patience.as_secs_f32()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, reason));
            }
            Err(_) => thread::sleep(AGAIN),
        }
    }
}
