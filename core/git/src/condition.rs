//! The conditions of `includeIf` (`git-config(1)`, "Conditional includes"; `config.c` of git).

use crate::files::{Error, Files, parent};
use crate::repository::Names;
use crate::wildmatch::{Case, Steps, wildmatch};

/// A condition that git knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Condition<'a> {
    /// The repository's directory.
    GitDir { pattern: &'a [u8], case: Case },
    /// The branch that is checked out.
    Branch { pattern: &'a [u8] },
    /// The URL of some remote.
    RemoteUrl { pattern: &'a [u8] },
}

impl<'a> Condition<'a> {
    /// # Errors
    /// A condition that is not known here, since another git may know it.
    pub(crate) fn parse(text: &'a [u8], path: &[u8]) -> Result<Self, Error> {
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
            Err(Error::new(format!(
                "git's configuration `{}` includes on an unknown condition: `{}`",
                String::from_utf8_lossy(path),
                String::from_utf8_lossy(text)
            )))
        }
    }
}

/// Whether `pattern`, to which a trailing `/` adds `**`, matches the whole name of a branch.
pub(crate) fn branch_matches(pattern: &[u8], branch: &[u8], steps: &mut Steps) -> Result<bool, Error> {
    wildmatch(
        &with_directory_content(pattern.to_vec()),
        branch,
        Case::Sensitive,
        steps,
    )
}

/// Whether `pattern`, written in the file `path`, matches the directory of a repository (`include_by_gitdir`): first
/// its canonical path, then the name that git has for it.
///
/// # Errors
/// A pattern that starts in the home directory of a named user, and one that matches only a name that git may have
/// for the directory, depending on what is not known here.
pub(crate) fn git_dir_matches(
    files: &dyn Files,
    home: &[u8],
    pattern: (&[u8], Case),
    path: &[u8],
    git_dir: (&[u8], &Names),
    steps: &mut Steps,
) -> Result<bool, Error> {
    let (given, case) = pattern;
    let (git_dir, names) = git_dir;
    let (literal, pattern) = prepare(files, home, given, path)?;
    let mut matches = |directory: &[u8]| {
        let Some((start, end)) = directory.split_at_checked(literal.len()) else {
            return Ok(None);
        };
        let is_below = match case {
            Case::Sensitive => start == literal,
            Case::Insensitive => start.eq_ignore_ascii_case(&literal),
        };
        if is_below {
            wildmatch(&pattern, end, case, steps).map(Some)
        } else {
            Ok(None)
        }
    };
    match matches(git_dir)? {
        Some(true) => return Ok(true),
        Some(false) => {
            if let Some(certain) = &names.certain
                && matches(certain)? == Some(true)
            {
                return Ok(true);
            }
        }
        // Where the pattern's own directory is another one, git looks no further.
        None => return Ok(false),
    }
    for possible in &names.possible {
        if matches(possible)? == Some(true) {
            return Err(Error::new(format!(
                "git's configuration `{}` includes on `{}`, which depends on how git is started in `{}`",
                String::from_utf8_lossy(path),
                String::from_utf8_lossy(given),
                String::from_utf8_lossy(git_dir)
            )));
        }
    }
    Ok(false)
}

/// What must stand at the start as it is, and the pattern for the rest (`prepare_include_condition_pattern`).
fn prepare(files: &dyn Files, home: &[u8], pattern: &[u8], path: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
    if let Some(rest) = pattern.strip_prefix(b"./") {
        let missing = || Error::about(path, "it is no longer there");
        let real = files.real(path)?.ok_or_else(missing)?;
        let directory = parent(&real).unwrap_or(b"/");
        let slash: &[u8] = if directory == b"/" { b"" } else { b"/" };
        let rest = match rest {
            // The slash is a part of the literal start, and the pattern still ends with it.
            b"" => b"**".to_vec(),
            _ => with_directory_content(rest.to_vec()),
        };
        return Ok(([directory, slash].concat(), rest));
    }
    let mut pattern = if pattern.starts_with(b"~") {
        let missing = || Error::about(home, "the home directory does not exist");
        interpolate(pattern, &files.real(home)?.ok_or_else(missing)?)?
    } else {
        interpolate(pattern, home)?
    };
    if pattern.first() != Some(&b'/') {
        pattern = [b"**/", pattern.as_slice()].concat();
    }
    Ok((Vec::new(), with_directory_content(pattern)))
}

/// `path` with `~` written out (`interpolate_path`).
///
/// # Errors
/// `~name`, `%(prefix)` and other prefixes that only git itself can write out.
pub(crate) fn interpolate(path: &[u8], home: &[u8]) -> Result<Vec<u8>, Error> {
    match path {
        [b'~'] | [b'~', b'/', ..] => {
            let rest = path.strip_prefix(b"~").unwrap_or_default();
            Ok([home, rest].concat())
        }
        [b'~', ..] | [b'%', b'(', ..] | [b':', b'(', ..] => Err(Error::new(format!(
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
