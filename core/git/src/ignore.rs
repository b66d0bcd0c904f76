//! What git's ignore files say of a path (`gitignore(5)`; `dir.c` of git).

use std::sync::Arc;

use crate::condition::interpolate;
use crate::files::{Error, Kind, join, parent};
use crate::reader::Reader;
use crate::wildmatch::{Case, wildmatch};

/// What git's ignore files say of a path, whether or not it is tracked: the answers of `git check-ignore --no-index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckIgnore {
    /// The last pattern that matches it excludes it, or a directory above it.
    Ignored,
    /// The last pattern that matches it begins with `!`.
    Included,
    /// No pattern matches it.
    Unmentioned,
}

/// A file of patterns.
pub(crate) struct List {
    /// The bytes of a path in the work tree before the names that the patterns are about.
    base: usize,
    content: Arc<[u8]>,
    /// Other programs may not read it.
    is_of_git: bool,
}

/// The ignore files of a work tree.
pub(crate) struct Ignore<'a> {
    pub(crate) files: Reader<'a>,
    pub(crate) work_tree: &'a [u8],
    pub(crate) case: Case,
    /// From the one that counts least.
    pub(crate) lists: Vec<List>,
}

impl Ignore<'_> {
    /// Adds a file whose patterns are about the whole work tree, and which counts more than those before it.
    pub(crate) fn add(&mut self, path: &[u8], is_of_git: bool) -> Result<(), Error> {
        self.lists.extend(self.files.read(path)?.map(|content| List {
            base: 0,
            content,
            is_of_git,
        }));
        Ok(())
    }

    /// The answer about a path that is below the work tree, links resolved (`last_matching_pattern`).
    pub(crate) fn check(mut self, path: &[u8]) -> Result<CheckIgnore, Error> {
        let outside = || Error::about(path, "it is not below the work tree of its repository");
        let names = path.strip_prefix(self.work_tree).ok_or_else(outside)?;
        let names = match self.work_tree {
            b"/" => names,
            _ => names.strip_prefix(b"/").ok_or_else(outside)?,
        };
        let mut base = 0;
        loop {
            let directory = join(self.work_tree, names.get(..base).unwrap_or_default());
            if base > 0 && self.files.look(&join(&directory, b".git"))?.is_some() {
                return Err(Error::about(&directory, "others take it for a repository"));
            }
            self.add_of_directory(&directory, base)?;
            let length = names.iter().skip(base).position(|byte| *byte == b'/');
            let end = length.map_or(names.len(), |length| base + length);
            let is_last = length.is_none();
            let name = names.get(..end).unwrap_or_default();
            let is_directory = !is_last || {
                let found = self.files.look(path)?;
                found.is_some_and(|found| found.kind == Kind::Directory)
            };
            let answer = self.last_match(name, is_directory)?;
            if is_last || answer == CheckIgnore::Ignored {
                return Ok(answer);
            }
            base = end + 1;
        }
    }

    fn add_of_directory(&mut self, directory: &[u8], base: usize) -> Result<(), Error> {
        let path = join(directory, b".gitignore");
        match self.files.look(&path)?.map(|found| found.kind) {
            None => return Ok(()),
            // Git reads no link there; others do.
            Some(Kind::Link(_)) => return Err(Error::about(&path, "it is a link")),
            Some(Kind::File | Kind::Directory | Kind::Other) => {}
        }
        let content = self.files.read(&path)?;
        self.lists.extend(content.map(|content| List {
            base,
            content,
            is_of_git: false,
        }));
        Ok(())
    }

    /// `last_matching_pattern_from_lists`.
    fn last_match(&self, names: &[u8], is_directory: bool) -> Result<CheckIgnore, Error> {
        for list in self.lists.iter().rev() {
            if list.content.contains(&0) {
                return Err(Error::new("a file of ignored names has a NUL"));
            }
            let content = list
                .content
                .strip_prefix(b"\xef\xbb\xbf")
                .unwrap_or(&list.content);
            let below = names.get(list.base..).unwrap_or_default();
            let lines = content.split(|byte| *byte == b'\n').rev();
            for pattern in lines.filter_map(Pattern::parse) {
                if pattern.is_of_directories && !is_directory {
                    continue;
                }
                let matches = pattern.matches(below, self.case, self)?;
                let is_unclear = pattern.is_odd
                    || list.is_of_git
                    || self.case == Case::Insensitive
                        && matches != pattern.matches(below, Case::Sensitive, self)?;
                if is_unclear && (matches || pattern.is_negated) {
                    let pattern = String::from_utf8_lossy(pattern.text);
                    return Err(Error::new(format!("others may read `{pattern}` in another way")));
                }
                match (matches, pattern.is_negated) {
                    (true, true) => return Ok(CheckIgnore::Included),
                    (true, false) => return Ok(CheckIgnore::Ignored),
                    (false, _) => {}
                }
            }
        }
        Ok(CheckIgnore::Unmentioned)
    }
}

