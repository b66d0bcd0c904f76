//! Protected paths in what a command reads without naming them: below a directory, or by a pattern.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

use callgate_programs::{Hidden, Ignored};

use super::asking::Asking;
use super::canonical::Canonicalizer;
use super::inputs::Inputs;
use super::operand::Operand;
use super::touch::exists_in;
use crate::host::GitIgnore;
use crate::text::is_at_or_below;

/// What a command reads in a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// The shell's pattern of the names in it; everything where there is none.
    pub(super) names: Option<String>,
    /// Directories are read with everything below them.
    pub(super) is_deep: bool,
    /// Patterns of names that are left out; those that end with `/` are of directories.
    pub(super) left_out: Vec<String>,
    /// Patterns of the only names of files that are read.
    pub(super) taken_in: Option<Vec<String>>,
    /// Whether names that begin with `.` are read.
    pub(super) hidden: Hidden,
    /// Whether what git ignores is read.
    pub(super) ignored: Ignored,
    /// Directories below which ignore files may say something else by then.
    pub(super) unsettled: Arc<[String]>,
    /// What leaves something out, as people write it.
    pub(super) without: Option<String>,
    /// It is written: what matches arrives there, and need not be there yet.
    pub(super) arrives: bool,
}

impl Tree {
    /// Returns `true` if what has these names below the directory may be read, or what is in it where it is a directory itself: what
    /// names of files leave out, or alone take in, says nothing of those.
    fn reads(&self, names: &str, is_directory: bool) -> bool {
        let (directories, name) = names.rsplit_once('/').unwrap_or(("", names));
        let is_left_out = |pattern: &String| match pattern.strip_suffix('/') {
            Some(pattern) => {
                let mut directories = directories.split('/').chain(is_directory.then_some(name));
                directories.any(|one| fast_glob::glob_match(pattern, one))
            }
            None => match pattern.strip_prefix('/') {
                Some(path) => is_at_or_below(names, path),
                None => {
                    let of_file =
                        fast_glob::glob_match(pattern, name) || fast_glob::glob_match(pattern, names);
                    of_file && !is_directory
                }
            },
        };
        let is_taken = |names: &Vec<String>| names.iter().any(|pattern| fast_glob::glob_match(pattern, name));
        self.matches(names, is_directory)
            && !self.left_out.iter().any(is_left_out)
            && (is_directory || self.taken_in.as_ref().is_none_or(is_taken))
            && (self.hidden != Hidden::Skipped || !self.is_hidden(names))
    }

    /// Returns `true` if a name is hidden that nothing takes in.
    fn is_hidden(&self, names: &str) -> bool {
        names.split('/').any(|name| {
            let mut taken = self.taken_in.iter().flatten();
            name.starts_with('.') && !taken.any(|pattern| fast_glob::glob_match(pattern, name))
        })
    }

    /// Returns `true` if it may be read, as a file or as a directory.
    fn may_read(&self, names: &str) -> bool {
        self.reads(names, false) || self.reads(names, true)
    }

    /// Returns `true` if of what it may read the disk leaves nothing out: what is a file or a directory, and what ignore files say.
    fn is_shown(&self, canonicalizer: &mut Canonicalizer<'_, '_>, directory: &str, names: &str) -> bool {
        let path = format!("{}/{names}", directory.trim_end_matches('/'));
        let (as_file, as_directory) = (self.reads(names, false), self.reads(names, true));
        if as_file != as_directory
            && canonicalizer
                .facts
                .is_directory(&path)
                .is_some_and(|found| found != as_directory)
        {
            return false;
        }
        canonicalizer.facts.take_steps(self.unsettled.len());
        let is_unsettled = self.unsettled.iter().any(|place| is_at_or_below(&path, place));
        is_unsettled
            || match self.ignored {
                Ignored::SkippedByGit => {
                    canonicalizer.facts.git_check_ignore(&path) != Some(GitIgnore::Ignored)
                }
                Ignored::SkippedByRipgrep | Ignored::Read => {
                    self.is_shown_by_rg(canonicalizer, directory, names, &path)
                }
            }
    }

    /// Returns `true` if `rg` may come to the names: none of them is ignored, and hidden ones are taken in.
    fn is_shown_by_rg(
        &self,
        canonicalizer: &mut Canonicalizer<'_, '_>,
        directory: &str,
        names: &str,
        path: &str,
    ) -> bool {
        let unhides = self.hidden == Hidden::SkippedUnlessNamed;
        let skips = self.ignored == Ignored::SkippedByRipgrep;
        let may_skip = skips || unhides && self.is_hidden(names);
        if !may_skip || has_above(canonicalizer, path, &IGNORE_FILES) {
            return true;
        }
        // What is ignored is read where it is named, and then the files say of what is in it only what they say of each name.
        let of_directory = canonicalizer.facts.git_check_ignore(directory);
        let is_told = of_directory.is_some_and(|said| said != GitIgnore::Ignored);
        let mut below = directory.trim_end_matches('/').to_owned();
        names.split('/').all(|name| {
            below.push('/');
            below.push_str(name);
            let is_hidden = unhides && self.is_hidden(name);
            if !skips && !is_hidden {
                return true;
            }
            let said = canonicalizer.facts.git_check_ignore(&below).filter(|_| is_told);
            match said {
                Some(GitIgnore::Included) => true,
                Some(GitIgnore::Unmentioned) => !is_hidden,
                Some(GitIgnore::Ignored) => false,
                None => !is_hidden || has_above(canonicalizer, path, &[GIT_IGNORE]),
            }
        })
    }

