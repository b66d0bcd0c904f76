//! How a path may be written in a document. The module `path` resolves it.

use std::borrow::Cow;

use crate::diagnostic::{Code, Severity};
use crate::limits::Limits;

use super::Node;

/// How a field treats a path that is relative to the current directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relative {
    /// An error: the path would mean a different place in each process.
    Refused,
    /// A warning.
    Warned,
}

impl Node<'_, '_> {
    /// The path: absolute, `~` or `~/…`, or relative to the document's folder. Without a folder a relative one is taken as
    /// it is, with a warning, if the field accepts that.
    ///
    /// An empty path, another user's home (`~name`), a variable (`$HOME`), a `file:` URI, a NUL and a path of more
    /// than `value_bytes` bytes are refused: none of them names the place that its author meant.
    pub fn path(&self, relative: Relative, limits: &Limits) -> Option<Box<str>> {
        let text = self.anchored(limits)?;
        let expected = match relative {
            Relative::Refused => "an absolute path, `~` or `~/…`",
            Relative::Warned => "a path, absolute or `~/…`",
        };
        match (fault(&text), relative) {
            (None, _) => Some(text.into()),
            (Some(RELATIVE), Relative::Warned) => {
                self.doubt(
                    Code::InvalidPath,
                    &format!("which is taken relative to the current directory, expected {expected}"),
                );
                Some(text.into())
            }
            (Some((what, help)), _) => {
                self.fault(Severity::Error, Code::InvalidPath, || {
                    let message = format!("found {}, {what}, expected {expected}", self.found());
                    (message, Some(help.to_owned()))
                });
                None
            }
        }
    }

    /// An array of paths.
    pub fn paths(&self, limits: &Limits) -> Option<Vec<Box<str>>> {
        self.each("an array of paths", |item| item.path(Relative::Refused, limits))
    }

    /// An array of paths and of patterns of paths.
    pub(crate) fn path_or_pattern(&self, limits: &Limits) -> Option<Box<str>> {
        if let Some((what, help)) = impossible(self.bounded_string(limits)?) {
            self.fault(Severity::Error, Code::InvalidPath, || {
                let message = format!(
                    "found {}, {what}, expected a path or a pattern of paths",
                    self.found()
                );
                (message, Some(help.to_owned()))
            });
            return None;
        }
        let text = self.anchored(limits)?;
        if let Some(what) = literal_wildcard(&text) {
            let why = format!("{what}, expected a name, or `*` for a part of one");
            self.doubt(Code::Overridden, &why);
        }
        if !text.contains('*') {
            return self.path(Relative::Refused, limits);
        }
        if let Some((what, help)) = pattern_fault(&text) {
            self.fault(Severity::Error, Code::InvalidPath, || {
                let expected = "a pattern that begins with `/`, `~/` or `**/`";
                let message = format!("found {}, {what}, expected {expected}", self.found());
                (message, Some(help.to_owned()))
            });
            return None;
        }
        self.check_limit(text.len(), "bytes", "glob_bytes", limits.glob_bytes)
            .then(|| text.into())
    }

    fn anchored(&self, limits: &Limits) -> Option<Cow<'_, str>> {
        let text = self.bounded_string(limits)?;
        Some(match self.report.folder() {
            Some(folder) => anchored(text, folder),
            None => Cow::Borrowed(text),
        })
    }
}

/// The path from `folder`, which is absolute, if it is relative.
///
/// A path that begins with `~`, a pattern that begins with `**`, and a path that is refused for its spelling (empty,
/// `$NAME`, `file:`) stay as they are.
pub fn anchored<'t>(path: &'t str, folder: &str) -> Cow<'t, str> {
    let everywhere = path == "**" || path.starts_with("**/");
    if everywhere || fault(path) != Some(RELATIVE) {
        return Cow::Borrowed(path);
    }
    let folder = folder.trim_end_matches('/');
    Cow::Owned(match path.trim_end_matches('/') {
        "." if folder.is_empty() => "/".to_owned(),
        "." => folder.to_owned(),
        _ => format!("{folder}/{}", path.strip_prefix("./").unwrap_or(path)),
    })
}

