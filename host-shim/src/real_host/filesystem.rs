//! Paths on the disk, resolved as the kernel resolves them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use callgate_engine::host::{HostError, RealpathError};

/// The most symbolic links that one resolution follows, as in Linux (`path_resolution(7)`).
const MAX_LINKS: u32 = 40;

/// The canonical form of `path`.
pub(super) fn realpath(path: &str) -> Result<Cow<'_, str>, RealpathError> {
    if path.len() >= PATH_MAX {
        return Err(RealpathError::Other);
    }
    match without_links(Path::new(path)) {
        Some(Ok(())) => Ok(Cow::Borrowed(path)),
        Some(Err(error)) => Err(error),
        None => match walk(path.as_bytes())?.into_os_string().into_string() {
            Ok(real) => Ok(Cow::Owned(real)),
            Err(_) => Err(RealpathError::NotUtf8),
        },
    }
}

/// Bytes of a path for which the kernel answers `ENAMETOOLONG`, whatever exists of it (`limits.h`).
const PATH_MAX: usize = if cfg!(target_os = "linux") { 4_096 } else { 1_024 };

/// The same for a path that need not be UTF-8.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, RealpathError> {
    match without_links(path) {
        Some(Ok(())) => Ok(path.to_owned()),
        Some(Err(error)) => Err(error),
        None => walk(path.as_os_str().as_bytes()),
    }
}

/// The target of the link at `path`, as written.
pub(super) fn read_link(path: &str) -> Result<Option<String>, HostError> {
    if is_absent(Path::new(path)) {
        return Ok(None);
    }
    let refused = |why: &str| HostError::new(format!("the link `{path}` cannot be read: {why}"));
    let (Some(parent), Some(name)) = (Path::new(path).parent(), Path::new(path).file_name()) else {
        return Ok(None);
    };
    let link = match canonical(parent) {
        Ok(parent) => parent.join(name),
        Err(RealpathError::NotFound) => return Ok(None),
        Err(RealpathError::Loop) => return Err(refused("too many links lead to it")),
        Err(RealpathError::Denied) => return Err(refused("permission denied")),
        Err(RealpathError::NotUtf8 | RealpathError::Other) => {
            return Err(refused("its directory cannot be resolved"));
        }
        Err(RealpathError::Host(error)) => return Err(error),
    };
    if is_process_relative(&link) {
        return Err(refused("it means something else in another process"));
    }
    match fs::read_link(&link) {
        Ok(target) => match target.into_os_string().into_string() {
            Ok(target) => Ok(Some(target)),
            Err(_) => Err(refused("its target is not UTF-8")),
        },
        Err(error)
            if is_not_a_link(&error) || RealpathError::from(error.kind()) == RealpathError::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(refused(&error.to_string())),
    }
}

/// Returns `true` if `path` is an existing directory; `None` if that is not certain.
pub(super) fn is_directory(path: &str) -> Option<bool> {
    match canonical(Path::new(path)) {
        Ok(real) => Some(fs::symlink_metadata(real).ok()?.is_dir()),
        Err(RealpathError::NotFound) => Some(false),
        Err(
            RealpathError::Loop
            | RealpathError::Denied
            | RealpathError::NotUtf8
            | RealpathError::Other
            | RealpathError::Host(_),
        ) => None,
    }
}

/// Resolves a path without links, which is its own canonical form, with a single system call.
///
/// Returns `None` if the walk by components has to decide.
#[cfg(target_os = "linux")]
fn without_links(path: &Path) -> Option<Result<(), RealpathError>> {
    use rustix::fs::OFlags;
    use rustix::io::Errno;

    match opened(path, OFlags::empty())? {
        Ok(()) => Some(Ok(())),
        Err(Errno::NOENT | Errno::NOTDIR) => Some(Err(RealpathError::NotFound)),
        // There is a link, or the kernel or a sandbox does not offer the call. The walk finds out.
        Err(_) => None,
    }
}

/// Returns `true` if neither a link nor anything else stands at the path, by a single system call; `false` says nothing.
#[cfg(target_os = "linux")]
fn is_absent(path: &Path) -> bool {
    use rustix::fs::OFlags;
    use rustix::io::Errno;

    matches!(
        opened(path, OFlags::NOFOLLOW),
        Some(Err(Errno::NOENT | Errno::NOTDIR))
    )
}