/// A line of an ignore file.
struct Pattern<'l> {
    text: &'l [u8],
    is_negated: bool,
    is_of_directories: bool,
    /// Programs that read ignore files as well, such as `rg`, may read it in another way.
    is_odd: bool,
}

impl<'l> Pattern<'l> {
    /// `parse_path_pattern`; `None` for a line without a pattern.
    fn parse(line: &'l [u8]) -> Option<Self> {
        if line.first().is_none_or(|byte| *byte == b'#') {
            return None;
        }
        let line = without_spaces(line.strip_suffix(b"\r").unwrap_or(line));
        let is_odd = is_odd(line);
        let (is_negated, text) = match line.strip_prefix(b"!") {
            Some(text) => (true, text),
            None => (false, line),
        };
        let (is_of_directories, text) = match text.strip_suffix(b"/") {
            Some(text) => (true, text),
            None => (false, text),
        };
        Some(Self {
            text,
            is_negated,
            is_of_directories,
            is_odd,
        })
    }

    /// `match_basename`, or `match_pathname` where the pattern has a slash: names up to the first wildcard are compared as they are.
    fn matches(&self, names: &[u8], case: Case, ignore: &Ignore<'_>) -> Result<bool, Error> {
        let steps = ignore.files.steps();
        if !self.text.contains(&b'/') {
            let name = names.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            return wildmatch(self.text, name, case, steps);
        }
        let text = self.text.strip_prefix(b"/").unwrap_or(self.text);
        let special = text.iter().position(|byte| b"*?[\\".contains(byte));
        let (literal, rest) = text.split_at(special.unwrap_or(text.len()));
        steps.take(literal.len())?;
        let Some((start, end)) = names.split_at_checked(literal.len()) else {
            return Ok(false);
        };
        let is_same = match case {
            Case::Sensitive => start == literal,
            Case::Insensitive => start.eq_ignore_ascii_case(literal),
        };
        Ok(is_same && wildmatch(rest, end, case, steps)?)
    }
}

/// `trim_trailing_spaces`: a space after a backslash stays.
fn without_spaces(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b' ' => {}
            // A backslash at the end keeps the spaces before it.
            b'\\' => match bytes.next() {
                Some((at, _)) => end = at + 1,
                None => return line,
            },
            _ => end = at + 1,
        }
    }
    line.get(..end).unwrap_or(line)
}

/// Returns `true` if the pattern is more than names, stars, question marks and sets of plain characters: `rg` knows `{a,b}`, drops any white
/// space at the end, and takes a `**` that is not a whole name for two stars.
fn is_odd(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return true;
    };
    let is_set = |set: &str| {
        let Some((inside, _)) = set.split_once(']') else {
            return false;
        };
        let inside = inside.strip_prefix(['!', '^']).unwrap_or(inside);
        !inside.is_empty()
            && inside
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || "._-".contains(one))
    };
    let stars = |name: &str| name.contains("**") && name != "**";
    text.contains(['{', '}', '\\'])
        || text.contains(char::is_control)
        || text.trim_end() != text
        || !text.split('[').skip(1).all(is_set)
        || text.strip_prefix('!').unwrap_or(text).split('/').any(stars)
}

/// The file that git reads where `core.excludesFile` says nothing, or the one that this says.
pub(crate) fn excludes_file(
    setting: Option<&[u8]>,
    usual: &[u8],
    home: &[u8],
    work_tree: &[u8],
) -> Result<Vec<u8>, Error> {
    let path = setting.map_or_else(|| Ok(usual.to_vec()), |path| interpolate(path, home))?;
    Ok(join(work_tree, &path))
}

/// Returns `true` if something called `.git` is in a directory at or above this one.
pub(crate) fn has_git_above(files: Reader<'_>, directory: &[u8]) -> Result<bool, Error> {
    let mut place = Some(directory);
    while let Some(one) = place {
        if files.look(&join(one, b".git"))?.is_some() {
            return Ok(true);
        }
        place = parent(one);
    }
    Ok(false)
}
