//! The paths that no call may touch, and patterns of them.

use crate::config;
use crate::cost::{LOOK_UP, PROTECTED_FORMS};
use crate::glob::Wildcard;
use crate::text::{is_at_or_below, strip_directory};

/// A pattern of protected paths: of the names below a directory.
pub struct ProtectedPattern {
    /// The directory above the first component with a `*`: absolute and lexical.
    pub directory: Box<str>,
    /// The rest, which does not end in `**`.
    pub pattern: Wildcard,
    /// `true` if it was written with a `**` at its end: each match is a directory.
    pub is_of_directories: bool,
    /// Its matches are protected against writing alone.
    pub may_be_read: bool,
}

impl ProtectedPattern {
    /// The pattern for people; one that begins with `**` is about the whole disk.
    pub fn shown(&self) -> String {
        let pattern = self.pattern.as_str();
        let directory = self.directory.trim_end_matches('/');
        match pattern.starts_with("**") && directory.is_empty() {
            true => pattern.to_owned(),
            false => format!("{directory}/{pattern}"),
        }
    }
}

/// A protected path.
#[derive(PartialEq, Eq)]
pub struct ProtectedPath {
    /// Absolute and lexical.
    pub path: Box<str>,
    /// It is protected against writing alone.
    pub may_be_read: bool,
}

/// The protected paths of a configuration.
#[derive(Default)]
pub struct Protection {
    pub paths: Box<[ProtectedPath]>,
    pub patterns: Box<[ProtectedPattern]>,
}

impl Protection {
    /// Compiles paths and patterns as a document has them; `absolute` gives a path its lexical form.
    pub(super) fn new(written: &[config::ProtectedPath], absolute: impl Fn(&str) -> Box<str>) -> Self {
        let mut paths = Vec::new();
        let mut patterns = Vec::new();
        for entry in written {
            let may_be_read = entry.may_be_read;
            let (directory, names) = split(&entry.path);
            // Everything below a match is protected anyway, so a `**` at the end says nothing.
            let names: Vec<&str> = names
                .split('/')
                .filter(|name| !matches!(*name, "" | "."))
                .collect();
            let end = names
                .iter()
                .rposition(|name| *name != "**")
                .map_or(0, |at| at + 1);
            let is_of_directories = end < names.len();
            let names = names.get(..end).unwrap_or_default().join("/");
            match Wildcard::parse(&names) {
                Some(pattern) => patterns.push(ProtectedPattern {
                    directory: absolute(directory),
                    pattern,
                    is_of_directories,
                    may_be_read,
                }),
                None => paths.push(ProtectedPath {
                    path: absolute(directory),
                    may_be_read,
                }),
            }
        }
        Self {
            paths: paths.into(),
            patterns: patterns.into(),
        }
    }

    /// The least cost of holding a path against all of it, in steps.
    pub fn cost(&self) -> usize {
        (1 + self.paths.len() + self.patterns.len()) * LOOK_UP
    }

    /// How many steps it takes to hold the forms of a path of this length against every pattern.
    pub fn cost_of_patterns(&self, bytes: usize) -> usize {
        let each = self.patterns.iter().map(|one| one.pattern.cost(bytes));
        PROTECTED_FORMS * each.sum::<usize>()
    }

    /// Returns `true` if the absolute path, as it is written, lies within one of the protected ones.
    pub fn names(&self, path: &str) -> bool {
        let matches = |one: &ProtectedPattern| {
            let names = strip_directory(path, &one.directory);
            names.is_some_and(|names| one.pattern.covers(names, 0))
        };
        self.paths.iter().any(|one| is_at_or_below(path, &one.path)) || self.patterns.iter().any(matches)
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.patterns.is_empty()
    }

    /// Returns `true` if nothing is protected against reading.
    pub fn may_be_read(&self) -> bool {
        self.paths.iter().all(|one| one.may_be_read) && self.patterns.iter().all(|one| one.may_be_read)
    }
}

/// The directory above the first component with a `*`, and the rest. A pattern that begins with such a component is
/// about the whole disk.
fn split(text: &str) -> (&str, &str) {
    let Some(star) = text.find('*') else {
        return (text, "");
    };
    let start = text.get(..star).and_then(|before| before.rfind('/'));
    match start.map(|slash| text.split_at(slash + 1)) {
        Some((directory, names)) => (directory, names),
        None => ("/", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_begins_in_the_directory_that_it_names() {
        for (text, expected) in [
            ("/etc", ("/etc", None)),
            ("~", ("/home/u", None)),
            ("**/.env", ("/", Some("**/.env"))),
            ("/**/.env", ("/", Some("**/.env"))),
            ("~/*/key", ("/home/u", Some("*/key"))),
            ("/srv/./a/../*.pem//x/.", ("/srv", Some("*.pem/x"))),
            ("/srv/[a]*/b", ("/srv", Some("[a]*/b"))),
            ("/srv/**", ("/srv", None)),
            ("/srv/*/**/**", ("/srv", Some("*"))),
            ("**", ("/", None)),
        ] {
            let written = [config::ProtectedPath {
                path: text.into(),
                may_be_read: false,
            }];
            let absolute = |path: &str| {
                let path = path.replace("~", "/home/u").replace("/./a/..", "");
                Box::from(if path == "/" {
                    "/"
                } else {
                    path.trim_end_matches('/')
                })
            };
            let found = Protection::new(&written, absolute);
            let paths = found.paths.iter().map(|one| (&*one.path, None));
            let patterns = found.patterns.iter();
            let patterns = patterns.map(|one| (&*one.directory, Some(one.pattern.as_str())));
            assert_eq!(paths.chain(patterns).collect::<Vec<_>>(), [expected], "{text}");
        }
    }
}
