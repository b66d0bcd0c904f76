//! How a path may be written in a document. Resolving it is the business of `path`.

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
        let refuse = |what: &str, help: &str| {
            self.fault(Severity::Error, Code::InvalidPath, || {
                let message = format!("found {}, {what}, expected {}", self.found(), expected(relative));
                (message, Some(help.to_owned()))
            });
            None
        };
        match spelling(text) {
            Spelling::Plain => Some(text),
            Spelling::Empty => refuse("an empty path", "write `/` for everything"),
            Spelling::Nul => refuse("which holds a NUL", "no file has a NUL in its path"),
            Spelling::OtherHome => refuse("another user's home", "write that directory in full"),
            Spelling::Variable => refuse(
                "which holds a variable",
                "variables are not expanded; write the path in full, or begin it with `~/`",
            ),
            Spelling::Uri => refuse("a URI", "write the path without `file://`"),
            Spelling::Relative => match relative {
                Relative::Refused => refuse("a relative path", "begin it with `/` or `~/`"),
                Relative::Warned => {
                    self.warning(Code::InvalidPath, || {
                        format!(
                            "found {}, which is taken relative to the current directory, expected {}",
                            self.found(),
                            expected(relative)
                        )
                    });
                    Some(text)
                }
            },
        }
    }
}

fn expected(relative: Relative) -> &'static str {
    match relative {
        Relative::Refused => "an absolute path, `~` or `~/…`",
        Relative::Warned => "a path, absolute or `~/…`",
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Spelling {
    /// Absolute, `~` or `~/…`.
    Plain,
    Relative,
    Empty,
    Nul,
    OtherHome,
    Variable,
    Uri,
}

fn spelling(text: &str) -> Spelling {
    if text.is_empty() {
        Spelling::Empty
    } else if text.contains('\0') {
        Spelling::Nul
    } else if text.split('/').any(is_variable) {
        Spelling::Variable
    } else if text.starts_with('/') || text == "~" || text.starts_with("~/") {
        Spelling::Plain
    } else if text.starts_with('~') {
        Spelling::OtherHome
    } else if text
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
    {
        Spelling::Uri
    } else {
        Spelling::Relative
    }
}

/// Returns `true` if a component is `$NAME` as a whole, or holds `${`; a file may well be called `$Recycle.Bin`.
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
    fn spellings_are_told_apart() {
        for (text, expected) in [
            ("/", Spelling::Plain),
            ("//", Spelling::Plain),
            ("/a/../b", Spelling::Plain),
            ("~", Spelling::Plain),
            ("~/x", Spelling::Plain),
            ("/c/$Recycle.Bin", Spelling::Plain),
            ("/price/$5", Spelling::Plain),
            ("", Spelling::Empty),
            ("/a\0", Spelling::Nul),
            ("~root/.ssh", Spelling::OtherHome),
            ("$HOME/.ssh", Spelling::Variable),
            ("/home/$USER/.ssh", Spelling::Variable),
            ("/home/x${USER}", Spelling::Variable),
            ("file:///etc", Spelling::Uri),
            ("FILE:/etc", Spelling::Uri),
            ("box", Spelling::Relative),
            (".", Spelling::Relative),
            ("C:\\Users\\u", Spelling::Relative),
            ("日本語", Spelling::Relative),
        ] {
            assert_eq!(spelling(text), expected, "{text:?}");
        }
    }
}
