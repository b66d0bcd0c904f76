//! The conditions of `includeIf` (`git-config(1)`, "Conditional includes"; `config.c` of git).

use crate::files::{Error, parent};
use crate::reader::Reader;
use crate::repository::Names;
use crate::steps::Steps;
use crate::wildmatch::{Case, wildmatch};

/// A condition of `includeIf`.
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
    /// The condition is not known here; a newer git may know it.
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
                "git's configuration `{}` includes a file on an unknown condition: `{}`",
                String::from_utf8_lossy(path),
                String::from_utf8_lossy(text)
            )))
        }
    }
}

/// Returns `true` if `pattern` matches the whole name of a branch. A trailing `/` stands for `/**`.
pub(crate) fn branch_matches(pattern: &[u8], branch: &[u8], steps: &Steps) -> Result<bool, Error> {
    wildmatch(
        &with_directory_content(pattern.to_vec()),
        branch,
        Case::Sensitive,
        steps,
    )
}

/// Returns `true` if `pattern`, written in the file `path`, matches the directory of a repository
/// (`include_by_gitdir`): its canonical path, or else the name that git uses for it.
///
/// # Errors
/// The pattern starts in the home directory of a named user, or matches only a name that git may or may not use,
/// depending on how it is started.
pub(crate) fn git_dir_matches(
    files: Reader<'_>,
    home: &[u8],
    pattern: (&[u8], Case),
    path: &[u8],
    git_dir: (&[u8], &Names),
    steps: &Steps,
) -> Result<bool, Error> {
    let (given, case) = pattern;
    let (git_dir, names) = git_dir;
    let (literal, pattern) = prepare(files, home, given, path)?;
    let matches = |directory: &[u8]| {
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
        // If the literal start differs, git does not try the other name.
        None => return Ok(false),
    }
    for possible in &names.possible {
        if matches(possible)? == Some(true) {
            return Err(Error::new(format!(
                "git's configuration `{}` includes a file on `{}`, which depends on how git is started in `{}`",
                String::from_utf8_lossy(path),
                String::from_utf8_lossy(given),
                String::from_utf8_lossy(git_dir)
            )));
        }
    }
    Ok(false)
}

/// Splits a pattern into its literal start and the pattern for the rest (`prepare_include_condition_pattern`).
fn prepare(files: Reader<'_>, home: &[u8], pattern: &[u8], path: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
    if let Some(rest) = pattern.strip_prefix(b"./") {
        let missing = || Error::about(path, "it no longer exists");
        let real = files.real(path)?.ok_or_else(missing)?;
        let directory = parent(&real).unwrap_or(b"/");
        let slash: &[u8] = if directory == b"/" { b"" } else { b"/" };
        let rest = match rest {
            // The slash belongs to the literal start, and it still makes the pattern end with `/`.
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

/// Expands `~` at the start of `path` (`interpolate_path`).
///
/// # Errors
/// The path starts with `~name`, `%(prefix)` or another prefix that only git itself can expand.
pub(crate) fn interpolate(path: &[u8], home: &[u8]) -> Result<Vec<u8>, Error> {
    match path {
        [b'~'] | [b'~', b'/', ..] => {
            let rest = path.strip_prefix(b"~").unwrap_or_default();
            Ok([home, rest].concat())
        }
        [b'~', ..] | [b'%', b'(', ..] | [b':', b'(', ..] => Err(Error::new(format!(
            "git's configuration has the path `{}`, expected an absolute or relative path, or one that starts with `~/`",
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