    /// Names that the pattern matches, with a character where it has any text that stands in no other pattern: what matches these
    /// matches all. `None` where shells differ about what the pattern matches.
    fn sample(&self) -> Option<String> {
        let mut names = String::new();
        let mut rest = self.names.as_deref()?.chars();
        while let Some(one) = rest.next() {
            match one {
                '*' | '?' => names.push(ANY),
                '[' => {
                    rest.find(|one| *one == ']')?;
                    names.push(ANY);
                }
                '\\' => names.push(rest.next()?),
                '(' | '^' | '#' | '~' | '<' => return None,
                _ => names.push(one),
            }
        }
        Some(names)
    }

    /// Returns `true` if the names may be among those that the pattern matches, or are of a directory on the way to them.
    fn matches(&self, names: &str, is_directory: bool) -> bool {
        let Some(pattern) = &self.names else {
            return self.is_deep || !is_directory && !names.contains('/');
        };
        let reaches = match names.split('/').count().cmp(&pattern.split('/').count()) {
            Ordering::Less => is_directory,
            Ordering::Equal => self.is_deep || !is_directory,
            Ordering::Greater => self.is_deep,
        };
        let mut parts = pattern.split('/').zip(names.split('/'));
        reaches && parts.all(|(pattern, name)| matches_name(pattern, name))
    }

    /// Returns `true` if the last names of the pattern may match these, in directories that only its first ones match. Nobody lists those.
    fn ends_with(&self, names: &str) -> bool {
        let Some(pattern) = &self.names else {
            return false;
        };
        let (of_pattern, of_names) = (pattern.split('/').count(), names.split('/').count());
        let last = pattern.rsplit('/').zip(names.rsplit('/'));
        of_pattern > of_names
            && last
                .into_iter()
                .all(|(pattern, name)| matches_name(pattern, name))
    }
}

/// Returns `true` if a part of a shell's pattern may match the name.
fn matches_name(pattern: &str, name: &str) -> bool {
    let is_hidden = name.starts_with('.') && !pattern.starts_with(['.', '[', '\\']);
    !is_hidden && (pattern.contains(['[', '\\', '(', '^']) || fast_glob::glob_match(pattern, name))
}

/// The file that says what git ignores.
const GIT_IGNORE: &str = ".gitignore";

/// Files that say which names `rg` skips, and which hidden ones it does not, before git's.
const IGNORE_FILES: [&str; 2] = [".ignore", ".rgignore"];

/// Returns `true` if the file says what is ignored.
pub(super) fn is_ignore_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut known = IGNORE_FILES.iter().chain(&[GIT_IGNORE]);
    known.any(|file| name.eq_ignore_ascii_case(file))
}

/// Returns `true` if one of the files is in a directory above the path.
fn has_above(canonicalizer: &mut Canonicalizer<'_, '_>, path: &str, files: &[&str]) -> bool {
    let resolver = &mut canonicalizer.resolver();
    let mut place = path;
    while let Some((above, _)) = place.rsplit_once('/') {
        if files
            .iter()
            .any(|file| resolver.may_exist(&format!("{above}/{file}")))
        {
            return true;
        }
        place = above;
    }
    false
}

/// What stands for any text.
const ANY: char = '\u{1}';

/// Protected paths that a reason names.
const SHOWN: usize = 5;

/// The first protected paths that are known to be there, as far as the configuration and the host tell.
pub(super) fn known_in(
    inputs: &Inputs,
    asking: &mut Asking,
    operand: &Operand<'_, '_>,
    tree: &Tree,
) -> Vec<String> {
    let Some(directory) = operand.path() else {
        return Vec::new();
    };
    let program = inputs.program;
    let is_read = operand.is_read(program);
    let counts = |may_be_read: bool| !(is_read && may_be_read);
    let folded = program.path_case.fold(directory);
    asking.take_steps(program.protected.cost());
    let mut found = Vec::new();
    let canonicalizer = &mut asking.canonicalizer;
    let (protection, sandbox) = asking.directories.protection(canonicalizer);
    let paths = protection.paths.iter().zip(&program.protected.paths);
    for (entry, one) in paths.filter(|(entry, _)| counts(entry.may_be_read)) {
        let shown = &*one.path;
        let read = RefCell::new(None);
        let is_read = entry.has_names_below(&folded, |names| {
            let is_read = tree.may_read(names);
            read.replace(is_read.then(|| names.to_owned()));
            is_read
        });
        let names = read.into_inner().unwrap_or_default();
        if is_read
            && (tree.arrives || canonicalizer.resolver().may_exist(shown))
            && tree.is_shown(canonicalizer, directory.as_str(), &names)
        {
            found.push(shown.to_string());
        }
    }
    let path = directory.as_str();
    let sample = tree.sample();
    let patterns = protection.patterns.iter();
    for pattern in patterns.filter(|pattern| counts(pattern.may_be_read)) {
        canonicalizer.facts.take_steps(pattern.cost_below(path.len()));
        if canonicalizer.facts.has_failed() {
            break;
        }
        let in_it = |names: &str| format!("{}/{names}", path.trim_end_matches('/'));
        let is_all = |sample: &&String| pattern.protects(&in_it(sample), sandbox.forms());
        if let (Some(_), Some(names)) = (sample.as_ref().filter(is_all), &tree.names) {
            found.push(in_it(names));
            continue;
        }
        for below in pattern.below(path) {
            for rest in below.rests.into_iter().filter(|rest| !rest.names.is_empty()) {
                let is_read = tree.may_read(&rest.names)
                    && (tree.arrives || exists_in(path, &rest, pattern, sandbox, canonicalizer))
                    && tree.is_shown(canonicalizer, path, &rest.names);
                if is_read || below.is_deep && rest.is_whole && tree.ends_with(&rest.names) {
                    found.push(in_it(&rest.names));
                }
            }
        }
    }
    found.dedup();
    found.truncate(SHOWN);
    found
}