/// Opens a path and closes it again, and refuses to follow a link in any part of it. Returns `None` for a path that is not in
/// normal form, or that means something else in another process.
#[cfg(target_os = "linux")]
fn opened(path: &Path, flags: rustix::fs::OFlags) -> Option<rustix::io::Result<()>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

    let bytes = path.as_os_str().as_bytes();
    let is_normalized = bytes.strip_prefix(b"/").is_some_and(|names| {
        !names
            .split(|byte| *byte == b'/')
            .any(|name| matches!(name, b"" | b"." | b".."))
    });
    if !is_normalized || bytes.contains(&0) || is_process_relative(path) {
        return None;
    }
    // O_PATH does not open the file: it triggers no device or FIFO, and needs no permission on the file.
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    Some(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).map(drop))
}

#[cfg(not(target_os = "linux"))]
fn without_links(_path: &Path) -> Option<Result<(), RealpathError>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn is_absent(_path: &Path) -> bool {
    false
}

/// Walks the path as the kernel does (`path_resolution(7)`), component by component, reading every link.
fn walk(path: &[u8]) -> Result<PathBuf, RealpathError> {
    if path.first() != Some(&b'/') || path.contains(&0) {
        return Err(RealpathError::Other);
    }
    // INVARIANT: `reached` is canonical: it contains no link, and everything that was looked up in it exists.
    let mut reached = PathBuf::from("/");
    let mut rest = path.to_vec();
    let mut links = 0;
    while !rest.is_empty() {
        let (component, after) = split_component(&rest);
        match component {
            b"" | b"." => require_directory(&reached)?,
            b".." => {
                require_directory(&reached)?;
                reached.pop();
            }
            name => {
                reached.push(OsStr::from_bytes(name));
                if is_process_relative(&reached) {
                    return Err(RealpathError::Other);
                }
                if let Some(target) = link_target(&reached)? {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(RealpathError::Loop);
                    }
                    if is_process_link(&reached, &target) {
                        return Err(RealpathError::Other);
                    }
                    reached.pop();
                    if target.first() == Some(&b'/') {
                        reached = PathBuf::from("/");
                    }
                    rest = [target.as_slice(), after].concat();
                    continue;
                }
            }
        }
        let done = rest.len() - after.len();
        rest.drain(..done);
    }
    Ok(reached)
}

/// Splits `rest` after its first component. The remainder is empty or starts with `/`.
///
/// The component is empty if `rest` consists of `/` only; the path so far must then be a directory.
fn split_component(rest: &[u8]) -> (&[u8], &[u8]) {
    let start = rest.iter().take_while(|byte| **byte == b'/').count();
    let (_, rest) = rest.split_at(start);
    let length = rest.iter().take_while(|byte| **byte != b'/').count();
    rest.split_at(length)
}

fn link_target(path: &Path) -> Result<Option<Vec<u8>>, RealpathError> {
    match fs::read_link(path) {
        // POSIX lets a link be empty; following it finds nothing.
        Ok(target) if target.as_os_str().is_empty() => Err(RealpathError::NotFound),
        Ok(target) => Ok(Some(target.into_os_string().into_vec())),
        Err(error) if is_not_a_link(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes sure that `path` is a directory that may be searched, by having the kernel look up a name in it.
fn require_directory(path: &Path) -> Result<(), RealpathError> {
    if path == Path::new("/") {
        return Ok(());
    }
    match fs::symlink_metadata(path.join(".")) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns `true` if the error says that the file is not a symbolic link (`readlink(2)`). A NUL in the path would give
/// the same error, but such paths never get here.
fn is_not_a_link(error: &Error) -> bool {
    error.kind() == ErrorKind::InvalidInput
}

/// The core's error for an error of the standard library about a path, a loop of links included: for hosts that read a
/// disk themselves.
pub fn realpath_error(error: &Error) -> RealpathError {
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::LOOP) => RealpathError::Loop,
        Some(rustix::io::Errno::ILSEQ) => RealpathError::NotUtf8,
        _ => error.kind().into(),
    }
}

/// Returns `true` if the path is or lies in a directory that differs by process (`proc(5)`).
fn is_process_relative(path: &Path) -> bool {
    if path.starts_with("/dev/fd") {
        return true;
    }
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    rest.components().next().is_some_and(|first| {
        let name = first.as_os_str().as_bytes();
        name == b"self" || name == b"thread-self" || name.iter().all(u8::is_ascii_digit)
    })
}

/// Returns `true` if the link at `path` is `self` or `thread-self` of a proc filesystem, wherever it is mounted.
fn is_process_link(path: &Path, target: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    match path.file_name().map(OsStr::as_bytes) {
        Some(b"self") => is_number(target),
        Some(b"thread-self") => target.split(|byte| *byte == b'/').next().is_some_and(is_number),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests;