/// The fault of a pattern of paths. A `*` may stand for any directory, so no `..` follows one.
fn pattern_fault(text: &str) -> Option<PathFault> {
    let below = text.strip_prefix("**");
    let names = below.filter(|names| names.is_empty() || names.starts_with('/'));
    let names = names.unwrap_or(text);
    let mut from_star = text.split('/').skip_while(|name| !name.contains('*'));
    if from_star.any(|name| name == "..") {
        Some(("which has a `..` after a `*`", "write the pattern without `..`"))
    } else if names.is_empty() {
        None
    } else {
        match fault(names) {
            Some(RELATIVE) => Some((
                "a pattern that does not say where it begins",
                "begin it with `/` or `~/`, or with `**/` for everywhere",
            )),
            other => other,
        }
    }
}

/// The fault of a path, and what to do about it.
type PathFault = (&'static str, &'static str);

/// The fault of an entry that no path of a call can ever be or lie in, since it is written as other programs write patterns, or
/// holds white space that is refused in every path.
pub fn impossible(text: &str) -> Option<PathFault> {
    let has_alternatives = || {
        let mut braces = text.split('{').skip(1);
        braces.any(|rest| {
            rest.split_once('}')
                .is_some_and(|(within, _)| within.contains(','))
        })
    };
    if text.trim() != text || text.contains(['\t', '\n', '\r']) {
        Some((
            "which has white space around it, or a tab or a line break in it",
            "no path of a call has any; leave it out",
        ))
    } else if text.starts_with('!') {
        Some((
            "which begins with `!`",
            "an entry makes no exception; name what is meant",
        ))
    } else if has_alternatives() {
        Some((
            "which has alternatives in braces",
            "braces are ordinary characters; write an entry for each",
        ))
    } else {
        None
    }
}

/// The part of an entry that shells take for a wildcard and that is an ordinary character here, unless it is likely to be meant
/// so: names as `[id]` are those of many projects.
pub fn literal_wildcard(text: &str) -> Option<&'static str> {
    let is_class = |within: &str| {
        let is_range = |part: &[u8]| matches!(part, [_, b'-', _]);
        let is_single = within.chars().count() == 1;
        let is_ranges = !within.is_empty() && within.as_bytes().chunks(3).all(is_range);
        within.starts_with(['!', '^', ':']) || is_single || is_ranges
    };
    let mut brackets = text.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    if text.contains('?') {
        Some("in which `?` is an ordinary character")
    } else if brackets.any(|(within, _)| is_class(within)) {
        Some("in which brackets are ordinary characters")
    } else {
        None
    }
}

const RELATIVE: PathFault = ("a relative path", "begin it with `/` or `~/`");

fn fault(text: &str) -> Option<PathFault> {
    let is_uri = |scheme: &str| scheme.eq_ignore_ascii_case("file:");
    if text.is_empty() {
        Some(("an empty path", "write `/` for everything"))
    } else if text.contains('\0') {
        Some(("which contains a NUL", "no file has a NUL in its path"))
    } else if text.contains('$') && text.split('/').any(is_variable) {
        Some((
            "which contains a variable",
            "variables are not expanded; write the path in full, or begin it with `~/`",
        ))
    } else if text.starts_with('/') || text == "~" || text.starts_with("~/") {
        None
    } else if text.starts_with('~') {
        Some(("another user's home", "write that directory in full"))
    } else if text.get(..5).is_some_and(is_uri) {
        Some(("a URI", "write the path without `file://`"))
    } else {
        Some(RELATIVE)
    }
}

