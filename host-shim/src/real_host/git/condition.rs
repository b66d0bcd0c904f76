//! The conditions of `includeIf` (`git-config(1)`, "Conditional includes").

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use callgate_core::HostError;
use gix_glob::wildmatch::Mode;

/// The stars of one pattern. The matcher gives up silently on patterns with many more, where git goes on.
const MAX_STARS: usize = 16;

/// A condition that git knows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition<'a> {
    /// The repository's directory.
    GitDir { pattern: &'a [u8], case: Case },
    /// The branch that is checked out.
    Branch { pattern: &'a [u8] },
    /// The URL of some remote.
    RemoteUrl { pattern: &'a [u8] },
}

/// How letters are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Sensitive,
    Insensitive,
}

impl<'a> Condition<'a> {
    /// # Errors
    /// A condition that is not known, since git may know it, and a pattern with more than 16 stars.
    pub(super) fn parse(text: &'a [u8], path: &Path) -> Result<Self, HostError> {
        let refused = |what: &str| {
            HostError::new(format!(
                "git's configuration `{}` includes on {what}: `{}`",
                path.display(),
                String::from_utf8_lossy(text)
            ))
        };
        if text.iter().filter(|byte| **byte == b'*').count() > MAX_STARS {
            return Err(refused(&format!("a pattern with more than {MAX_STARS} stars")));
        }
        if let Some(pattern) = text.strip_prefix(b"gitdir:") {
            let case = Case::Sensitive;
            Ok(Self::GitDir { pattern, case })
        } else if let Some(pattern) = text.strip_prefix(b"gitdir/i:") {
            let case = Case::Insensitive;
            Ok(Self::GitDir { pattern, case })
        } else if let Some(pattern) = text.strip_prefix(b"onbranch:") {
            Ok(Self::Branch { pattern })
        } else if let Some(pattern) = text.strip_prefix(b"hasconfig:remote.*.url:") {
            Ok(Self::RemoteUrl { pattern })
        } else {
            Err(refused("an unknown condition"))
        }
    }
}

/// Whether `pattern` matches the whole of a remote's URL.
pub(super) fn url_matches(pattern: &[u8], url: &[u8]) -> bool {
    wildmatch(pattern, url, Case::Sensitive)
}

/// Whether `pattern`, to which a trailing `/` adds `**`, matches the whole name of a branch.
pub(super) fn branch_matches(pattern: &[u8], branch: &[u8]) -> bool {
    wildmatch(&with_directory_content(pattern.to_vec()), branch, Case::Sensitive)
}

/// Whether `pattern`, written in the file `path`, matches the canonical directory of a repository.
///
/// # Errors
/// A pattern that starts in the home directory of a named user.
pub(super) fn git_dir_matches(
    pattern: &[u8],
    case: Case,
    path: &Path,
    git_dir: &[u8],
    home: &Path,
) -> Result<bool, HostError> {
    let pattern = with_directory_content(pattern.to_vec());
    if let Some(rest) = pattern.strip_prefix(b"./") {
        let real = super::canonical(path)?;
        let directory = real.as_deref().and_then(Path::parent).unwrap_or(Path::new("/"));
        // What the file's own place holds is no pattern, so it is compared as it is.
        let own = [directory.as_os_str().as_bytes(), b"/"].concat();
        let Some((start, end)) = git_dir.split_at_checked(own.len()) else {
            return Ok(false);
        };
        let is_below = match case {
            Case::Sensitive => start == own,
            Case::Insensitive => start.eq_ignore_ascii_case(&own),
        };
        return Ok(is_below && wildmatch(rest, end, case));
    }
    let real_home = super::canonical(home)?;
    let mut pattern = interpolate(&pattern, real_home.as_deref().unwrap_or(home))?;
    if pattern.first() != Some(&b'/') {
        pattern = [b"**/", pattern.as_slice()].concat();
    }
    Ok(wildmatch(&pattern, git_dir, case))
}

/// `path` with `~` written out.
///
/// # Errors
/// `~name`, `%(prefix)` and other prefixes that only git itself can write out.
pub(super) fn interpolate(path: &[u8], home: &Path) -> Result<Vec<u8>, HostError> {
    match path {
        [b'~'] | [b'~', b'/', ..] => {
            let rest = path.strip_prefix(b"~").unwrap_or_default();
            Ok([home.as_os_str().as_bytes(), rest].concat())
        }
        [b'~', ..] | [b'%', b'(', ..] | [b':', b'(', ..] => Err(HostError::new(format!(
            "git's configuration has the path `{}`, expected one that is absolute, relative or starts with `~/`",
            String::from_utf8_lossy(path)
        ))),
        _ => Ok(path.to_vec()),
    }
}

fn with_directory_content(mut pattern: Vec<u8>) -> Vec<u8> {
    if pattern.ends_with(b"/") {
        pattern.extend_from_slice(b"**");
    }
    pattern
}

fn wildmatch(pattern: &[u8], text: &[u8], case: Case) -> bool {
    let mode = match case {
        Case::Sensitive => Mode::NO_MATCH_SLASH_LITERAL,
        Case::Insensitive => Mode::NO_MATCH_SLASH_LITERAL | Mode::IGNORE_CASE,
    };
    gix_glob::wildmatch(pattern.into(), text.into(), mode)
}
