//! Paths without links, walked as the kernel walks them (`path_resolution(7)`).

use crate::files::{Error, Found, Kind};
use crate::steps::Steps;

/// The symbolic links that one resolution follows, as in Linux.
const MAX_LINKS: usize = 40;

/// The treatment of a link that is the last name of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Followed,
    /// It need not be there either.
    Kept,
}

/// The file at a path whose directory is canonical.
type Look<'l> = &'l dyn Fn(&[u8]) -> Result<Option<Found>, Error>;

/// The canonical form of an absolute path; `None` if nothing is there.
///
/// # Errors
/// There are too many links, a directory may not be looked at, or the path means something else in every process.
pub(crate) fn walk(look: Look<'_>, steps: &Steps, path: &[u8], last: Last) -> Result<Option<Vec<u8>>, Error> {
    let other = || Error::about(path, "its directory cannot be resolved");
    // INVARIANT: `reached` has no link and no slash at its end, and what was looked at in it is there.
    let mut reached: Vec<u8> = Vec::new();
    let mut rest = path.to_vec();
    let mut links = 0;
    let mut start = 0;
    while start < rest.len() {
        let text = rest.split_at(start).1;
        let slashes = text.iter().take_while(|byte| **byte == b'/').count();
        let name = text.split_at(slashes).1.split(|byte| *byte == b'/').next();
        let name = name.unwrap_or_default();
        steps.take(slashes + name.len())?;
        start += slashes + name.len();
        if matches!(name, b"" | b"." | b"..") {
            if !is_directory(look, &reached)? {
                return Ok(None);
            }
            if name == b".." {
                let above = reached.iter().rposition(|byte| *byte == b'/');
                reached.truncate(above.unwrap_or_default());
            }
            continue;
        }
        let next = [&reached, &b"/"[..], name].concat();
        if is_process_relative(&next) {
            return Err(other());
        }
        if last == Last::Kept && start == rest.len() {
            return Ok(is_directory(look, &reached)?.then_some(next));
        }
        let target = match look(&next)?.map(|found| found.kind) {
            None => return Ok(None),
            Some(Kind::Link(target)) => target,
            Some(Kind::File | Kind::Directory | Kind::Other) => {
                reached = next;
                continue;
            }
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(Error::about(path, "too many links"));
        }
        if is_process_link(name, &target) {
            return Err(other());
        }
        // POSIX lets a link be empty; following it finds nothing.
        match target.first() {
            None => return Ok(None),
            Some(b'/') => reached.clear(),
            Some(_) => {}
        }
        steps.take(target.len() + rest.len())?;
        rest = [&target, rest.split_at(start).1].concat();
        start = 0;
    }
    if reached.is_empty() {
        reached.push(b'/');
    }
    Ok(Some(reached))
}

fn is_directory(look: Look<'_>, path: &[u8]) -> Result<bool, Error> {
    let found = match path {
        b"" => return Ok(true),
        path => look(path)?,
    };
    Ok(found.is_some_and(|found| found.kind == Kind::Directory))
}

/// Returns `true` if the path is a directory that differs by process (`proc(5)`).
fn is_process_relative(path: &[u8]) -> bool {
    match path.strip_prefix(b"/proc/") {
        Some(name) => matches!(name, b"self" | b"thread-self") || is_number(name),
        None => path == b"/dev/fd",
    }
}

/// Returns `true` if the link is `self` or `thread-self` of a proc filesystem, wherever it is mounted.
fn is_process_link(name: &[u8], target: &[u8]) -> bool {
    match name {
        b"self" => is_number(target),
        b"thread-self" => target.split(|byte| *byte == b'/').next().is_some_and(is_number),
        _ => false,
    }
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}
