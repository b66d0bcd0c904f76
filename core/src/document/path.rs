//! How a path may be written in a document. The module `path` resolves it.

use crate::diagnostic::{Code, Severity};
use crate::limits::Limits;

use super::Node;

/// How a field treats a path that is relative to the current directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relative {
    /// An error: the path would mean a different place in each process.
    Refused,
    /// A warning.
    Warned,
}

impl<'v> Node<'v, '_> {
    /// The path as written: absolute, `~` or `~/…`, or relative with a warning if the field accepts that.
    ///
    /// An empty path, another user's home (`~name`), a variable (`$HOME`), a `file:` URI, a NUL and a path of more
    /// than `value_bytes` bytes are refused: none of them names the place that its author meant.
    pub(crate) fn path(&self, relative: Relative, limits: &Limits) -> Option<&'v str> {
        let text = self.bounded_string(limits)?;
        let expected = match relative {
            Relative::Refused => "an absolute path, `~` or `~/…`",
            Relative::Warned => "a path, absolute or `~/…`",
        };
        match (fault(text), relative) {
            (None, _) => Some(text),
            (Some(RELATIVE), Relative::Warned) => {
                self.doubt(
                    Code::InvalidPath,
                    &format!("which is taken relative to the current directory, expected {expected}"),
                );
                Some(text)
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

    /// An array of paths, none of them relative.
    pub(crate) fn paths(&self, limits: &Limits) -> Option<Vec<Box<str>>> {
        self.each("an array of paths", |item| {
            item.path(Relative::Refused, limits).map(Box::from)
        })
    }

    /// An array of paths and of patterns of paths, none of them relative.
    pub(crate) fn paths_or_patterns(&self, limits: &Limits) -> Option<Vec<Box<str>>> {
        self.each("an array of paths", |item| {
            item.path_or_pattern(limits).map(Box::from)
        })
    }

    fn path_or_pattern(&self, limits: &Limits) -> Option<&'v str> {
        let text = self.bounded_string(limits)?;
        if !text.contains('*') {
            return self.path(Relative::Refused, limits);
        }
        if let Some((what, help)) = pattern_fault(text) {
            self.fault(Severity::Error, Code::InvalidPath, || {
                let expected = "a pattern that begins with `/`, `~/` or `**/`";
                let message = format!("found {}, {what}, expected {expected}", self.found());
                (message, Some(help.to_owned()))
            });
            return None;
        }
        self.check_limit(text.len(), "bytes", "glob_bytes", limits.glob_bytes)
            .then_some(text)
    }
}

/// What is wrong with a pattern of paths. What lies above a `*` cannot be told, so no `..` follows one.
fn pattern_fault(text: &str) -> Option<Fault> {
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

/// What is wrong with a path, and what to do about it.
type Fault = (&'static str, &'static str);

const RELATIVE: Fault = ("a relative path", "begin it with `/` or `~/`");

fn fault(text: &str) -> Option<Fault> {
    let is_uri = |scheme: &str| scheme.eq_ignore_ascii_case("file:");
    if text.is_empty() {
        Some(("an empty path", "write `/` for everything"))
    } else if text.contains('\0') {
        Some(("which contains a NUL", "no file has a NUL in its path"))
    } else if text.split('/').any(is_variable) {
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
