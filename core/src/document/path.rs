//! How a path may be written in a document. What it resolves to is another matter, and another module's.

use crate::diagnostic::{Code, Severity};
use crate::limits::Limits;

use super::Node;

/// What a path that is relative to the current directory is worth in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relative {
    /// An error: such a path would protect or allow another place in every process.
    Refused,
    /// A warning.
    Warned,
}

impl<'v> Node<'v, '_> {
    /// The path as written: absolute, `~` or `~/…`, or relative with a warning where the field takes that.
    ///
    /// Refused are an empty path, another user's home (`~name`), a variable that nobody expands (`$HOME`), a
    /// `file:` URI, a NUL, and more than `value_bytes`: each would name another place than its author meant,
    /// or none at all.
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

/// Whether a component is `$NAME` as a whole, or holds `${`; a file may well be called `$Recycle.Bin`.
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