/// Returns `true` if a component is `$NAME` as a whole, or contains `${`; a file may well be called `$Recycle.Bin`.
fn is_variable(component: &str) -> bool {
    component.contains("${")
        || component.strip_prefix('$').is_some_and(|name| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_anchored_and_no_others() {
        for (path, expected) in [
            (".", "/srv/app"),
            ("./", "/srv/app"),
            ("./box", "/srv/app/box"),
            ("box/a", "/srv/app/box/a"),
            ("../other", "/srv/app/../other"),
            ("C:\\x", "/srv/app/C:\\x"),
            ("/etc", "/etc"),
            ("~", "~"),
            ("~/.ssh", "~/.ssh"),
            ("~root", "~root"),
            ("$HOME/x", "$HOME/x"),
            ("a/${HOME}", "a/${HOME}"),
            ("FILE:/etc", "FILE:/etc"),
            ("a\0", "a\0"),
            ("**/.env", "**/.env"),
            ("**", "**"),
            ("*.pem", "/srv/app/*.pem"),
            ("", ""),
        ] {
            assert_eq!(anchored(path, "/srv/app"), expected, "{path:?}");
            assert_eq!(anchored(path, "/srv/app/"), expected, "{path:?}");
        }
        assert_eq!(anchored(".", "/"), "/");
        assert_eq!(anchored("etc", "/"), "/etc");
    }

    #[test]
    fn entries_that_no_path_can_be_are_found() {
        for text in [
            "~/.ssh ",
            " /etc",
            "/a\tb",
            "/a\n",
            "!x",
            "!**/.env",
            "/k/{id,id2}",
            "**/*.{pem,key}",
            "/a\u{a0}",
        ] {
            assert!(impossible(text).is_some(), "{text:?}");
        }
        for text in [
            "/a b/c",
            "app/[id]",
            "/a/{x}",
            "/a,b",
            "/x!",
            "**/{slug}/a,b",
            "/{}",
            "/}{,",
        ] {
            assert!(impossible(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_character_that_shells_take_for_a_wildcard_is_found() {
        for text in [
            "/id_?",
            "~/.ss[h]",
            "/[!a]",
            "/[^a]",
            "/x[0-9]",
            "/[a-zA-Z0-9]/k",
            "/[[:alpha:]]",
        ] {
            assert!(literal_wildcard(text).is_some(), "{text:?}");
        }
        for text in [
            "/app/[id]",
            "/[user-id]/x",
            "/[...slug]",
            "/[[...slug]]",
            "/a]b[",
            "/[]",
            "/{x}",
            "**/.env*",
        ] {
            assert!(literal_wildcard(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn each_fault_has_its_words() {
        for (text, expected) in [
            ("/", None),
            ("//", None),
            ("/a/../b", None),
            ("~", None),
            ("~/x", None),
            ("/c/$Recycle.Bin", None),
            ("/price/$5", None),
            ("", Some("an empty path")),
            ("/a\0", Some("which contains a NUL")),
            ("~root/.ssh", Some("another user's home")),
            ("$HOME/.ssh", Some("which contains a variable")),
            ("/home/$USER/.ssh", Some("which contains a variable")),
            ("/home/x${USER}", Some("which contains a variable")),
            ("file:///etc", Some("a URI")),
            ("FILE:/etc", Some("a URI")),
            ("box", Some("a relative path")),
            (".", Some("a relative path")),
            ("C:\\Users\\u", Some("a relative path")),
            ("日本語", Some("a relative path")),
        ] {
            assert_eq!(fault(text).map(|(what, _)| what), expected, "{text:?}");
        }
    }

    #[test]
    fn each_fault_of_a_pattern_has_its_words() {
        let relative = Some("a pattern that does not say where it begins");
        for (text, expected) in [
            ("**", None),
            ("**/.env", None),
            ("/srv/*/secret", None),
            ("/*", None),
            ("~/**/[a]?{b}", None),
            ("*.pem", relative),
            ("*/x", relative),
            ("**x/y", relative),
            ("***/y", relative),
            ("**~/y", relative),
            ("a/**", relative),
            ("~*/x", Some("another user's home")),
            ("/srv/../a/*/x", None),
            ("/srv/*/../x", Some("which has a `..` after a `*`")),
            ("**/../x", Some("which has a `..` after a `*`")),
            ("/$HOME/*", Some("which contains a variable")),
            ("**/a\0", Some("which contains a NUL")),
            ("file:///*", Some("a URI")),
        ] {
            assert_eq!(pattern_fault(text).map(|(what, _)| what), expected, "{text:?}");
        }
    }
}
